"""Keys: canonical arrays under SHA-256, never concatenation, never a clock, never words that a model wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import rfc8785

from leadproof.domain.errors import MalformedKey
from leadproof.domain.fields import FieldSpec, Normal, canonical
from leadproof.domain.references import reference, references_in

DERIVED_OPERATIONS = frozenset({"overwrite", "restore", "reverse"})


def _check(field: str, part: object) -> str:
    if not isinstance(part, str):
        raise MalformedKey(field, "is missing or not a text")
    if not part:
        raise MalformedKey(field, "is empty")
    if "\x00" in part:
        raise MalformedKey(field, "contains a NUL character")
    try:
        part.encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedKey(field, "contains a lone surrogate") from None
    return part


def digest(value: object) -> str:
    """Lower-case hex SHA-256 over the RFC 8785 canonical JSON of `value`."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]  # callers pass JSON


def _key(kind: str, parts: Mapping[str, str | None], optional: frozenset[str] = frozenset()) -> str:
    array: list[str | None] = [kind]
    for field, part in parts.items():
        array.append(None if part is None and field in optional else _check(field, part))
    return digest(array)


def event_key(
    *,
    tenant: str,
    environment: str,
    source_system: str,
    source_record_id: str,
    event_kind: str,
    occurrence: str | None,
) -> str:
    """Key of a lead event.

    Args:
        occurrence: the source's own stable identity of the event, or `None` where the event kind has scope *record*.

    Raises:
        MalformedKey: naming the ingredient.
    """
    return _key(
        "lead-event/1",
        {
            "tenant": tenant,
            "environment": environment,
            "source_system": source_system,
            "source_record_id": source_record_id,
            "event_kind": event_kind,
            "occurrence": occurrence,
        },
        frozenset({"occurrence"}),
    )


def mutation_key(
    *,
    event_key: str,
    policy_version: str,
    action_kind: str,
    target_system: str,
    target_object: str,
    discriminator: str | None,
) -> str:
    """Key of one intended effect; `discriminator` is `None` for a CRM write."""
    return _key(
        "mutation/1",
        {
            "event_key": event_key,
            "policy_version": policy_version,
            "action_kind": action_kind,
            "target_system": target_system,
            "target_object": target_object,
            "discriminator": discriminator,
        },
        frozenset({"discriminator"}),
    )


def derived_key(parent_mutation_key: str, operation: str) -> str:
    """Key of a mutation that answers another one.

    Args:
        operation: `overwrite`, `restore` or `reverse`.
    """
    if operation not in DERIVED_OPERATIONS:
        raise MalformedKey("operation", f"is none of {', '.join(sorted(DERIVED_OPERATIONS))}")
    return _key("derived/1", {"parent_mutation_key": parent_mutation_key, "operation": operation})


def external_id(*, tenant: str, environment: str, source_system: str, source_record_id: str) -> str:
    """The stable identity that we give a record in a target system."""
    return _key(
        "external-id/1",
        {
            "tenant": tenant,
            "environment": environment,
            "source_system": source_system,
            "source_record_id": source_record_id,
        },
    )


def review_id(subject: str, round_: int) -> str:
    """Identity of the `round_`-th question about `subject` (a mutation key or an event key)."""
    return _key("review/1", {"subject": subject, "round": str(round_)})


def occurrence(parts: Sequence[str | None]) -> str:
    """The text of a source's own identity of an event: RFC 8785 of an array of texts and nulls."""
    for part in parts:
        if part is not None:
            _check("occurrence", part)
    return rfc8785.dumps(list(parts)).decode("utf-8")


def fingerprint(state: Mapping[str, object], specs: Mapping[str, FieldSpec]) -> str:
    """SHA-256 over the canonical intended state, so that the same key with another payload is seen.

    Free-text fields are left out; every other field stands in its normal form: amounts in minor units, lists sorted,
    numbers in one spelling. A field without a declared type counts as text.

    Args:
        state: field name to value.
        specs: declared types by field name.
    """
    return digest(["fingerprint/1", _canonical(state, specs)])


def intent_fingerprint(fields: Mapping[str, object], specs: Mapping[str, FieldSpec]) -> str:
    """The same over the fields of an intent, in which a reference to another mutation's record stands as it is."""
    refers = references_in(fields)
    plain = {name: value for name, value in fields.items() if name not in refers}
    standing = {name: reference(to) for name, to in refers.items() if not specs.get(name, FieldSpec()).free}
    return digest(["fingerprint/1", {**_canonical(plain, specs), **standing}])


def _canonical(state: Mapping[str, object], specs: Mapping[str, FieldSpec]) -> dict[str, Normal]:
    intended: dict[str, Normal] = {}
    for name, value in state.items():
        spec = specs.get(name, FieldSpec())
        if not spec.free:
            intended[name] = canonical(spec, value)
    return intended


def event_fingerprint(
    *, event_kind: str, occurrence: str | None, lead: Mapping[str, object], specs: Mapping[str, FieldSpec]
) -> str:
    """Fingerprint of a lead event: its kind, its occurrence and the lead fields that came with it."""
    return digest(["event-fingerprint/1", event_kind, occurrence, fingerprint(lead, specs)])


def instant(moment: datetime) -> str:
    """RFC 3339 in UTC with the fraction as needed; the one spelling of a time in JSON."""
    if moment.tzinfo is None:
        raise MalformedKey("time", "has no time zone")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
