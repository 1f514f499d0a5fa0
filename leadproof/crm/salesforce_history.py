"""Who changed a field, by Salesforce's field history."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from leadproof.crm.salesforce_client import SalesforceClient
from leadproof.crm.salesforce_definitions import LONGEST_IN_HISTORY, Definitions
from leadproof.deadline import Deadline
from leadproof.domain.attribution import US
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.records import Change
from leadproof.domain.salesforce_ids import salesforce_id

ASSIGNMENT_RULE: Final = "automation:assignment_rule"

_OWNER: Final = "ownerid"
_BY_RULE: Final = "ownerassignment"
_OWNER_ENTRIES: Final = frozenset({"owner", "ownerid", "owneraccepted", _BY_RULE})
_KINDS: Final = {
    "automatedprocess": "automation",
    "guest": "automation",  # a site's form, without anybody signed in
    "cloudintegrationuser": "integration",
    "standard": "person",
    "powerpartner": "person",
    "powercustomersuccess": "person",
    "customersuccess": "person",
    "cspliteportal": "person",
    "csnonly": "person",
    "selfservice": "person",
}
"""What a user's type, without case, says of who acts as that user. An integration that has a person's licence counts
as that person: Salesforce tells no difference."""


class Attribution:
    """Tells our own changes from everybody else's.

    A change is ours where our integration user made it. What a flow or a trigger does in our own write is made by that
    user too; that it is not what we intended is seen when the values are compared.
    """

    def __init__(self, client: SalesforceClient, definitions: Definitions) -> None:
        self._client = client
        self._definitions = definitions

    def names(self, user_ids: Iterable[object], deadline: Deadline) -> dict[str, str | None]:
        """Who each user is; `None` for one of whom Salesforce does not tell."""
        ids = {salesforce_id(one) for one in user_ids if one}
        others = frozenset(ids - {self._client.user_id})
        try:
            types = self._definitions.user_types(others, deadline) if others else {}
        except ConfigurationRefused:
            types = {}
        return {one: self._name(one, types.get(one)) for one in ids}

    def is_ours(self, user_id: object) -> bool:
        """Whether a user is our own; nothing is asked for it."""
        return salesforce_id(user_id) == self._client.user_id

    def _name(self, user_id: str, user_type: str | None) -> str | None:
        if user_id == self._client.user_id:
            return US
        kind = _KINDS.get((user_type or "").casefold())
        return f"{kind}:{user_id}" if kind is not None else None


def changes(
    entries: Iterable[Mapping[str, Any]],
    fields: Mapping[str, str],
    *,
    since: datetime,
    names: Mapping[str, str | None],
    form: Callable[[str, Any], Any],
    short: Container[str] = frozenset(),
    ours: bool = False,
) -> dict[str, tuple[Change, ...]]:
    """The history of each field, newest first; a field without an entry that tells values is not there.

    Salesforce logs changes only, so what a field was made with is known from the entry that replaced it. It tells whole
    seconds; what happened within one is told apart by the order of the entries, a microsecond each.

    Args:
        entries: of `LeadHistory` or `ContactHistory`, newest first.
        fields: Salesforce's field, without case, to our name.
        since: when the record was made.
        names: who the users of the entries are.
        form: gives a value of a field its normal form.
        short: Salesforce's fields, without case, whose longest value history keeps whole.
        ours: we made the record, and so what its fields were made with; of anybody else nothing is said, since a field
            that is tracked only now may have been saved since.
    """
    made_by = US if ours else None
    found: dict[str, list[_Entry]] = {}
    for entry in _in_order(entries):
        name = fields.get(entry.field)
        if name is not None and _tells(entry, short=entry.field in short):
            found.setdefault(name, []).insert(0, entry)
    made = {name: Change(value=form(name, of_field[-1].old), at=since, by=made_by) for name, of_field in found.items()}
    return {name: (*_changes(of_field, names, partial(form, name)), made[name]) for name, of_field in found.items()}


def moment(text: object) -> datetime:
    """A time as Salesforce writes it.

    Raises:
        ValueError, TypeError: it is none.
    """
    at = datetime.fromisoformat(text)  # type: ignore[arg-type]
    if at.tzinfo is None:
        raise ValueError("a time without a zone")
    return at


@dataclass(frozen=True, slots=True)
class _Entry:
    field: str
    old: Any
    new: Any
    at: datetime
    user_id: str
    by_rule: bool


def _in_order(entries: Iterable[Mapping[str, Any]]) -> Iterator[_Entry]:
    """Oldest first, each a little later than the one before."""
    second, place = None, 0
    for entry in reversed(list(entries)):
        at = moment(entry["CreatedDate"])
        second, place = at, place + 1 if at == second else 1
        field = str(entry["Field"]).casefold()
        yield _Entry(
            field=_OWNER if field in _OWNER_ENTRIES else field,
            old=entry["OldValue"],
            new=entry["NewValue"],
            at=at + place * timedelta(microseconds=1),
            user_id=salesforce_id(entry["CreatedById"]),
            by_rule=field == _BY_RULE,
        )


def _changes(entries: list[_Entry], names: Mapping[str, str | None], form: Callable[[Any], Any]) -> Iterator[Change]:
    for entry in entries:
        by = ASSIGNMENT_RULE if entry.by_rule else names.get(entry.user_id)
        yield Change(value=form(entry.new), at=entry.at, by=by)


def _tells(entry: _Entry, *, short: bool) -> bool:
    """Whether an entry tells both values whole.

    A long text's does not, one that was cut cannot be compared, and of a change of owner there is one entry with the
    ids and one with the names.
    """
    values = [value for value in (entry.old, entry.new) if value is not None]
    if entry.field == _OWNER and not all(str(value).startswith(("005", "00G")) for value in values):
        return False
    return bool(values) and (short or all(len(str(value)) < LONGEST_IN_HISTORY for value in values))
