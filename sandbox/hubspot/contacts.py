"""What can be done to contacts, by an application, a person or automation."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from sandbox.clock import Clock, rfc3339
from sandbox.hubspot import changes
from sandbox.hubspot.changes import Change
from sandbox.hubspot.contact import ADDITIONAL_EMAILS, MERGED_IDS, Contact, State
from sandbox.hubspot.definitions import Definitions
from sandbox.hubspot.errors import (
    InvalidValue,
    contact_exists,
    invalid_values,
    no_unique_property,
    not_found,
    value_taken,
)
from sandbox.hubspot.source import Source, automation
from sandbox.hubspot.store import Store
from sandbox.hubspot.values import normalise
from sandbox.provider import Influence

STAGE = "lifecyclestage"
SYSTEM = frozenset({"hs_object_id", "createdate", "lastmodifieddate", MERGED_IDS})
OBJECT_ID = "hs_object_id"


class Contacts:
    """The contacts of a portal, with HubSpot's rules for values, uniqueness and history."""

    def __init__(
        self,
        portal_id: int,
        clock: Clock,
        definitions: Definitions,
        owners: Callable[[], Collection[str]],
        committed: Callable[[list[Change]], None],
        *,
        first_id: int,
    ) -> None:
        self._portal_id = portal_id
        self._clock = clock
        self._definitions = definitions
        self._owners = owners
        self._store = Store(self._unique_values, committed, first_id)
        self.unanswered: set[str] = set()

    def __iter__(self) -> Iterator[Contact]:
        return iter(self._store)

    def transaction(self) -> AbstractContextManager[list[Change]]:
        return self._store.transaction()

    def get(self, record: str) -> Contact | None:
        return self._store.get(record)

    def surviving(self, record: str) -> Contact | None:
        """The contact of this id, or the one that it was merged into."""
        contact = self._store.get(record)
        while contact is not None and contact.now.merged_into:
            contact = self._store.get(contact.now.merged_into)
        return contact

    def by_value(self, name: str, value: str) -> Contact | None:
        """The live contact that holds a unique value."""
        if name == "email":
            value = value.strip().lower()
        elif not self._definitions.is_unique(name):
            raise no_unique_property(name)
        holder = self._store.holder(name, value)
        return self._store.get(holder) if holder else None

    def find(self, key: str, id_property: str | None) -> Contact | None:
        """A live contact by id, by the id of one merged into it, or by a unique value."""
        if id_property in {None, "", OBJECT_ID}:
            contact = self.surviving(key)
            return contact if contact and contact.now.live else None
        return self.by_value(str(id_property), key)

    def unique_values(self, state: State) -> list[tuple[str, str]]:
        return self._unique_values(state)

    def create(self, fields: Mapping[str, Any], source: Source, influence: Influence | None = None) -> Contact:
        accepted = self._accepted(fields, {}, source)
        at = self._clock.write_time()
        record = self._store.allocate()
        state = State(at)
        for name, value in {
            "createdate": rfc3339(at),
            "lastmodifieddate": rfc3339(at),
            OBJECT_ID: record,
            "hs_object_source": source.type,
            "hs_object_source_id": source.id,
            "hs_object_source_label": source.type,
        }.items():
            state.put(name, value, source)
        changed = self._put(state, accepted, source, record, influence)
        contact = Contact(record, at, [state])
        self._refuse_clash(record, state, creating=True)
        with self._store.transaction() as happened:
            self._store.add(contact)
            happened.append(Change(changes.CREATION, record, at, source))
            happened.extend(changed)
        return contact

    def update(
        self, contact: Contact, fields: Mapping[str, Any], source: Source, influence: Influence | None = None
    ) -> Contact:
        accepted = self._accepted(fields, contact.now.values, source)
        state = contact.now.next(self._clock.write_time())
        changed = self._put(state, accepted, source, contact.id, influence)
        if changed:
            self._refuse_clash(contact.id, state, creating=False)
            with self._store.transaction() as happened:
                self._store.become(contact, state)
                happened.extend(changed)
        return contact

    def archive(self, contact: Contact, source: Source) -> None:
        state = contact.now.next(self._clock.write_time())
        state.archived_at = state.at
        with self._store.transaction() as happened:
            self._store.become(contact, state)
            happened.append(Change(changes.DELETION, contact.id, state.at, source))

    def restore(self, contact: Contact, source: Source) -> None:
        state = contact.now.next(self._clock.write_time())
        state.archived_at = None
        self._refuse_clash(contact.id, state, creating=False)
        with self._store.transaction() as happened:
            self._store.become(contact, state)
            happened.append(Change(changes.RESTORE, contact.id, state.at, source))

    def merge(self, winner: Contact, loser: Contact, source: Source) -> Contact:
        """Fold `loser` into `winner`: what the winner lacks it takes over, and the loser's addresses become its own."""
        at = self._clock.write_time()
        gone, kept = loser.now.next(at), winner.now.next(at)
        gone.merged_into = winner.id
        with self._store.transaction() as happened:
            self._store.become(loser, gone)
            moved = []
            for name, value in gone.values.items():
                if name in SYSTEM or name.startswith("hs_object_source") or name == ADDITIONAL_EMAILS:
                    continue
                if value and not kept.values.get(name) and kept.put(name, value, source):
                    moved.append(_change(winner.id, name, value, at, source))
            mails = [mail for mail in [*kept.additional_emails(), *gone.emails()] if mail != kept.values.get("email")]
            kept.put(ADDITIONAL_EMAILS, ";".join(dict.fromkeys(mails)), source)
            kept.put(MERGED_IDS, ";".join([*kept.merged_ids(), *gone.merged_ids(), loser.id]), source)
            self._store.become(winner, kept)
            details = {
                "primaryObjectId": int(winner.id),
                "mergedObjectIds": [int(loser.id)],
                "newObjectId": int(winner.id),
                "numberOfPropertiesMoved": len(moved),
            }
            happened.append(Change(changes.MERGE, winner.id, at, source, details))
            happened.extend(moved)
        return winner

    def living(self, key: str, id_property: str | None = None) -> Contact:
        contact = self.find(key, id_property)
        if contact is None:
            raise not_found(key)
        return contact

    def _unique_values(self, state: State) -> list[tuple[str, str]]:
        pairs = [("email", mail) for mail in state.emails()]
        for name in self._definitions.unique():
            value = state.values.get(name)
            if value:
                pairs.append((name, value))
        return pairs

    def _accepted(self, fields: Mapping[str, Any], current: Mapping[str, str], source: Source) -> dict[str, str]:
        accepted, problems = {}, []
        owners = self._owners()
        for name, raw in fields.items():
            try:
                accepted[name] = self._value(name, raw, current.get(name, ""), source, owners)
            except InvalidValue as problem:
                problems.append(problem)
        if problems:
            raise invalid_values(problems, self._portal_id)
        return accepted

    def _value(self, name: str, raw: Any, current: str, source: Source, owners: Collection[str]) -> str:
        definition = self._definitions.get(name)
        if definition is None:
            raise InvalidValue(name, "PROPERTY_DOESNT_EXIST", f'Property "{name}" does not exist')
        read_only = definition["calculated"] or definition["modificationMetadata"]["readOnlyValue"]
        if name in SYSTEM or (read_only and source.user_id is None):
            raise InvalidValue(name, "READ_ONLY_VALUE", f'"{name}" is a read only property; its value cannot be set.')
        return normalise(definition, raw, current, owners)

    def _put(
        self, state: State, accepted: Mapping[str, str], source: Source, record: str, influence: Influence | None
    ) -> list[Change]:
        changed = []
        for name, value in accepted.items():
            if name == STAGE and source.user_id is None and self._is_backward(state.values.get(STAGE, ""), value):
                continue
            if state.put(name, value, source):
                changed.append(_change(record, name, value, state.at, source))
        rewrite = influence.rewrite if influence else None
        if rewrite and rewrite.meets({record, *state.values.values()}):
            robot = automation()
            for name, value in self._accepted(rewrite.args["fields"], state.values, robot).items():
                if state.put(name, value, robot):
                    changed.append(_change(record, name, value, state.at, robot))
        return changed

    def _is_backward(self, current: str, wanted: str) -> bool:
        definition = self._definitions.get(STAGE)
        stages = [option["value"] for option in definition["options"]] if definition else []
        return current in stages and wanted in stages and stages.index(wanted) < stages.index(current)

    def _refuse_clash(self, record: str, state: State, *, creating: bool) -> None:
        clash = self._store.clash(record, state)
        if clash is None:
            return
        name, value, holder = clash
        other = self._store.get(holder)
        primary = name == "email" and other is not None and other.now.values.get("email") == value
        if creating and primary and holder not in self.unanswered:
            raise contact_exists(holder)
        raise value_taken(self._portal_id, name, value, record, holder)


def _change(record: str, name: str, value: str, at: int, source: Source) -> Change:
    return Change(changes.PROPERTY_CHANGE, record, at, source, {"propertyName": name, "propertyValue": value})


def chosen(contacts: Iterable[Contact], archived: bool) -> list[Contact]:
    """The archived contacts, or the live ones."""
    return [
        contact
        for contact in contacts
        if contact.now.merged_into is None and (contact.now.archived_at is not None) is archived
    ]
