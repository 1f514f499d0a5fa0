"""What the doctor says of HubSpot, asked through the real client."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.clock import SystemClock
from leadproof.domain.errors import ConfigurationRefused, PolicyRefused
from leadproof.ports import Clock
from leadproof.settings import load
from tests.workers.clinic import AheadOfTime, Clinic, found, not_ok, said, states
from workers.compose import check_targets, crms_of
from workers.doctor import targets
from workers.doctor.report import Report, State

EXTERNAL_ID, MARKER = "leadproof_external_id", "leadproof_effect"
ANY = {"label": "Any", "value": "any"}
WHY_NOT = {
    "[owners.hubspot]": (
        '[target.hubspot.fields.disqualification_reason]\nproperty = "why_not"\nspec = { type = "picklist" }\n\n'
        "[owners.hubspot]"
    )
}
CHECKS = {EXTERNAL_ID: "hubspot.external-id", MARKER: "hubspot.marker"}


async def examined(clinic: Clinic, *, clock: Clock | None = None, policy: bool = True, **other: str | None) -> Report:
    report = Report()
    read = clinic.policy() if policy else None
    await targets.examine(clinic.settings(**other), read, clock or SystemClock(), report)
    return report


def answers(clinic: Clinic, operation: str, body: Any, status: int = 200) -> None:
    clinic.control.fault("status", operation=operation, args={"status": status, "body": body})


async def test_a_sound_account(clinic: Clinic) -> None:
    report = await examined(clinic)
    assert not_ok(report) == {}
    assert list(states(report)) == [
        f"hubspot.{name}"
        for name in ("token", "account", "permissions", "app", "external-id", "marker", "policy", "clock")
    ]
    assert report.offers == []


async def test_without_a_token_nothing_is_asked(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_token=None)
    state, text = said(found(report, "hubspot.token"))
    assert (state, "LEADPROOF_HUBSPOT_TOKEN" in text) == (State.WRONG, True)
    assert set(states(report).values()) == {State.WRONG, State.SKIPPED}
    assert clinic.control.get("/requests") == []


async def test_a_token_that_is_not_accepted(clinic: Clinic) -> None:
    clinic.control.fault("reject_auth", operation="account.read")
    report = await examined(clinic)
    state, text = said(found(report, "hubspot.token"))
    assert state is State.WRONG
    assert "refuses us: 401 INVALID_AUTHENTICATION" in text
    assert "check LEADPROOF_HUBSPOT_TOKEN" in text
    assert "token-of-the-tests" not in str(report)
    assert set(states(report).values()) == {State.WRONG, State.SKIPPED}


@pytest.mark.parametrize(("status", "body"), [(404, {"detail": "Not Found"}), (200, {"hello": "world"}), (200, [])])
async def test_another_server_stands_at_the_address(clinic: Clinic, status: int, body: Any) -> None:
    answers(clinic, "account.read", body, status)
    report = await examined(clinic)
    state, text = said(found(report, "hubspot.token"))
    assert state is State.WRONG
    assert "see that LEADPROOF_HUBSPOT_BASE_URL is the address of HubSpot" in text


async def test_hubspot_is_down(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_base_url="http://127.0.0.1:1")
    state, text = said(found(report, "hubspot.token"))
    assert state is State.WRONG
    assert "HubSpot cannot be reached at http://127.0.0.1:1: " in text
    assert "LEADPROOF_HUBSPOT_BASE_URL" in text
    assert "TOKEN" not in text
    assert [check for check, state in states(report).items() if state is State.WRONG] == ["hubspot.token"]


async def test_another_account_and_another_app(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_portal_id="1", hubspot_app_id="2")
    assert "opens account 62515, LEADPROOF_HUBSPOT_PORTAL_ID names 1" in found(report, "hubspot.account").says
    assert found(report, "hubspot.account").state is State.WRONG
    assert "belongs to app 54321, LEADPROOF_HUBSPOT_APP_ID names 2" in found(report, "hubspot.app").says


async def test_an_account_and_an_app_that_no_setting_names(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_portal_id=None, hubspot_app_id=None)
    assert said(found(report, "hubspot.account"))[0] is State.WARN
    assert "62515" in (found(report, "hubspot.account").do or "")
    assert said(found(report, "hubspot.app"))[0] is State.WARN
    assert "54321" in (found(report, "hubspot.app").do or "")
    assert report.sound


async def test_scopes_that_lack_are_named(clinic: Clinic) -> None:
    granted = ["crm.objects.contacts.read", "crm.schemas.contacts.read"]
    answers(clinic, "token.read", {"hubId": 62515, "appId": 54321, "scopes": granted})
    state, text = said(found(await examined(clinic), "hubspot.permissions"))
    assert state is State.WRONG
    assert "lacks crm.objects.owners.read, crm.objects.contacts.write" in text


async def test_shadow_mode_needs_no_scope_to_write(clinic: Clinic) -> None:
    granted = ["crm.objects.contacts.read", "crm.schemas.contacts.read", "crm.objects.owners.read"]
    for mode, expected in (("shadow", State.WARN), ("live", State.WRONG)):
        answers(clinic, "token.read", {"hubId": 62515, "appId": 54321, "scopes": granted})
        report = await examined(clinic, mode=mode, environment=mode)
        state, text = said(found(report, "hubspot.permissions"))
        assert state is expected
        assert "lacks crm.objects.contacts.write" in text


async def test_a_scope_that_only_creating_needs_is_no_fault(clinic: Clinic) -> None:
    granted = [
        "crm.objects.contacts.read",
        "crm.objects.contacts.write",
        "crm.schemas.contacts.read",
        "crm.objects.owners.read",
    ]
    answers(clinic, "token.read", {"hubId": 62515, "appId": 54321, "scopes": granted})
    state, text = said(found(await examined(clinic), "hubspot.permissions"))
    assert state is State.OK
    assert "crm.schemas.contacts.write" in text


@pytest.mark.parametrize(("status", "body"), [(404, {"status": "error"}), (200, {"hubId": 62515}), (200, [])])
async def test_scopes_that_hubspot_does_not_tell(clinic: Clinic, status: int, body: Any) -> None:
    answers(clinic, "token.read", body, status)
    report = await examined(clinic)
    assert states(report)["hubspot.permissions"] is State.WARN
    assert states(report)["hubspot.app"] is State.SKIPPED
    assert report.sound


@pytest.mark.parametrize(
    ("name", "defined", "says"),
    [
        (EXTERNAL_ID, {}, "is not unique"),
        (EXTERNAL_ID, {"hasUniqueValue": True, "modificationMetadata": {"readOnlyValue": True}}, "cannot set"),
        (MARKER, {"calculated": True}, "cannot set"),
    ],
)
async def test_a_property_without_which_no_worker_starts(
    clinic: Clinic, name: str, defined: dict[str, Any], says: str
) -> None:
    clinic.redefine_property(name, **defined)
    report = await examined(clinic)
    state, text = said(found(report, CHECKS[name]))
    assert state is State.WRONG
    assert says in text
    assert "_PROPERTY" in text
    assert report.offers == []
    with pytest.raises(ConfigurationRefused, match=f"{name} .*leadproof doctor"):
        started(clinic)


@pytest.mark.parametrize(
    ("name", "defined", "says"),
    [
        (EXTERNAL_ID, {"type": "number", "fieldType": "number", "hasUniqueValue": True}, "number/number"),
        (MARKER, {"type": "enumeration", "fieldType": "select", "options": [ANY]}, "enumeration/select and no text"),
    ],
)
async def test_a_property_that_is_no_text(clinic: Clinic, name: str, defined: dict[str, Any], says: str) -> None:
    clinic.redefine_property(name, **defined)
    state, text = said(found(await examined(clinic), CHECKS[name]))
    assert (state, says in text) == (State.WRONG, True)


def started(clinic: Clinic) -> None:
    """What a worker checks of its targets when it starts."""
    settings, policy = clinic.settings(), clinic.policy()
    check_targets(settings, policy, crms_of(settings, policy))


def test_a_worker_starts_with_what_is_sound(clinic: Clinic) -> None:
    started(clinic)


async def test_properties_that_are_missing_are_offered_made_and_then_sound(clinic: Clinic) -> None:
    clinic.environment |= {"hubspot_external_id_property": "our_id", "hubspot_marker_property": "our_effect"}
    report = await examined(clinic)
    assert [state for check, state in states(report).items() if "id" in check or "marker" in check] == [State.WRONG] * 2
    assert "has no property our_id" in found(report, "hubspot.external-id").says
    with pytest.raises(ConfigurationRefused, match=r"no contact property our_id; `leadproof doctor --create` makes it"):
        started(clinic)
    assert [offer.check for offer in report.offers] == ["hubspot.external-id", "hubspot.marker"]
    assert clinic.control.requests("properties.write") == []
    for offer in report.offers:
        await offer.make()
    written = {row["body"]["name"]: row["body"] for row in clinic.control.requests("properties.write")}
    assert {name: (body["type"], body["fieldType"], body["hasUniqueValue"]) for name, body in written.items()} == {
        "our_id": ("string", "text", True),
        "our_effect": ("string", "text", False),
    }
    assert not_ok(await examined(clinic)) == {}
    started(clinic)


async def test_a_property_that_hubspot_does_not_make(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_marker_property="our_effect")
    (offer,) = report.offers
    clinic.control.fault("reject_auth", operation="properties.write", args={"status": 403})
    with pytest.raises(ConfigurationRefused, match="403 MISSING_SCOPES"):
        await offer.make()


async def test_a_property_whose_creation_was_not_answered_is_there_at_the_next_look(clinic: Clinic) -> None:
    report = await examined(clinic, hubspot_marker_property="our_effect")
    clinic.control.fault("drop_after_apply", operation="properties.write")
    with pytest.raises(ConfigurationRefused, match="cannot be reached"):
        await report.offers[0].make()
    assert not_ok(await examined(clinic, hubspot_marker_property="our_effect")) == {}


async def test_a_property_that_is_archived_is_not_made_again(clinic: Clinic) -> None:
    clinic.archive_property(MARKER)
    report = await examined(clinic)
    state, text = said(found(report, "hubspot.marker"))
    assert state is State.WRONG
    assert "archived" in text
    assert report.offers == []


async def test_a_property_of_the_policy_that_is_missing_is_offered_made_and_then_sound(clinic: Clinic) -> None:
    clinic.write_policy(**WHY_NOT)
    state, text = said(found(await examined(clinic), "hubspot.policy"))
    assert state is State.WRONG
    assert "of the policy: hubspot has no contact property why_not (the field 'disqualification_reason'); " in text
    assert (
        "make it as a dropdown with the options no_budget, no_authority, no_need, bad_timing, competitor, spam, or "
        in text
    )
    assert "`leadproof doctor --create` makes it" in text
    with pytest.raises(PolicyRefused, match="no contact property why_not"):
        started(clinic)
    (offer,) = (await examined(clinic)).offers
    assert offer.what.startswith("the property why_not in HubSpot (a dropdown with the options no_budget, ")
    await offer.make()
    (written,) = (row["body"] for row in clinic.control.requests("properties.write"))
    assert (written["type"], written["fieldType"], written["hasUniqueValue"]) == ("enumeration", "select", False)
    assert written["label"] == "Why not"
    assert [(one["value"], one["label"]) for one in written["options"]][:2] == [
        ("no_budget", "No budget"),
        ("no_authority", "No authority"),
    ]
    assert not_ok(await examined(clinic)) == {}
    started(clinic)


async def test_a_property_of_the_policy_that_is_archived_or_has_no_listed_values_is_made_by_hand(
    clinic: Clinic,
) -> None:
    clinic.archive_property("disqualification_reason")
    report = await examined(clinic)
    assert "archived in HubSpot, so restore it there" in said(found(report, "hubspot.policy"))[1]
    assert report.offers == []
    listed = 'disqualification_reason = ["no_budget", "no_authority", "no_need", "bad_timing", "competitor", "spam"]'
    clinic.write_policy(**WHY_NOT, **{listed: ""})
    report = await examined(clinic)
    assert "no contact property why_not" in found(report, "hubspot.policy").says
    assert "make it as one that holds a picklist" in found(report, "hubspot.policy").says
    assert report.offers == []


async def test_definitions_that_cannot_be_read(clinic: Clinic) -> None:
    clinic.control.fault("reject_auth", operation="properties.read", args={"status": 403}, times=9)
    report = await examined(clinic)
    assert states(report)["hubspot.external-id"] is State.WRONG
    assert states(report)["hubspot.marker"] is State.SKIPPED
    assert "MISSING_SCOPES" in found(report, "hubspot.policy").says


async def test_every_fault_of_the_policy_is_a_line(clinic: Clinic) -> None:
    clinic.write_policy(
        **{'dana = "501"': 'dana = "599"', 'kofi = "502"': 'kofi = "504"', '"BAD_TIMING"]': '"BAD_TIMING", "GONE"]'}
    )
    lines = [finding for finding in (await examined(clinic)).findings if finding.check == "hubspot.policy"]
    assert [line.state for line in lines] == [State.WRONG] * 3
    assert [line.says.partition(": ")[2] for line in lines] == [
        "hubspot has no owner 599 (dana); active are 501, 502, 503, 505 (a queue)",
        "the owner 504 (kofi) is not active in hubspot; active are 501, 502, 503, 505 (a queue)",
        "hubspot has no option 'GONE' for 'lead_status'; it has NEW, OPEN, IN_PROGRESS, OPEN_DEAL, UNQUALIFIED, "
        "ATTEMPTED_TO_CONTACT, CONNECTED, BAD_TIMING",
    ]
    with pytest.raises(PolicyRefused, match="599"):
        started(clinic)


async def test_without_a_policy_the_account_is_examined_all_the_same(clinic: Clinic) -> None:
    report = await examined(clinic, policy=False)
    assert not_ok(report).keys() == {"hubspot.policy", "hubspot.clock"}
    assert set(states(report).values()) == {State.OK, State.SKIPPED}
    report = Report()
    await targets.examine(load({}, dotenv=None), None, SystemClock(), report)
    assert report.findings == []


@pytest.mark.parametrize(("ours", "says"), [(90, "ahead of"), (-90, "behind")])
async def test_a_clock_of_ours_that_is_wrong(clinic: Clinic, ours: float, says: str) -> None:
    state, text = said(found(await examined(clinic, clock=AheadOfTime(ours)), "hubspot.clock"))
    assert state is State.WRONG
    assert f"s {says} that of HubSpot" in text
    assert "ours is 8" in text or "ours is 9" in text
    assert "clock_margin_seconds" in text


async def test_a_clock_of_hubspots_that_is_wrong(clinic: Clinic) -> None:
    clinic.control.advance(30)
    assert "behind that of HubSpot" in found(await examined(clinic), "hubspot.clock").says
