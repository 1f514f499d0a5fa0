"""The calls of the control plane that say how the org is set up."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.control_calls import asked_of, explained
from sandbox.salesforce.org import Org
from sandbox.salesforce.settings import Settings

PATH = "/salesforce"


def org_routes(org: Org) -> list[Route]:
    async def show(_: Request) -> Response:
        return JSONResponse(org.settings.shown())

    async def change(request: Request) -> Response:
        asked = await asked_of(request, "expire_sessions", "fields", *Settings.__slots__)
        expire, fields = asked.pop("expire_sessions", False), asked.pop("fields", {})
        org.settings.change(asked)
        for object_name, changed in fields.items():
            kind = org.schema.find(object_name)
            if kind is None:
                raise ValueError(f"no object {object_name!r}")
            for name, definition in changed.items():
                kind.with_field(name, definition)
        if expire:
            org.expire_sessions()
        return await show(request)

    return [Route(PATH, explained(change), methods=["POST"]), Route(PATH, show, methods=["GET"])]
