"""Contacts by id and by unique value, with transactions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.hubspot.changes import Change
from sandbox.hubspot.contact import Contact, State

FIRST_ID = 101
"""The first contact's id, where nobody names another."""

UniqueValues = Callable[[State], list[tuple[str, str]]]


@dataclass(slots=True)
class Transaction:
    """What happened in one request: undone as a whole, or made known as a whole."""

    changes: list[Change] = field(default_factory=list)
    undo: list[tuple[Contact, bool]] = field(default_factory=list)


class Store:
    """Holds contacts and who has which unique value.

    Args:
        unique_values: the pairs of property and value that no other live contact may have.
        committed: told the changes of each transaction that ends well.
        first_id: the id of the first contact; each further one is 1 above.
    """

    def __init__(
        self, unique_values: UniqueValues, committed: Callable[[list[Change]], None], first_id: int = FIRST_ID
    ) -> None:
        self._unique_values = unique_values
        self._committed = committed
        self._contacts: dict[str, Contact] = {}
        self._holders: dict[tuple[str, str], str] = {}
        self._next_id = first_id
        self._open: Transaction | None = None

    def __iter__(self) -> Iterator[Contact]:
        return iter(self._contacts.values())

    def allocate(self) -> str:
        self._next_id += 1
        return str(self._next_id - 1)

    def get(self, record: str) -> Contact | None:
        return self._contacts.get(record)

    def holder(self, name: str, value: str) -> str | None:
        return self._holders.get((name, value))

    def clash(self, record: str, state: State) -> tuple[str, str, str] | None:
        """The first unique value of `state` that another contact holds: property, value, holder."""
        for name, value in self._unique_values(state):
            holder = self._holders.get((name, value))
            if holder not in {None, record}:
                return name, value, str(holder)
        return None

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """Writes inside stand or fall together; gives the list that takes their changes."""
        if self._open:
            yield self._open.changes
            return
        self._open = transaction = Transaction()
        try:
            yield transaction.changes
        except BaseException:
            self._roll_back(transaction)
            raise
        finally:
            self._open = None
        self._committed(transaction.changes)

    def add(self, contact: Contact) -> None:
        self._remember(contact, created=True)
        self._contacts[contact.id] = contact
        self._hold(contact)

    def become(self, contact: Contact, state: State) -> None:
        self._remember(contact, created=False)
        self._release(contact)
        contact.become(state)
        self._hold(contact)

    def _remember(self, contact: Contact, *, created: bool) -> None:
        if self._open is None:
            raise RuntimeError("a write outside a transaction")
        self._open.undo.append((contact, created))

    def _roll_back(self, transaction: Transaction) -> None:
        for contact, created in reversed(transaction.undo):
            self._release(contact)
            if created:
                del self._contacts[contact.id]
            else:
                contact.states.pop()
                self._hold(contact)

    def _hold(self, contact: Contact) -> None:
        if contact.now.live:
            for pair in self._unique_values(contact.now):
                self._holders[pair] = contact.id

    def _release(self, contact: Contact) -> None:
        for pair in self._unique_values(contact.now):
            if self._holders.get(pair) == contact.id:
                del self._holders[pair]
