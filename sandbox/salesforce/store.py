"""Records by id and by unique value, with transactions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.salesforce.record import Record, State
from sandbox.salesforce.schema import Schema


@dataclass(slots=True)
class Transaction:
    """What happened in one request: undone as a whole, or made known as a whole."""

    saved: list[Record] = field(default_factory=list)
    created: list[Record] = field(default_factory=list)


class Store:
    """Holds records and who has which unique value.

    Args:
        schema: which fields are unique.
        committed: told each transaction that ends well.
    """

    def __init__(self, schema: Schema, committed: Callable[[Transaction], None]) -> None:
        self._schema = schema
        self._committed = committed
        self._by_kind: dict[str, dict[str, Record]] = {}
        self._holders: dict[tuple[str, str, str], str] = {}
        self._had: dict[tuple[str, str, str], dict[str, None]] = {}
        self._open: Transaction | None = None

    def all(self, kind: str) -> Iterator[Record]:
        return iter(self._by_kind.get(kind, {}).values())

    def get(self, kind: str, record: str) -> Record | None:
        return self._by_kind.get(kind, {}).get(record)

    def ever_had(self, kind: str, name: str, value: str) -> list[Record]:
        """The records, deleted ones too, that have or had a value in a field that finds records, in any case."""
        records = self._by_kind.get(kind, {})
        return [records[each] for each in self._had.get((kind, name, value.casefold()), ()) if each in records]

    def clash(self, record: str, kind: str, state: State) -> tuple[str, str] | None:
        """The first unique value of `state` that another record holds: field, holder."""
        for key in self._keys(kind, state):
            holder = self._holders.get(key)
            if holder not in {None, record}:
                return key[1], str(holder)
        return None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Writes inside stand or fall together."""
        if self._open:
            yield self._open
            return
        self._open = transaction = Transaction()
        try:
            yield transaction
        except BaseException:
            self._roll_back(transaction)
            raise
        finally:
            self._open = None
        self._committed(transaction)

    def add(self, record: Record) -> None:
        transaction = self._transaction()
        transaction.saved.append(record)
        transaction.created.append(record)
        self._by_kind.setdefault(record.kind, {})[record.id] = record
        self._hold(record)

    def become(self, record: Record, state: State) -> None:
        self._transaction().saved.append(record)
        self._release(record)
        record.become(state)
        self._hold(record)

    def _transaction(self) -> Transaction:
        if self._open is None:
            raise RuntimeError("a write outside a transaction")
        return self._open

    def _roll_back(self, transaction: Transaction) -> None:
        for record in reversed(transaction.saved):
            self._release(record)
            if len(record.states) > 1:
                record.states.pop()
                self._hold(record)
            else:
                del self._by_kind[record.kind][record.id]

    def _keys(self, kind: str, state: State) -> list[tuple[str, str, str]]:
        return [
            (kind, field_.name, field_.matches(str(value)))
            for field_ in self._schema[kind].fields.values()
            if field_.unique and (value := state.values.get(field_.name)) is not None
        ]

    def _hold(self, record: Record) -> None:
        for field_ in self._schema[record.kind].fields.values():
            value = record.now.values.get(field_.name) if field_.finds_records else None
            if value is not None:
                self._had.setdefault((record.kind, field_.name, str(value).casefold()), {})[record.id] = None
        if record.now.live:
            for key in self._keys(record.kind, record.now):
                self._holders[key] = record.id

    def _release(self, record: Record) -> None:
        for key in self._keys(record.kind, record.now):
            if self._holders.get(key) == record.id:
                del self._holders[key]
