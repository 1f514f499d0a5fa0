"""Links to a record and to a run: only to where they really are."""

from __future__ import annotations

import pytest

from starter.review.record_links import record_link, run_link
from tests.starter.door import settings_of

SALESFORCE = "https://acme.my.salesforce.com"


@pytest.mark.parametrize(
    ("settings", "record", "link"),
    [
        ({}, ("hubspot", "contact", "501"), "https://app.hubspot.com/contacts/62515/record/0-1/501"),
        ({}, ("hubspot", "company", "77"), "https://app.hubspot.com/contacts/62515/record/0-2/77"),
        ({}, ("hubspot", "message", "77"), None),
        ({}, ("hubspot", "contact", None), None),
        ({}, ("hubspot", "contact", "5/../../x"), None),
        ({}, ("hubspot", "contact", "٣"), None),
        ({"LEADPROOF_HUBSPOT_BASE_URL": "http://127.0.0.1:8090/hubspot"}, ("hubspot", "contact", "501"), None),
        ({}, ("salesforce", "lead", "00Qxx0000004C92EAE"), None),
        (
            {"LEADPROOF_SALESFORCE_URL": SALESFORCE},
            ("salesforce", "lead", "00Qxx0000004C92EAE"),
            "https://acme.lightning.force.com/lightning/r/Lead/00Qxx0000004C92EAE/view",
        ),
        (
            {"LEADPROOF_SALESFORCE_URL": "https://acme--test.sandbox.my.salesforce.com"},
            ("salesforce", "contact", "003xx0000004C92"),
            "https://acme--test.sandbox.lightning.force.com/lightning/r/Contact/003xx0000004C92/view",
        ),
        ({"LEADPROOF_SALESFORCE_URL": "http://127.0.0.1:8090"}, ("salesforce", "lead", "00Qxx0000004C92EAE"), None),
        ({"LEADPROOF_SALESFORCE_URL": SALESFORCE}, ("salesforce", "lead", "00Q/../x"), None),
        ({"LEADPROOF_SALESFORCE_URL": SALESFORCE}, ("salesforce", "company", "001xx0000004C92"), None),
        ({}, ("linq", "message", "501"), None),
    ],
)
def test_a_record_is_linked_where_its_system_is_the_real_one(
    settings: dict[str, str], record: tuple[str, str, str | None], link: str | None
) -> None:
    system, target_object, record_id = record
    found = record_link(settings_of(**settings), system=system, target_object=target_object, record_id=record_id)
    assert found == link


def test_a_run_is_linked_where_somebody_said_where_the_ui_is() -> None:
    assert run_link(settings_of(), "lead:1") is None
    said = settings_of(LEADPROOF_TEMPORAL_UI_URL="https://ui.example/", LEADPROOF_TEMPORAL_NAMESPACE="crm.acct")
    assert run_link(said, "lead:1:r2") == "https://ui.example/namespaces/crm.acct/workflows/lead%3A1%3Ar2"
