"""Which value a field may be given: well-formed, in normal form, and among what the policy knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from leadproof.domain.errors import LeadproofError, MalformedValue
from leadproof.domain.field_catalog import CATALOG, CONSENT, LIFECYCLE_STAGE, PROTECTED, specs_for
from leadproof.domain.fields import FieldSpec, FieldType, Normal, normal
from leadproof.domain.policy import Policy

LONGEST_TEXT: Final = 65_536  # HubSpot's limit for one text property
_MOST_LISTED: Final = 20

_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_NUMBER_TO_CALL: Final = re.compile(r"\+?\d{4,20}(;ext=\d{1,20})?")


class ValueRefused(LeadproofError):
    """A value that this field must not be given. The text names the field and never the value.

    Attributes:
        of_value: the same as a predicate of the value, for who shows it; `None` where it is about the field.
    """

    def __init__(self, text: str, *, of_value: str | None = None) -> None:
        super().__init__(text)
        self.of_value = of_value


def usable_value(policy: Policy, target: str, field: str, value: object) -> Normal:
    """The normal form in which `field` may be written.

    An owner's name becomes the id that the policy gives it.

    Raises:
        ValueRefused: the field is unknown or ours alone, the value is malformed for its type, an owner, stage or value
            that the policy does not list, an owner or a stage that would be emptied, or consent that would be loosened.
    """
    spec = specs_for(policy, target).get(field)
    if field in PROTECTED or spec is None:
        raise ValueRefused(f"{field!r} is no field that can be set")
    form = well_formed(field, spec, value)
    if field in CONSENT and form is not True:
        raise ValueRefused(f"{field!r} may be tightened (true) and never loosened")
    if spec.type is FieldType.OWNER:
        return _owner(policy, target, field, form)
    if field == LIFECYCLE_STAGE:
        if form is None:
            raise ValueRefused(f"{field!r} is never emptied by itself")
        _listed(field, form, policy.stages.get(target, ()), f"the [stages] of {target}")
    values = policy.values.get(target, {}).get(field)
    if values is not None and form is not None:
        for one in form if isinstance(form, list) else [form]:
            _listed(field, one, values, f"[values.{target}]")
    return form


def readable_values(sent: Mapping[str, Any]) -> dict[str, Normal]:
    """What a lead says of itself, in normal forms; a value that cannot be read is evidence and no fact to plan on."""
    read: dict[str, Normal] = {}
    for name, value in sent.items():
        if name in CATALOG:
            with suppress(MalformedValue):
                read[name] = normal(CATALOG[name], value)
    return read


def well_formed(field: str, spec: FieldSpec, value: object) -> Normal:
    """The normal form of a value that is well-formed for its field's type, whatever the policy lists.

    Raises:
        ValueRefused: it is none, or longer than any target keeps.
    """
    try:
        form = normal(spec, value)
    except MalformedValue as error:
        raise ValueRefused(f"{field!r}: {error}", of_value=str(error).removeprefix("a value ")) from None
    if isinstance(form, str):
        if len(form) > LONGEST_TEXT:
            raise _of(field, f"is longer than {LONGEST_TEXT} characters")
        if spec.type is FieldType.EMAIL and not _ADDRESS.fullmatch(form):
            raise _of(field, "is no e-mail address")
        if spec.type is FieldType.PHONE and not _NUMBER_TO_CALL.fullmatch(form):
            raise _of(field, "is no telephone number")
    return form


def _owner(policy: Policy, target: str, field: str, form: Normal) -> str:
    owners = policy.owners.get(target, {})
    if isinstance(form, str):
        if form in owners:
            return owners[form]
        if form in owners.values():
            return form
    raise _none_of(field, f"[owners.{target}]", owners)


def _listed(field: str, value: object, listed: tuple[str, ...], where: str) -> None:
    if value not in listed:
        raise _none_of(field, where, listed)


def _none_of(field: str, where: str, listed: Iterable[str]) -> ValueRefused:
    names = list(listed)
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return _of(field, f"is none of {where}: {', '.join(names[:_MOST_LISTED]) or 'there are none'}{more}")


def _of(field: str, is_none: str) -> ValueRefused:
    return ValueRefused(f"the value of {field!r} {is_none}", of_value=is_none)
