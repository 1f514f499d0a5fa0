"""Which request is which operation, and who answers it."""

from collections.abc import Callable

from sandbox.provider import Influence, Route
from sandbox.salesforce.account_api import AccountApi
from sandbox.salesforce.collections_api import CollectionsApi
from sandbox.salesforce.describe_api import DescribeApi
from sandbox.salesforce.errors import SalesforceError, method_not_allowed, not_found
from sandbox.salesforce.object_api import ObjectApi
from sandbox.salesforce.query_api import QueryApi
from sandbox.salesforce.schema import Schema
from sandbox.salesforce.tables import HISTORY_OF
from sandbox.salesforce.token_api import TokenApi
from sandbox.wire import Answer, Call

OPERATIONS = (
    "leads.read",
    "leads.write",
    "leads.archive",
    "contacts.read",
    "contacts.write",
    "contacts.archive",
    "users.read",
    "describe.read",
    "account.read",
    "token.create",
)
PEOPLE = frozenset({"User", "Group", "QueueSobject"})
DEFINITIONS = frozenset({"EntityDefinition", "FieldDefinition"})
TOKEN, USERINFO = ("oauth2", "token"), ("oauth2", "userinfo")

Handler = Callable[[Call, Influence], Answer]
Ways = dict[str, tuple[str, Handler]]


class Routes:
    def __init__(
        self,
        *,
        schema: Schema,
        objects: ObjectApi,
        collections: CollectionsApi,
        queries: QueryApi,
        describes: DescribeApi,
        account: AccountApi,
        tokens: TokenApi,
        userinfo: Handler,
    ) -> None:
        self._schema = schema
        self._objects = objects
        self._collections = collections
        self._queries = queries
        self._describes = describes
        self._account = account
        self._tokens = tokens
        self._userinfo = userinfo

    def find(self, call: Call) -> Route:
        ways = self._ways(call)
        if not ways:
            return _route(None, _nowhere)
        if call.method not in ways:
            return _route(None, _not_allowed(tuple(ways)))
        operation, handler = ways[call.method]
        return _route(operation, handler, batch=call.segments[2:3] == ("composite",))

    def _ways(self, call: Call) -> Ways:
        """The methods that a path takes, each with its operation and who answers."""
        if call.segments == TOKEN:
            return {"POST": ("token.create", self._tokens.create)}
        if call.segments == USERINFO:
            return {"GET": ("account.read", self._userinfo), "POST": ("account.read", self._userinfo)}
        if call.segments[:1] != ("data",):
            return {}
        if len(call.segments) == 1:
            return {"GET": ("account.read", self._account.list)}
        if call.segments[1].removeprefix("v") not in self._account.versions:
            return {}
        return self._below_version(call, call.segments[2:])

    def _below_version(self, call: Call, path: tuple[str, ...]) -> Ways:
        if not path:
            return {"GET": ("account.read", self._account.resources)}
        if path == ("limits",):
            return {"GET": ("account.read", self._account.limits)}
        if path[0] in {"query", "queryAll"} and len(path) <= 2:
            whole = self._queries.query if path[0] == "query" else self._queries.query_all
            return {"GET": (self._read(self._queries.source(call)), whole if len(path) == 1 else self._queries.more)}
        if path == ("sobjects",):
            return {"GET": ("describe.read", self._describes.all)}
        if path[0] == "sobjects":
            return self._of_object(path)
        if path[:2] == ("composite", "sobjects") and len(path) == 4:
            return {"PATCH": (f"{self._noun(path[2])}.write", self._collections.upsert)}
        return {}

    def _of_object(self, path: tuple[str, ...]) -> Ways:
        objects, noun = self._objects, self._noun(path[1])
        read, write = self._read(path[1]), f"{noun}.write"
        if len(path) == 2:
            return {"GET": ("describe.read", self._describes.basic), "POST": (write, objects.create)}
        if len(path) == 3 and path[2] == "describe":
            return {"GET": ("describe.read", self._describes.describe)}
        if len(path) == 3:
            delete = (f"{noun}.archive", objects.delete)
            return {"GET": (read, objects.read), "PATCH": (write, objects.update), "DELETE": delete}
        if len(path) == 4:
            return {"GET": (read, objects.read_by_value), "PATCH": (write, objects.upsert)}
        return {}

    def _noun(self, name: str) -> str:
        kind = self._schema.find(name)
        return f"{kind.name.lower()}s" if kind else "objects"

    def _read(self, name: str) -> str:
        """The operation of reading from an object; a history is read with what it is of."""
        kind = self._schema.find(name)
        name = HISTORY_OF.get(kind.name, kind.name) if kind else ""
        if name in PEOPLE:
            return "users.read"
        if name in DEFINITIONS:
            return "describe.read"
        return "account.read" if name == "Organization" else f"{self._noun(name)}.read"


def _route(operation: str | None, handler: Handler, *, batch: bool = False) -> Route:
    def handle(call: Call, influence: Influence) -> Answer:
        try:
            return handler(call, influence)
        except SalesforceError as error:
            return error.answer()

    return Route(operation if operation in OPERATIONS else None, handle, batch)


def _nowhere(_: Call, __: Influence) -> Answer:
    raise not_found()


def _not_allowed(allowed: tuple[str, ...]) -> Handler:
    def refuse(call: Call, _: Influence) -> Answer:
        raise method_not_allowed(call.method, allowed)

    return refuse
