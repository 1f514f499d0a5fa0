from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from leadproof.crm.hubspot_fields import BUILT_IN, HubSpotFields
from leadproof.domain.errors import MalformedValue, PolicyRefused
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType, normal
from leadproof.domain.policy import TargetField

FIELDS = HubSpotFields()


def one(field_type: FieldType, **spec: Any) -> HubSpotFields:
    return HubSpotFields({"extra": TargetField(property="extra_p", spec=FieldSpec(type=field_type, **spec))})


def test_names_and_properties_lead_to_each_other() -> None:
    for name, hubspot_property in BUILT_IN.items():
        assert FIELDS.property_of(name) == hubspot_property
        assert FIELDS.name_of(hubspot_property) == name
    assert FIELDS.properties_of(["title", "do_not_call", "owner"]) == {"title": "jobtitle", "owner": "hubspot_owner_id"}
    assert FIELDS.property_of("do_not_call") is None
    assert FIELDS.name_of("hs_object_id") is None


def test_every_built_in_field_is_one_of_the_catalog() -> None:
    assert set(BUILT_IN) <= set(CATALOG)


def test_the_policy_adds_and_replaces() -> None:
    fields = HubSpotFields(
        {
            "score": TargetField(property="lead_score", spec=FieldSpec(type=FieldType.NUMBER)),
            "employees": TargetField(property="headcount", spec=FieldSpec(type=FieldType.NUMBER)),
        }
    )
    assert fields.property_of("score") == "lead_score"
    assert fields.name_of("headcount") == "employees"
    assert fields.name_of("numemployees") is None
    assert fields.normalised("score", "7.50") == "7.5"


def test_two_fields_of_one_property_are_refused() -> None:
    with pytest.raises(PolicyRefused, match="title and position both name the HubSpot property jobtitle"):
        HubSpotFields({"position": TargetField(property="jobtitle")})


@pytest.mark.parametrize(
    ("field_type", "raw", "expected"),
    [
        (FieldType.TEXT, " Ann ", "Ann"),
        (FieldType.TEXT, "", None),
        (FieldType.TEXT, None, None),
        (FieldType.EMAIL, "Bo@Example.COM", "bo@example.com"),
        (FieldType.BOOLEAN, "true", True),
        (FieldType.BOOLEAN, "false", False),
        (FieldType.BOOLEAN, "", None),
        (FieldType.NUMBER, "1000.0", "1000"),
        (FieldType.NUMBER, "1E3", "1000"),
        (FieldType.NUMBER, "-5", "-5"),
        (FieldType.NUMBER, "100-500", "100"),
        (FieldType.NUMBER, "1000+", "1000"),
        (FieldType.MONEY, "12.5", "12.50"),
        (FieldType.DATE, "1764460800000", "2025-11-30"),
        (FieldType.DATE, "2025-11-30", "2025-11-30"),
        (FieldType.DATETIME, "2025-11-30T01:02:03.999Z", "2025-11-30T01:02:03Z"),
        (FieldType.MULTI_PICKLIST, "b;a", ["a", "b"]),
        (FieldType.OWNER, "501", "501"),
        (FieldType.BOOLEAN, "perhaps", "perhaps"),
        (FieldType.NUMBER, "many", "many"),
        (FieldType.DATE, "soon", "soon"),
        (FieldType.MONEY, "1,50", "1,50"),
    ],
)
def test_values_are_read(field_type: FieldType, raw: str | None, expected: object) -> None:
    assert one(field_type).normalised("extra", raw) == expected


@pytest.mark.parametrize(
    ("field_type", "value", "expected"),
    [
        (FieldType.TEXT, None, ""),
        (FieldType.TEXT, "Ann", "Ann"),
        (FieldType.BOOLEAN, True, "true"),
        (FieldType.BOOLEAN, False, "false"),
        (FieldType.NUMBER, "1000", "1000"),
        (FieldType.NUMBER, 1000.0, "1000"),
        (FieldType.NUMBER, 0, "0"),
        (FieldType.MONEY, "12.50", "12.50"),
        (FieldType.MONEY, 5, "5.00"),
        (FieldType.MULTI_PICKLIST, ["a", "b"], "a;b"),
        (FieldType.MULTI_PICKLIST, [";a", "", " b"], "a;b"),
        (FieldType.MULTI_PICKLIST, {"b", "a"}, "a;b"),
        (FieldType.MULTI_PICKLIST, ";a;b", "a;b"),
        (FieldType.MULTI_PICKLIST, [], ""),
        (FieldType.OWNER, "501", "501"),
        (FieldType.OWNER, 501, "501"),
    ],
)
def test_values_are_written_as_text(field_type: FieldType, value: object, expected: str) -> None:
    assert one(field_type).to_property("extra", value) == expected


@pytest.mark.parametrize("field_type", list(FieldType))
def test_what_is_written_reads_back_as_what_was_meant(field_type: FieldType) -> None:
    samples: dict[FieldType, object] = {
        FieldType.BOOLEAN: False,
        FieldType.NUMBER: "12.50",
        FieldType.MONEY: "12.50",
        FieldType.DATE: "2026-11-30",
        FieldType.DATETIME: "2026-11-30T10:11:12.345+02:00",
        FieldType.MULTI_PICKLIST: ["b", "a"],
        FieldType.PHONE: "+1 415 555 0100 ext. 5",
        FieldType.COUNTRY: "Germany",
        FieldType.EMAIL: "Bo@Bücher.example",
    }
    fields = one(field_type)
    meant = normal(fields.spec("extra"), samples.get(field_type, " Ann "))
    assert fields.normalised("extra", fields.to_property("extra", meant)) == meant
    assert fields.normalised("extra", fields.to_property("extra", None)) is None


@pytest.mark.parametrize(
    ("field_type", "value"),
    [(FieldType.MONEY, "much"), (FieldType.BOOLEAN, "perhaps"), (FieldType.DATE, "soon"), (FieldType.TEXT, {"a": 1})],
)
def test_a_value_that_is_none_of_its_type_is_refused(field_type: FieldType, value: object) -> None:
    with pytest.raises(MalformedValue):
        one(field_type).to_property("extra", value)


def test_the_mapping_pulls_in_no_client() -> None:
    program = (
        "import sys, leadproof.crm.hubspot_fields\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(loaded & {'hubspot', 'urllib3', 'requests', 'httpx', 'sqlmodel'}), end='')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
