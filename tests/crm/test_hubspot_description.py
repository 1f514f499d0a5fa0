"""What an account says of itself, from the sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.records import MARKER, OwnerDescription
from tests.crm.conftest import MakeCrm
from tests.crm.hostile import Hostile, Line, says
from tests.sandbox.control import Control


def test_account_owners_and_properties(crm: HubSpotCrm) -> None:
    description = crm.describe("contact")
    assert (description.system, description.account) == ("hubspot", "62515")
    assert OwnerDescription(owner_id="501", active=True) in description.owners
    assert OwnerDescription(owner_id="505", active=True, queue=True) in description.owners
    assert OwnerDescription(owner_id="504", active=False) in description.owners
    fields = description.fields
    assert fields["lead_status"].name == "hs_lead_status"
    assert fields["lead_status"].options[:2] == ("NEW", "OPEN")
    assert fields["lead_status"].labels["New"] == "NEW"
    assert (fields["owner"].options, fields["owner"].writable) == ((), True)
    assert (fields["external_id"].name, fields["external_id"].unique) == ("leadproof_external_id", True)
    assert (fields[MARKER].name, fields[MARKER].unique, fields[MARKER].keeps_history) == (
        "leadproof_effect",
        False,
        True,
    )
    assert fields["email"].unique
    assert (fields["hs_object_id"].writable, fields["hs_object_id"].keeps_history) == (False, True)
    assert (fields["num_notes"].writable, fields["num_notes"].keeps_history) == (False, False)
    assert "hs_lead_status" not in fields


def test_a_property_that_is_called_like_a_field_of_ours_does_not_take_its_place(
    server: Hostile, make_crm: MakeCrm
) -> None:
    definitions: list[dict[str, Any]] = [
        {"name": name, "options": []} for name in ("hubspot_owner_id", "owner", "lead_status", "external_id")
    ]
    server.answers(
        says(200, {"portalId": 1}),
        says(200, {"results": []}),
        says(200, {"results": []}),
        says(200, {"results": definitions}),
    )
    fields = make_crm(server.url).describe("contact").fields
    assert fields["owner"].name == "hubspot_owner_id"
    assert "lead_status" not in fields  # hs_lead_status is not there, and this one is not what we would write to
    assert fields["external_id"].name == "external_id"  # our own property is not there at all


def test_owners_are_read_page_by_page(server: Hostile, make_crm: MakeCrm) -> None:
    def owners(line: Line) -> None:
        path = line.request.path
        if "/owners" not in path:
            line.respond(200, {"portalId": 1, "results": []})
        elif "archived=True" in path:
            line.respond(200, {"results": [{"id": "3", "type": "PERSON", "archived": True}]})
        elif "after=2" in path:
            line.respond(200, {"results": [{"id": "2", "type": "QUEUE"}]})
        else:
            line.respond(200, {"results": [{"id": "1", "type": "PERSON"}], "paging": {"next": {"after": "2"}}})

    server.answers(owners)
    found = make_crm(server.url).describe("contact").owners
    assert [(owner.owner_id, owner.active, owner.queue) for owner in found] == [
        ("1", True, False),
        ("2", True, True),
        ("3", False, False),
    ]


def test_owners_that_never_end_do(server: Hostile, make_crm: MakeCrm) -> None:
    page: dict[str, Any] = {"portalId": 1, "results": [], "paging": {"next": {"after": "1"}}}
    server.answers(says(200, page))
    with pytest.raises(ConfigurationRefused, match="more owners"):
        make_crm(server.url).describe("contact")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (says(401), "refuses us: 401"),
        (says(403, {"status": "error", "category": "MISSING_SCOPES"}), "refuses us: 403 MISSING_SCOPES"),
        (says(404, b"<html>"), "refuses us: 404 without a reason"),
        (says(500), "could not be asked: 500"),
        (says(200, b"<html>"), "no description"),
        (says(200, {"portal": 1}), "no description"),
        (says(200, []), "no description"),
        (Line.break_off, "cannot be reached"),
    ],
)
def test_what_is_no_description_is_one_sentence(script: Any, why: str, server: Hostile, make_crm: MakeCrm) -> None:
    server.answers(script)
    with pytest.raises(ConfigurationRefused, match=why):
        make_crm(server.url).describe("contact")


def test_an_account_that_cannot_be_reached(server: Hostile, make_crm: MakeCrm) -> None:
    crm = make_crm(server.url)
    server.close_listener()
    with pytest.raises(ConfigurationRefused, match=r"cannot be reached at http://\S+: nothing was sent"):
        crm.describe("contact")


def test_other_objects_are_not_described(crm: HubSpotCrm, sandbox: Control) -> None:
    with pytest.raises(ConfigurationRefused, match="company"):
        crm.describe("company")


def test_the_identity_is_no_secret(make_crm: MakeCrm) -> None:
    assert make_crm("http://127.0.0.1:1").identity == "hubspot app 54321"
    assert make_crm("http://127.0.0.1:1", app_id=None, token=lambda: "secret").identity == "hubspot access token"
