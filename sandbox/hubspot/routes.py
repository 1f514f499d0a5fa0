"""Which request is which operation, and who answers it."""

from collections.abc import Callable

from sandbox.hubspot.account import Account
from sandbox.hubspot.batch_api import BatchApi
from sandbox.hubspot.errors import HubSpotError
from sandbox.hubspot.object_api import ObjectApi
from sandbox.hubspot.owners import Owners
from sandbox.hubspot.properties_api import PropertiesApi
from sandbox.hubspot.search import Search
from sandbox.provider import Influence, Route
from sandbox.wire import Answer, Call

OPERATIONS = (
    "contacts.read",
    "contacts.write",
    "contacts.search",
    "contacts.archive",
    "contacts.merge",
    "properties.read",
    "properties.write",
    "owners.read",
    "account.read",
    "token.read",
)
CONTACTS = frozenset({"contacts", "contact", "0-1"})
ONE = "{}"

Handler = Callable[[Call, Influence], Answer]


class Routes:
    def __init__(
        self,
        *,
        objects: ObjectApi,
        batches: BatchApi,
        search: Search,
        properties: PropertiesApi,
        owners: Owners,
        account: Account,
    ) -> None:
        contacts, definitions, owner = ("objects", "contacts"), ("properties", "contacts"), ("owners",)
        self._routes = {
            ("GET", *contacts): _route("contacts.read", objects.page),
            ("POST", *contacts): _route("contacts.write", objects.create),
            ("GET", *contacts, ONE): _route("contacts.read", objects.read),
            ("PATCH", *contacts, ONE): _route("contacts.write", objects.update),
            ("DELETE", *contacts, ONE): _route("contacts.archive", objects.archive),
            ("POST", *contacts, "batch", "read"): _route("contacts.read", batches.read, batch=True),
            ("POST", *contacts, "batch", "create"): _route("contacts.write", batches.create, batch=True),
            ("POST", *contacts, "batch", "update"): _route("contacts.write", batches.update, batch=True),
            ("POST", *contacts, "batch", "upsert"): _route("contacts.write", batches.upsert, batch=True),
            ("POST", *contacts, "batch", "archive"): _route("contacts.archive", batches.archive, batch=True),
            ("POST", *contacts, "search"): _route("contacts.search", search.search),
            ("POST", *contacts, "merge"): _route("contacts.merge", objects.merge),
            ("GET", *definitions): _route("properties.read", properties.list),
            ("POST", *definitions): _route("properties.write", properties.create),
            ("GET", *definitions, ONE): _route("properties.read", properties.read),
            ("PATCH", *definitions, ONE): _route("properties.write", properties.update),
            ("DELETE", *definitions, ONE): _route("properties.write", properties.archive),
            ("GET", *owner): _route("owners.read", owners.list),
            ("GET", *owner, ONE): _route("owners.read", owners.read),
            ("GET", "details"): _route("account.read", account.details),
            ("POST", "private-apps", "get", "access-token-info"): _route("token.read", account.token),
        }

    def find(self, call: Call) -> Route:
        path = _without_version(call.segments)
        route = self._routes.get((call.method, *path))
        if route is None and len(path) > 1:
            route = self._routes.get((call.method, *path[:-1], ONE))
        return route or _NOWHERE


def _without_version(segments: tuple[str, ...]) -> tuple[str, ...]:
    """`crm/v3/objects/0-1/5` and `crm/objects/2026-09/contacts/5` both become `objects/contacts/5`."""
    area, rest = segments[0], segments[1:]
    if area in {"account-info", "oauth"}:
        return rest[1:]
    if area != "crm" or len(rest) < 2:
        return ()
    path = rest[1:] if rest[0].startswith("v") else (rest[0], *rest[2:])
    return (path[0], "contacts", *path[2:]) if path[1:2] and path[1] in CONTACTS else path


def _route(operation: str, handler: Handler, *, batch: bool = False) -> Route:
    def handle(call: Call, influence: Influence) -> Answer:
        try:
            return handler(call, influence)
        except HubSpotError as error:
            return error.answer()

    return Route(operation, handle, batch)


def _nowhere(call: Call, _: Influence) -> Answer:
    return HubSpotError(404, f"Unable to find {call.method} {call.target}", "OBJECT_NOT_FOUND").answer()


_NOWHERE = Route(None, _nowhere)
