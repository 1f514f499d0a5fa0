"""The org's data, as queries see it."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from sandbox.salesforce.people import People
from sandbox.salesforce.record import Record, State
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import HISTORIES, Schema
from sandbox.salesforce.soql import Children, Parent, Row, Value

HISTORY_OF = {history: kind for kind, history in HISTORIES.items()}
OWNERS = ("User", "Group")

Candidates = Callable[[str], Iterable[Record]]


class OrgTables:
    """Args:
    candidates: the records of an object that may be asked for.
    deleted: whether those in the recycle bin are there too.
    stale: whether each record is as it was before its last write.
    """

    def __init__(
        self,
        schema: Schema,
        records: Records,
        people: People,
        organization: Mapping[str, Value],
        candidates: Candidates,
        *,
        deleted: bool,
        stale: bool,
    ) -> None:
        self._schema = schema
        self._records = records
        self._people = people
        self._organization = organization
        self._candidates = candidates
        self._deleted = deleted
        self._stale = stale

    def named(self, object_name: str) -> str | None:
        found = self._schema.find(object_name)
        return found.name if found else None

    def fields(self, object_name: str) -> Mapping[str, str]:
        found = self._schema.find(object_name)
        return {field.name: field.word for field in found.fields.values()} if found else {}

    def rows(self, object_name: str) -> Iterable[Row]:
        name = self.named(object_name) or ""
        if name in HISTORIES:
            return (state.values for state in self._states(name))
        if name in HISTORY_OF:
            return (row for state in self._states(HISTORY_OF[name]) for row in state.history)
        listed: dict[str, Callable[[], Iterable[Row]]] = {
            "User": self._people.users.values,
            "Group": self._people.queues.values,
            "QueueSobject": self._people.queue_objects,
            "Organization": lambda: [self._organization],
            "EntityDefinition": self._entities,
            "FieldDefinition": self._field_definitions,
        }
        return listed[name]()

    def children(self, object_name: str, relationship: str) -> Children | None:
        name = self.named(object_name) or ""
        if name in HISTORIES and relationship.casefold() == "histories":
            return Children("Histories", HISTORIES[name], f"{name}Id")
        return None

    def parent(self, object_name: str, path: str) -> Parent | None:
        kind = self._schema.find(object_name)
        relationship, _, name = path.partition(".")
        if kind is None:
            return None
        reference = kind.field(f"{relationship}Id")
        if kind.name == "FieldDefinition" and relationship.casefold() == "entitydefinition":
            return self._entity_of(name)
        if reference is None or reference.type != "reference" or not set(reference.references) & set(OWNERS):
            return None
        field = next((found for owner in OWNERS if (found := self._schema[owner].field(name))), None)
        if field is None:
            return None

        def of(row: Row) -> tuple[str, Row] | None:
            key = str(row.get(reference.name) or "")
            if key in self._people.users:
                return "User", self._people.users[key]
            return ("Group", self._people.queues[key]) if key in self._people.queues else None

        return Parent(reference.name.removesuffix("Id"), field.name, field.word, of)

    def _states(self, kind: str) -> Iterator[State]:
        for record in self._candidates(kind):
            state = record.before if self._stale else record.now
            if state and (self._deleted or state.live):
                yield state

    def _entity_of(self, name: str) -> Parent | None:
        field = self._schema["EntityDefinition"].field(name)
        if field is None:
            return None
        entities = {str(row["DurableId"]): row for row in self._entities()}

        def of(row: Row) -> tuple[str, Row] | None:
            return "EntityDefinition", entities[str(row["EntityDefinitionId"])]

        return Parent("EntityDefinition", field.name, field.word, of)

    def _entities(self) -> list[Row]:
        return [
            {
                "DurableId": kind.name,
                "QualifiedApiName": kind.name,
                "Label": kind.label,
                "KeyPrefix": kind.prefix,
                "IsCustomizable": kind.writable,
            }
            for kind in self._schema
        ]

    def _field_definitions(self) -> list[Row]:
        return [
            {
                "DurableId": f"{kind.name}.{field.name.removesuffix('__c')}",
                "QualifiedApiName": field.name,
                "DeveloperName": field.name.removesuffix("__c"),
                "Label": field.label,
                "EntityDefinitionId": kind.name,
                "DataType": field.type,
                "Length": field.length,
                "IsFieldHistoryTracked": field.tracked,
            }
            for kind in self._schema
            for field in kind.fields.values()
        ]
