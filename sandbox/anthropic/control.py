"""The calls of the control plane that say what the stand-in is to do."""

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.anthropic.scripts import Script, Scripts
from sandbox.control_calls import asked_of, explained

PATH = "/anthropic"


def script_routes(scripts: Scripts) -> list[Route]:
    async def add(request: Request) -> Response:
        asked = await asked_of(request, "script", "times", "args")
        script = Script(**{"script": None, **asked})
        scripts.add(script)
        return JSONResponse(asdict(script), status_code=201)

    async def show(_: Request) -> Response:
        return JSONResponse(scripts.waiting())

    async def clear(_: Request) -> Response:
        scripts.clear()
        return Response(status_code=204)

    return [
        Route(PATH, explained(add), methods=["POST"]),
        Route(PATH, show, methods=["GET"]),
        Route(PATH, clear, methods=["DELETE"]),
    ]
