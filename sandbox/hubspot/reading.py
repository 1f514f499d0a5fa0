"""How contacts are looked up and shown for reads, fresh or stale."""

from typing import Any

from sandbox.hubspot.contact import Contact, State
from sandbox.hubspot.contacts import OBJECT_ID, Contacts
from sandbox.hubspot.definitions import Definitions
from sandbox.hubspot.errors import no_unique_property
from sandbox.hubspot.shapes import BY_DEFAULT, shown

Found = tuple[Contact, State]


class Reader:
    """Reads contacts as they are, or as they were before their last write."""

    def __init__(self, contacts: Contacts, definitions: Definitions) -> None:
        self._contacts = contacts
        self._definitions = definitions

    def by_key(self, key: str, id_property: str | None, *, archived: bool, stale: bool, merged: bool) -> Found | None:
        """One contact with the state to show.

        Args:
            key: an id or a unique value.
            id_property: the property that `key` is a value of; the record id by default.
            archived: look among the archived ones.
            stale: as before the last write of each contact.
            merged: let the id of a merged contact lead to the winner.
        """
        if id_property in {None, "", OBJECT_ID}:
            return self._by_id(key, archived=archived, stale=stale, merged=merged)
        name = str(id_property)
        if name != "email" and not self._definitions.is_unique(name):
            raise no_unique_property(name)
        return self._by_value(name, key, archived=archived, stale=stale)

    def names(self, requested: list[str]) -> list[str]:
        """The properties to show: what exists of those requested, or the default ones."""
        return [name for name in requested if self._definitions.get(name)] or list(BY_DEFAULT)

    def history_names(self, requested: list[str]) -> list[str]:
        return [name for name in requested if self._definitions.get(name)]

    def show(self, found: Found, properties: list[str], history: list[str]) -> dict[str, Any]:
        names = self.names([*properties, *history] if properties or history else [])
        return shown(*found, names, self.history_names(history))

    def _by_id(self, key: str, *, archived: bool, stale: bool, merged: bool) -> Found | None:
        contact = self._contacts.get(key)
        state = _state(contact, stale=stale)
        if contact and state and state.merged_into:
            contact = self._contacts.surviving(key) if merged else None
            state = _state(contact, stale=stale)
        if contact is None or state is None or (state.archived_at is not None) is not archived:
            return None
        return contact, state

    def _by_value(self, name: str, value: str, *, archived: bool, stale: bool) -> Found | None:
        if not archived and not stale:
            contact = self._contacts.by_value(name, value)
            return (contact, contact.now) if contact else None
        pair = (name, value.strip().lower() if name == "email" else value)
        for contact in self._contacts:
            state = _state(contact, stale=stale)
            if state is None or state.merged_into or (state.archived_at is not None) is not archived:
                continue
            if pair in self._contacts.unique_values(state):
                return contact, state
        return None


def _state(contact: Contact | None, *, stale: bool) -> State | None:
    if contact is None:
        return None
    return contact.before if stale else contact.now
