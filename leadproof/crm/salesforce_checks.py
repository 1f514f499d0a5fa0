"""What an org would refuse, found before a write from what it says of itself: a person is told what it does take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from leadproof.crm.salesforce_definitions import Choice, Definition, Definitions, Field
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass

_FRESH_SECONDS: Final = 5.0
_MOST_CHOICES: Final = 20
_TEXTS: Final = frozenset({"string", "textarea", "email", "phone", "url"})
_PICKLISTS: Final = frozenset({"picklist", "multipicklist"})
_OWNER: Final = "OwnerId"
_USER: Final = "005"


class _Address(NamedTuple):
    """The fields of one address where state and country picklists are on."""

    state: tuple[str, str]
    country: tuple[str, str]


_ADDRESSES: Final = tuple(
    _Address((f"{kind}State", f"{kind}StateCode"), (f"{kind}Country", f"{kind}CountryCode"))
    for kind in ("", "Mailing", "Other")
)


def refusal(
    definitions: Definitions, name: str, data: Mapping[str, Any], deadline: Deadline, *, creates: bool
) -> Answer | None:
    """What the org would say to a write, in its own code; `None` where nothing speaks against it.

    Where the org cannot be asked, the write is sent anyway: the org itself refuses then. An old definition refuses
    nothing, it is read again first.

    Args:
        name: Salesforce's name of the object.
        data: Salesforce's fields and what they are to be set to, without our own two.
        creates: the write may make the record.
    """
    try:
        found = _first(definitions.of(name, deadline), data, creates=creates)
        if found is not None:
            found = _first(definitions.of(name, deadline, age=_FRESH_SECONDS), data, creates=creates)
        return found or _owner(definitions, data, deadline)
    except ConfigurationRefused:
        return None


def _first(definition: Definition, data: Mapping[str, Any], *, creates: bool) -> Answer | None:
    return next(_faults(definition, data, creates=creates), None)


def _faults(definition: Definition, data: Mapping[str, Any], *, creates: bool) -> Iterator[Answer]:
    given = {name.casefold(): value for name, value in data.items()}
    if creates:
        missing = [
            one.name
            for one in definition.fields.values()
            if one.required and given.get(one.name.casefold()) in {None, ""}
        ]
        if missing:
            yield _refused("REQUIRED_FIELD_MISSING", f"{definition.name} needs {', '.join(missing)}")
        yield from _state_without_country(definition, given)
    for name, value in given.items():
        field = definition.field(name)
        if field is None:
            continue  # a field that the org does not have, or hides from us, it names itself
        if value is None:
            if not field.clearable and field.type != "boolean":
                yield _refused("REQUIRED_FIELD_MISSING", f"{field.name} cannot be emptied")
        elif field.type in _TEXTS and field.length and len(str(value)) > field.length:
            yield _refused(
                "STRING_TOO_LONG", f"{field.name} holds {field.length} characters at most, and not {len(str(value))}"
            )
        elif field.type in _PICKLISTS:
            yield from _picklist(field, str(value))


def _picklist(field: Field, value: str) -> Iterator[Answer]:
    """A value that is not restricted is stored as it is sent, so only a label in a value's place is a mistake."""
    active = [choice for choice in field.choices if choice.active]
    wanted = value.split(";") if field.type == "multipicklist" else [value]
    others = [one for one in wanted if one not in {choice.value for choice in active}]
    labels = {choice.label for choice in active}
    if others and (field.restricted or any(one in labels for one in others)):
        taken = f"{field.name} takes {_listed(active)}"
        yield _refused("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", taken)


def _state_without_country(definition: Definition, given: Mapping[str, Any]) -> Iterator[Answer]:
    for state, country in _ADDRESSES:
        if definition.field(state[1]) is None:
            continue
        named = next((name for name in state if given.get(name.casefold())), None)
        code = definition.field(country[1])
        if named is not None and code is not None and not any(given.get(name.casefold()) for name in country):
            active = [choice for choice in code.choices if choice.active]
            yield _refused("FIELD_INTEGRITY_EXCEPTION", f"{named} needs {code.name}, which takes {_listed(active)}")


def _owner(definitions: Definitions, data: Mapping[str, Any], deadline: Deadline) -> Answer | None:
    """A queue is there or is not, which the org says itself; a user who left is there still."""
    owner_id = next((str(value) for name, value in data.items() if name.casefold() == _OWNER.casefold()), "")
    if not owner_id.startswith(_USER) or definitions.user_is_active(owner_id, deadline) is not False:
        return None
    if definitions.user_is_active(owner_id, deadline, age=_FRESH_SECONDS) is not False:
        return None
    return _refused("INACTIVE_OWNER_OR_USER", f"{_OWNER}: the user {owner_id} is not active")


def _listed(choices: Iterable[Choice]) -> str:
    values = [choice.value for choice in choices]
    more = f" and {len(values) - _MOST_CHOICES} more" if len(values) > _MOST_CHOICES else ""
    return f"{', '.join(values[:_MOST_CHOICES])}{more}"


def _refused(code: str, why: str) -> Answer:
    return Answer(outcome=AnswerClass.REFUSES_THIS, code=code, detail=f"nothing was sent: {why}")
