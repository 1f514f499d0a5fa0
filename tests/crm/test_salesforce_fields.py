from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.crm.salesforce_fields import BUILT_IN, SalesforceFields
from leadproof.domain.errors import MalformedValue, PolicyRefused
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType, normal
from leadproof.domain.policy import TargetField
from tests.crm.salesforce_org import QUEUE

FIELDS = SalesforceFields()


def one(field_type: FieldType, **spec: Any) -> SalesforceFields:
    return SalesforceFields({"extra": TargetField(property="Extra__c", spec=FieldSpec(type=field_type, **spec))})


def test_names_and_fields_lead_to_each_other() -> None:
    for target_object, built_in in BUILT_IN.items():
        for name, field in built_in.items():
            assert FIELDS.field_of(target_object, name) == field
            assert FIELDS.name_of(target_object, field) == FIELDS.name_of(target_object, field.upper()) == name
        assert FIELDS.by_name(target_object) == built_in
    assert FIELDS.fields_of("contact", ["country", "company", "owner"]) == {
        "country": "MailingCountryCode",
        "owner": "OwnerId",
    }
    assert FIELDS.field_of("lead", "lifecycle_stage") is None
    assert FIELDS.field_of("company", "email") is None
    assert FIELDS.name_of("lead", "Id") is None


def test_every_built_in_field_is_one_of_the_catalog() -> None:
    for built_in in BUILT_IN.values():
        assert set(built_in) <= set(CATALOG)


def test_the_policy_adds_and_replaces_for_both_objects() -> None:
    fields = SalesforceFields(
        {
            "score": TargetField(property="Score__c", spec=FieldSpec(type=FieldType.NUMBER)),
            "country": TargetField(property="Country", spec=FieldSpec(type=FieldType.COUNTRY)),
        }
    )
    for target_object in BUILT_IN:
        assert fields.field_of(target_object, "score") == "Score__c"
        assert fields.field_of(target_object, "country") == "Country"
    assert fields.name_of("lead", "CountryCode") is None
    assert fields.normalised("score", Decimal("7.50")) == "7.5"


@pytest.mark.parametrize("field", ["Title", "TITLE"])
def test_two_names_of_one_field_are_refused_in_any_case(field: str) -> None:
    with pytest.raises(PolicyRefused, match=f"title and position both name the Salesforce field {field}"):
        SalesforceFields({"position": TargetField(property=field)})


@pytest.mark.parametrize("field", ["Owner.Name", "Title FROM Lead", "1x", "a-b", "x" * 81])
def test_a_name_that_can_be_no_fields_is_refused(field: str) -> None:
    with pytest.raises(PolicyRefused, match="can be no field's name"):
        SalesforceFields({"extra": TargetField(property=field)})


@pytest.mark.parametrize(
    ("field_type", "raw", "expected"),
    [
        (FieldType.TEXT, " Ann ", "Ann"),
        (FieldType.TEXT, "　Ann　", "　Ann　"),  # Salesforce trims ASCII spaces only
        (FieldType.TEXT, "", None),
        (FieldType.TEXT, None, None),
        (FieldType.EMAIL, "Bo@Example.COM", "bo@example.com"),
        (FieldType.BOOLEAN, True, True),
        (FieldType.BOOLEAN, False, False),
        (FieldType.BOOLEAN, None, None),
        (FieldType.NUMBER, Decimal("1000.0"), "1000"),
        (FieldType.NUMBER, 7, "7"),
        (FieldType.NUMBER, Decimal("123456789012345.678"), "123456789012345.678"),
        (FieldType.MONEY, Decimal("1234.5"), "1234.50"),
        (FieldType.DATE, "2026-11-30", "2026-11-30"),
        (FieldType.DATETIME, "2026-11-30T01:37:04.000+0000", "2026-11-30T01:37:04Z"),
        (FieldType.DATETIME, "2026-11-30T02:37:04.123+0100", "2026-11-30T01:37:04Z"),
        (FieldType.PICKLIST, "Open - Not Contacted", "Open - Not Contacted"),
        (FieldType.MULTI_PICKLIST, "b;a", ["a", "b"]),
        (FieldType.COUNTRY, "DE", "DE"),
        (FieldType.COUNTRY, "Germany", "DE"),
        (FieldType.OWNER, QUEUE[:15], QUEUE),
        (FieldType.OWNER, "nobody", "nobody"),
        (FieldType.RECORD_ID, QUEUE, QUEUE),
        (FieldType.NUMBER, "many", "many"),
        (FieldType.BOOLEAN, {"a": 1}, "{'a': 1}"),
    ],
)
def test_a_value_as_it_is_read(field_type: FieldType, raw: Any, expected: Any) -> None:
    assert one(field_type).normalised("extra", raw) == expected


@pytest.mark.parametrize(
    ("field_type", "value", "sent"),
    [
        (FieldType.TEXT, "Ann", "Ann"),
        (FieldType.TEXT, "", None),
        (FieldType.TEXT, None, None),
        (FieldType.BOOLEAN, True, True),
        (FieldType.BOOLEAN, "false", False),
        (FieldType.NUMBER, "1000", 1000),
        (FieldType.NUMBER, "0.5", 0.5),
        (FieldType.MONEY, "1234.50", 1234.5),
        (FieldType.MONEY, "1234.00", 1234),
        (FieldType.DATE, "2026-11-30", "2026-11-30"),
        (FieldType.DATETIME, "2026-11-30T01:37:04Z", "2026-11-30T01:37:04Z"),
        (FieldType.MULTI_PICKLIST, ["b", "a"], "a;b"),
        (FieldType.MULTI_PICKLIST, [], None),
        (FieldType.OWNER, QUEUE[:15], QUEUE),
        (FieldType.COUNTRY, "Germany", "DE"),
    ],
)
def test_a_value_as_it_is_sent(field_type: FieldType, value: Any, sent: Any) -> None:
    found = one(field_type).to_value("extra", value)
    assert (found, type(found)) == (sent, type(sent))


@pytest.mark.parametrize(
    ("field_type", "value"),
    [
        (FieldType.NUMBER, "many"),
        (FieldType.NUMBER, "12345678901234567.5"),
        (FieldType.OWNER, "nobody"),
        (FieldType.OWNER, QUEUE[:15] + "AAA"),
        (FieldType.BOOLEAN, "perhaps"),
    ],
)
def test_a_value_that_would_arrive_as_another_one_is_refused(field_type: FieldType, value: Any) -> None:
    with pytest.raises(MalformedValue):
        one(field_type).to_value("extra", value)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**15), max_value=10**15))
def test_a_number_comes_back_as_it_was_sent_or_is_not_sent(number: Decimal) -> None:
    fields, spec = one(FieldType.NUMBER), FieldSpec(type=FieldType.NUMBER)
    try:
        sent = fields.to_value("extra", str(number))
    except MalformedValue:
        return
    assert fields.normalised("extra", Decimal(repr(sent))) == normal(spec, str(number))


def test_the_names_can_be_had_without_the_client_library() -> None:
    code = (
        "import sys, leadproof.crm.salesforce_fields, leadproof.crm.salesforce_sign_in;"
        "assert not {'simple_salesforce', 'zeep'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
