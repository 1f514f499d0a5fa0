"""Keys never move: each vector was computed once with `hashlib` and the canonical text above it, not with our code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain import keys
from leadproof.domain.errors import MalformedKey, MalformedValue
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.references import reference

# ["lead-event/1","acme","prod","hubspot","123","contact.creation",null]
EVENT_ONCE_PER_RECORD = "170922ddb417ed4ef7e8d0c22c11fffaa66efeeef68a2adc560b1ad2ade9ae4d"
# ["lead-event/1","acme","prod","hubspot","123","contact.propertyChange",
#  "[\"contact.propertyChange\",\"email\",\"1764500000000\"]"]    (without the line break)
EVENT_ONCE_PER_EVENT = "12359957f106d65673446449ae2df1baeddbc260d84f405f621f5b560b870ee6"
# ["lead-event/1","acme","prod","hubspot","Zoë","contact.creation",null]    (UTF-8, nothing escaped)
EVENT_BEYOND_ASCII = "c01ca6774d360615488a93c621dcadbfe51e263af31498170e068f01d00addd8"
# ["mutation/1",EVENT_ONCE_PER_RECORD,"2026-11-30.1","qualify","hubspot","contact",null]
MUTATION = "5115be80b3cd40f122a72d7ce376adae1ca24f4c134806b7664812cc2a0b3c2c"
# ["mutation/1",EVENT_ONCE_PER_RECORD,"2026-11-30.1","create","linq","message","new_lead_greeting"]
MUTATION_WITH_DISCRIMINATOR = "10973c1608fceef951cb168c0a709f1e94a1ad12823fa09dd19f1db61e772405"
# ["derived/1",MUTATION,"overwrite"], ["derived/1",MUTATION,"restore"], ["derived/1",MUTATION,"reverse"]
DERIVED = {
    "overwrite": "0b2532393cff42713d67cfd33302e8a9b1c2771528763d534a9b4fc088bbe439",
    "restore": "add44581e4d1570fe966689a85d102ed2ef0dec9ba7d7bebb025cc3b1f5169d6",
    "reverse": "d42b3ccc4739523ab8d290d3e55b22ff34e87fd55606cdaf0975af77764b146f",
}
# ["external-id/1","acme","prod","website","form-7"]
EXTERNAL_ID = "6df17498a0cfe863510a88aedc696d875cb0f32dbfcf6267f635edc0163948ac"
# ["review/1",MUTATION,"2"]
REVIEW_ID = "cdfb51056aa6181e64c2cf6ac80570382678c5b68befdd855d1c391fe26d9e83"
# ["fingerprint/1",{"annual_revenue":"1250050","email":"dana@example.com","employees":"1200",
#  "roles":["BUDGET_HOLDER","CHAMPION"],"title":null}]    (without the line break)
FINGERPRINT = "029c79967303b1fe5f9453e8622f9e7f6c90150a5117d2fe453db8dc09565953"
# ["fingerprint/1",{"email":"dana@example.com","salesforce_id":{"record_id_of":MUTATION}}]
FINGERPRINT_WITH_REFERENCE = "b4e8f6ca826e06c4922715cde5c7f2ecc258c3f502fcf8a8cc9f6bab2aa364c3"
# ["event-fingerprint/1","form.submitted",null,FINGERPRINT]
EVENT_FINGERPRINT = "59075beefa1c1a5bf79e31691037a3b4695a05ef10c8dfbf0b47864e9724ad78"

EVENT = {
    "tenant": "acme",
    "environment": "prod",
    "source_system": "hubspot",
    "source_record_id": "123",
    "event_kind": "contact.creation",
}
SPECS = {
    "annual_revenue": FieldSpec(type=FieldType.MONEY),
    "email": FieldSpec(type=FieldType.EMAIL),
    "employees": FieldSpec(type=FieldType.NUMBER),
    "roles": FieldSpec(type=FieldType.MULTI_PICKLIST),
    "message": FieldSpec(free=True),
}
STATE = {
    "annual_revenue": "12500.50",
    "email": "Dana@Example.com",
    "employees": 1200,
    "roles": ["CHAMPION", "BUDGET_HOLDER"],
    "title": "",
    "message": "Call me on Monday",
}


def test_event_keys() -> None:
    occurrence = keys.occurrence(["contact.propertyChange", "email", "1764500000000"])
    change = {**EVENT, "event_kind": "contact.propertyChange"}

    assert occurrence == '["contact.propertyChange","email","1764500000000"]'
    assert keys.event_key(**EVENT, occurrence=None) == EVENT_ONCE_PER_RECORD
    assert keys.event_key(**change, occurrence=occurrence) == EVENT_ONCE_PER_EVENT
    assert keys.event_key(**{**EVENT, "source_record_id": "Zoë"}, occurrence=None) == EVENT_BEYOND_ASCII


def test_an_occurrence_may_have_empty_places() -> None:
    assert keys.occurrence(["contact.creation", None, "1764500000000"]) == '["contact.creation",null,"1764500000000"]'


def test_mutation_keys() -> None:
    of_event = {"event_key": EVENT_ONCE_PER_RECORD, "policy_version": "2026-11-30.1"}
    qualify = {"action_kind": ActionKind.QUALIFY, "target_system": "hubspot", "target_object": TargetObject.CONTACT}
    greet = {"action_kind": "create", "target_system": "linq", "target_object": "message"}

    assert keys.mutation_key(**of_event, **qualify, discriminator=None) == MUTATION
    assert keys.mutation_key(**of_event, **greet, discriminator="new_lead_greeting") == MUTATION_WITH_DISCRIMINATOR


@pytest.mark.parametrize("operation", sorted(DERIVED))
def test_derived_keys(operation: str) -> None:
    assert keys.derived_key(MUTATION, operation) == DERIVED[operation]


def test_a_derived_key_is_of_a_known_operation() -> None:
    with pytest.raises(MalformedKey, match="operation"):
        keys.derived_key(MUTATION, "undo")


def test_external_id_and_review_id() -> None:
    external_id = keys.external_id(
        tenant="acme", environment="prod", source_system="website", source_record_id="form-7"
    )

    assert external_id == EXTERNAL_ID
    assert keys.review_id(MUTATION, 2) == REVIEW_ID


def test_fingerprints() -> None:
    assert keys.fingerprint(STATE, SPECS) == FINGERPRINT
    assert (
        keys.event_fingerprint(event_kind="form.submitted", occurrence=None, lead=STATE, specs=SPECS)
        == EVENT_FINGERPRINT
    )


def test_a_reference_stands_in_the_fingerprint_of_an_intent_as_it_is() -> None:
    refers = {"email": STATE["email"], "salesforce_id": reference(MUTATION)}
    specs = {**SPECS, "salesforce_id": FieldSpec(type=FieldType.RECORD_ID)}

    assert keys.intent_fingerprint(refers, specs) == FINGERPRINT_WITH_REFERENCE
    assert keys.intent_fingerprint(STATE, SPECS) == FINGERPRINT
    with pytest.raises(MalformedValue):  # what comes from outside refers to nothing
        keys.fingerprint(refers, specs)


@pytest.mark.parametrize("part", [None, "", "a\x00b", "\ud800", 123, b"123", True])
@pytest.mark.parametrize("field", sorted(EVENT))
def test_an_unusable_ingredient_is_named(field: str, part: Any) -> None:
    with pytest.raises(MalformedKey) as refused:
        keys.event_key(**{**EVENT, field: part}, occurrence=None)

    assert refused.value.field == field


@pytest.mark.parametrize("part", ["", "a\x00b", "\ud800", 5])
def test_an_unusable_occurrence_is_no_occurrence(part: Any) -> None:
    with pytest.raises(MalformedKey, match="occurrence"):
        keys.event_key(**EVENT, occurrence=part)
    with pytest.raises(MalformedKey, match="occurrence"):
        keys.occurrence(["contact.creation", part])


PARTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=4
) | st.sampled_from(["a", "aa", '"', "[", ",", "null", "\\"])
INGREDIENTS = st.tuples(PARTS, PARTS, PARTS, PARTS, PARTS, st.none() | PARTS)


@given(INGREDIENTS, INGREDIENTS)
def test_event_keys_are_equal_only_for_equal_ingredients(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    names = (*EVENT, "occurrence")
    first = keys.event_key(**dict(zip(names, one, strict=True)))
    second = keys.event_key(**dict(zip(names, other, strict=True)))

    assert (first == second) is (one == other)


@given(INGREDIENTS, st.integers(0, 4))
def test_moving_a_boundary_between_parts_makes_another_key(parts: tuple[Any, ...], at: int) -> None:
    names = (*EVENT, "occurrence")
    moved = list(parts)
    moved[at], moved[at + 1] = moved[at] + "x", "y"
    other = list(parts)
    other[at], other[at + 1] = moved[at][:-1] or "x", "xy"

    first = keys.event_key(**dict(zip(names, moved, strict=True)))
    second = keys.event_key(**dict(zip(names, other, strict=True)))

    assert first != second


def test_kinds_of_keys_never_meet() -> None:
    parts = {"tenant": "a", "environment": "b", "source_system": "c", "source_record_id": "d"}

    assert keys.external_id(**parts) != keys.digest(["lead-event/1", "a", "b", "c", "d"])
    assert keys.review_id("a", 1) != keys.digest(["derived/1", "a", "1"])


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_paraphrase_moves_no_fingerprint(one: str, other: str) -> None:
    assert keys.fingerprint({**STATE, "message": one}, SPECS) == keys.fingerprint({**STATE, "message": other}, SPECS)


@given(st.permutations(["a", "b", "c", "d"]), st.permutations(sorted(STATE)))
def test_order_moves_no_fingerprint(roles: list[str], names: list[str]) -> None:
    sorted_roles = {**STATE, "roles": ["a", "b", "c", "d"]}
    shuffled = {name: roles if name == "roles" else STATE[name] for name in names}

    assert keys.fingerprint(shuffled, SPECS) == keys.fingerprint(sorted_roles, SPECS)


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=2))
def test_the_spelling_of_a_number_moves_no_fingerprint(amount: Decimal) -> None:
    spellings: list[Any] = [amount, str(amount), f"{amount}000", f"{amount.normalize():E}", f"  {amount} "]

    for field in ("annual_revenue", "employees"):
        assert len({keys.fingerprint({field: spelling}, SPECS) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("annual_revenue", "12500.51"),
        ("email", "dana+x@example.com"),
        ("employees", 1201),
        ("roles", ["CHAMPION"]),
        ("title", "CEO"),
    ],
)
def test_another_value_is_another_fingerprint(field: str, other: Any) -> None:
    assert keys.fingerprint({**STATE, field: other}, SPECS) != FINGERPRINT


def test_a_field_to_be_emptied_is_not_a_field_left_alone() -> None:
    assert keys.fingerprint({"title": None}, SPECS) != keys.fingerprint({}, SPECS)


def test_an_instant_is_spelled_in_utc() -> None:
    there = timezone(timedelta(hours=2))

    assert keys.instant(datetime(2026, 11, 30, 12, 0, tzinfo=there)) == "2026-11-30T10:00:00Z"
    assert keys.instant(datetime(2026, 11, 30, 12, 0, 0, 500, tzinfo=UTC)) == "2026-11-30T12:00:00.000500Z"
    with pytest.raises(MalformedKey, match="time zone"):
        keys.instant(datetime(2026, 11, 30))  # noqa: DTZ001
