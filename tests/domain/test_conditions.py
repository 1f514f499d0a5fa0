from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.conditions import holds, looked_at
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.policy import Condition
from tests.domain.samples import snapshot

SPECS = {**CATALOG, "roles": FieldSpec(type=FieldType.MULTI_PICKLIST), "budget": FieldSpec(type=FieldType.MONEY)}


def met(condition: dict[str, Any], source: str = "hubspot", **fields: Any) -> bool:
    return holds(Condition(**condition), snapshot(source, **fields), SPECS)


def test_an_empty_condition_always_holds() -> None:
    assert met({})


@pytest.mark.parametrize(
    ("condition", "holding", "failing"),
    [
        ({"equals": {"country": ("DE", "Austria")}}, {"country": "AT"}, {"country": "CH"}),
        ({"equals": {"country": "Germany"}}, {"country": "DE"}, {"country": None}),
        ({"equals": {"employees": "500.0"}}, {"employees": "500"}, {"employees": "5000"}),
        ({"equals": {"email_opt_out": True}}, {"email_opt_out": True}, {"email_opt_out": False}),
        ({"equals": {"title": "true"}}, {"title": "true"}, {"title": "True"}),
        ({"equals": {"roles": "a"}}, {"roles": ["a", "b"]}, {"roles": ["b"]}),
        ({"equals": {"roles": ("x", "a;b")}}, {"roles": ["a", "b", "c"]}, {"roles": ["a"]}),
        ({"email_domain": "gmail.com"}, {"email": "a@gmail.com"}, {"email": "a@mail.gmail.com"}),
        ({"email_domain": ("GMail.com",)}, {"email": "a@gmail.com"}, {"email": "gmail.com"}),
        ({"email_domain": "bücher.example"}, {"email": "a@xn--bcher-kva.example"}, {"email": "a@x.example"}),
        ({"present": "company"}, {"company": "Acme"}, {"company": None}),
        ({"present": ("company", "email")}, {"company": "Acme", "email": "a@b.co"}, {"company": "Acme"}),
        ({"absent": "company"}, {"company": None}, {"company": "Acme"}),
        ({"absent": "company"}, {}, {"company": "Acme"}),
        ({"at_least": {"employees": 500}}, {"employees": "500"}, {"employees": "499.99"}),
        ({"at_most": {"employees": 500}}, {"employees": "500"}, {"employees": "500.01"}),
        ({"at_least": {"employees": 0}}, {"employees": "0"}, {"employees": None}),
        ({"at_most": {"employees": 10}}, {"employees": "9"}, {}),
        ({"at_least": {"employees": 10}}, {"employees": 12}, {"employees": "many"}),
        ({"at_least": {"budget": 99.5}}, {"budget": "99.50"}, {"budget": "99.49"}),
        ({"at_least": {"employees": 1}, "present": "company"}, {"employees": "1", "company": "A"}, {"employees": "1"}),
    ],
)
def test_each_part_must_hold(condition: dict[str, Any], holding: dict[str, Any], failing: dict[str, Any]) -> None:
    assert met(condition, **holding)
    assert not met(condition, **failing)


def test_the_source_system_is_looked_at() -> None:
    assert met({"source": "hubspot"})
    assert met({"source": ("website", "hubspot")})
    assert not met({"source": "website"})
    assert met({"source": "website"}, source="website")


def test_a_malformed_value_equals_nothing_and_is_not_absent() -> None:
    assert not met({"equals": {"employees": "many"}}, employees="many")
    assert not met({"absent": "employees"}, employees="many")
    assert not met({"at_most": {"employees": 10}}, employees="NaN")


def test_large_numbers_are_compared_exactly() -> None:
    assert not met({"at_least": {"employees": 9007199254740993.0}}, employees="9007199254740991.9")


def test_the_fields_that_a_condition_looks_at() -> None:
    condition = Condition(
        source=("hubspot",),
        equals={"country": ("DE",)},
        email_domain=("gmail.com",),
        present=("company", "country"),
        absent=("owner",),
        at_least={"employees": 1},
        at_most={"employees": 5},
    )

    assert looked_at(condition) == ("country", "email", "company", "owner", "employees")
    assert looked_at(Condition()) == ()
