"""What the doctor says of Salesforce, asked through the real client, and whether a worker starts with it."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.clock import SystemClock
from leadproof.domain.errors import ConfigurationRefused, PolicyRefused
from leadproof.ports import Clock
from tests.workers.clinic import AheadOfTime, Clinic, found, not_ok, said, states
from tests.workers.salesforce_clinic import CONTACTS_TOO, ORG, SAVED_LEADS, US, SalesforceClinic
from workers.compose import check_targets, crms_of
from workers.doctor import configuration, targets
from workers.doctor.report import Report, State

EXTERNAL_ID, MARKER = "Leadproof_External_Id__c", "Leadproof_Effect__c"
OTHER_ORG = "00Dxx0000001gPMEAY"
CHECKS = {EXTERNAL_ID: "salesforce.external-id", MARKER: "salesforce.marker"}


@pytest.fixture
def org(clinic: Clinic, address: str) -> SalesforceClinic:
    return SalesforceClinic(clinic, address)


async def examined(
    org: SalesforceClinic, *, clock: Clock | None = None, policy: bool = True, **other: str | None
) -> Report:
    report = Report()
    read = org.clinic.policy() if policy else None
    await targets.examine(org.clinic.settings(**other), read, clock or SystemClock(), report)
    return report


def started(org: SalesforceClinic, **other: str | None) -> None:
    """What a worker checks of its targets when it starts."""
    settings, policy = org.clinic.settings(**other), org.clinic.policy()
    check_targets(settings, policy, crms_of(settings, policy))


async def test_a_sound_org(org: SalesforceClinic) -> None:
    report = await examined(org)
    assert not_ok(report) == {}
    assert list(states(report)) == [
        f"salesforce.{name}"
        for name in ("token", "account", "permissions", "user", "calls", "external-id", "marker", "policy", "clock")
    ]
    assert US in found(report, "salesforce.user").says
    assert report.offers == []
    assert [row["operation"] for row in org.requests() if row["operation"] and "write" in row["operation"]] == []
    started(org)


async def test_of_several_objects_each_has_to_have_our_fields(org: SalesforceClinic) -> None:
    org.write_policy(**{"[queue.default]\n": CONTACTS_TOO})
    assert [name for name in states(await examined(org)) if "marker" in name or "external-id" in name] == [
        "salesforce.lead.external-id",
        "salesforce.lead.marker",
        "salesforce.contact.external-id",
        "salesforce.contact.marker",
    ]
    started(org)
    org.define(MARKER, None, kind="Contact")
    report = await examined(org)
    assert list(not_ok(report)) == ["salesforce.contact.marker"]
    assert said(found(report, "salesforce.contact.marker")) == (
        State.WRONG,
        "Salesforce has no contact field Leadproof_Effect__c, or our user sees none; see to it in Setup, Object "
        "Manager, Contact, Fields & Relationships that Leadproof_Effect__c is a text field of length 80 with history "
        "tracking on, and that our user's permission set may read and edit it",
    )
    with pytest.raises(ConfigurationRefused, match=r"no contact field Leadproof_Effect__c; `leadproof doctor` says"):
        started(org)


@pytest.mark.parametrize(
    ("lacking", "names"),
    [
        ({"salesforce_url": None}, "LEADPROOF_SALESFORCE_URL"),
        ({"salesforce_client_id": None}, "LEADPROOF_SALESFORCE_CLIENT_ID"),
        ({"salesforce_client_secret": None}, "LEADPROOF_SALESFORCE_CLIENT_SECRET, or LEADPROOF_SALESFORCE_USERNAME"),
        (
            {
                "salesforce_client_secret": None,
                "salesforce_username": "leadproof@example.com",
                "salesforce_private_key": "nowhere.pem",
            },
            "LEADPROOF_SALESFORCE_PRIVATE_KEY to its PEM file",
        ),
    ],
)
async def test_without_whole_credentials_nothing_is_asked_and_no_worker_starts(
    lacking: dict[str, str | None], names: str, org: SalesforceClinic
) -> None:
    report = Report()
    await targets.examine(org.clinic.settings(**lacking), org.clinic.policy(), SystemClock(), report)
    state, text = said(found(report, "salesforce.token"))
    assert (state, names in text) == (State.WRONG, True)
    assert set(states(report).values()) == {State.WRONG, State.SKIPPED}
    assert org.requests() == []
    with pytest.raises(ConfigurationRefused, match=names):
        started(org, **lacking)


async def test_credentials_that_are_not_accepted(org: SalesforceClinic) -> None:
    org.fault("reject_auth", "token.create", times=9)
    report = await examined(org)
    state, text = said(found(report, "salesforce.token"))
    assert state is State.WRONG
    assert "Salesforce refuses us: " in text
    assert "check LEADPROOF_SALESFORCE_CLIENT_ID" in text
    assert "secret-of-the-tests" not in str(report)
    assert set(states(report).values()) == {State.WRONG, State.SKIPPED}
    with pytest.raises(ConfigurationRefused, match="Salesforce refuses us"):
        started(org)


async def test_a_session_that_is_never_good_enough(org: SalesforceClinic) -> None:
    org.control.post("/salesforce", {"refuse_sessions": True})
    report = await examined(org)
    assert "401 INVALID_SESSION_ID" in found(report, "salesforce.token").says
    with pytest.raises(ConfigurationRefused, match="INVALID_SESSION_ID"):
        started(org)


async def test_salesforce_is_down(org: SalesforceClinic) -> None:
    report = await examined(org, salesforce_url="http://127.0.0.1:1")
    state, text = said(found(report, "salesforce.token"))
    assert state is State.WRONG
    assert "Salesforce cannot be reached at http://127.0.0.1:1: " in text
    assert "LEADPROOF_SALESFORCE_URL" in text


async def test_another_organization(org: SalesforceClinic) -> None:
    report = await examined(org, salesforce_org_id=OTHER_ORG)
    finding = found(report, "salesforce.account")
    says = f"the token opens organization {ORG}, LEADPROOF_SALESFORCE_ORG_ID names {OTHER_ORG}"
    assert (finding.state, finding.says) == (State.WRONG, says)
    with pytest.raises(ConfigurationRefused, match=rf"the Salesforce token opens organization {ORG}, .* {OTHER_ORG}"):
        started(org, salesforce_org_id=OTHER_ORG)


async def test_an_organization_that_no_setting_names(org: SalesforceClinic) -> None:
    report = await examined(org, salesforce_org_id=None)
    state, text = said(found(report, "salesforce.account"))
    assert (state, ORG in text) == (State.WARN, True)
    assert report.sound


async def test_a_version_of_the_api_that_there_is_not(org: SalesforceClinic) -> None:
    report = await examined(org, salesforce_api_version="99.0")
    state, text = said(found(report, "salesforce.version"))
    assert (state, "Salesforce has no version 99.0 of its API; it has " in text) == (State.WRONG, True)
    assert not_ok(report).keys() > {"salesforce.version", "salesforce.policy", "salesforce.marker"}
    assert [check for check, state in states(report).items() if state is State.WRONG] == ["salesforce.version"]


@pytest.mark.parametrize(
    ("name", "defined", "says", "starts"),
    [
        (EXTERNAL_ID, {"unique": False}, "is not unique", False),
        (EXTERNAL_ID, {"external_id": False}, "is not marked as an external id", False),
        (EXTERNAL_ID, {"case_sensitive": False}, "unique without regard to case", True),
        (EXTERNAL_ID, {"read_only": True}, "the API cannot set", False),
        (EXTERNAL_ID, {"length": 40}, "holds 40 characters, and what we write to it has 64", True),
        (MARKER, {"read_only": True}, "the API cannot set", False),
        (MARKER, {"tracked": False}, "keeps no history", True),
        (MARKER, {"type": "textarea"}, "is textarea and no text", True),
    ],
)
async def test_a_field_of_ours_that_is_not_what_it_has_to_be(
    name: str, defined: dict[str, Any], says: str, starts: bool, org: SalesforceClinic
) -> None:
    org.define(name, defined)
    report = await examined(org)
    state, text = said(found(report, CHECKS[name]))
    assert says in text
    assert state is (State.WARN if "case_sensitive" in defined or "tracked" in defined else State.WRONG)
    assert report.offers == []
    if starts:
        started(org)
    else:
        with pytest.raises(ConfigurationRefused, match=f"{name} .*leadproof doctor"):
            started(org)


async def test_a_right_that_lacks(org: SalesforceClinic) -> None:
    may = {"createable": False, "updateable": True, "queryable": True}
    described = {"name": "Lead", **may, "fields": [], "childRelationships": []}
    for mode, expected in (("shadow", State.WARN), ("live", State.WRONG)):
        org.fault("status", "describe.read", args={"status": 200, "body": described})
        report = await examined(org, mode=mode, environment=mode)
        state, text = said(found(report, "salesforce.permissions"))
        assert (state, "our user lacks create on Lead" in text) == (expected, True)


async def test_every_fault_of_the_policy_is_a_line(org: SalesforceClinic) -> None:
    org.define("Industry", None)
    org.write_policy(
        **{
            'dana = "005xx000001Sv6BAAS"': 'dana = "005xx000001Sv6DAAS"',
            'inbound = "00Gxx000000Qu1AEAS"': 'inbound = "00Gxx000000Qu1CEAS"',
            '"no_budget", "spam"]': '"No budget", "duplicate"]',
            '"owner", "lead_status"]': '"owner", "lead_status", "utm_source"]',
        }
    )
    lines = [finding for finding in (await examined(org)).findings if finding.check == "salesforce.policy"]
    active = "active are 005xx000001Sv6AAAS, 005xx000001Sv6BAAS, 005xx000001Sv6CAAS, 00Gxx000000Qu1AEAS (a queue)"
    assert [line.state for line in lines] == [State.WRONG] * 5
    told = [line.says.partition(": ")[2] for line in lines]
    assert told[0].startswith(f"the owner 005xx000001Sv6DAAS (dana) is not active in salesforce; {active}")
    assert told[1].startswith("salesforce has no owner 00Gxx000000Qu1CEAS (inbound); active are ")
    assert told[2:4] == [
        "salesforce has no option 'No budget' for 'disqualification_reason': that is a label, and the value is "
        "'no_budget'",
        "salesforce has no option 'duplicate' for 'disqualification_reason'; it has no_budget, no_authority, no_need, "
        "bad_timing, competitor, spam",
    ]
    assert told[4].startswith("salesforce has no lead property Utm_Source__c (the field 'utm_source'); make it as ")
    assert "Lead, Fields & Relationships that Utm_Source__c is one that holds a text, and that" in (lines[4].do or "")
    with pytest.raises(PolicyRefused, match="005xx000001Sv6DAAS"):
        started(org)


async def test_a_field_without_history_is_told_with_the_action_that_it_stops(org: SalesforceClinic) -> None:
    org.define("Company", {"tracked": False})
    state, text = said(found(await examined(org), "salesforce.policy"))
    assert state is State.WARN
    assert (
        "salesforce keeps no history of company, so that create is refused for a lead that exists; let salesforce "
        "keep it, or say without_history = true; a policy that is changed needs a new version" in text
    )
    started(org)


async def test_a_create_that_can_never_succeed_starts_no_worker(org: SalesforceClinic) -> None:
    org.write_policy(**{'"last_name", "company", "owner"': '"last_name", "owner"'})
    state, text = said(found(await examined(org), "salesforce.policy"))
    needs = "salesforce needs Company for a new lead, and this create may not set it; add 'company' to its fields"
    assert (state, needs in text) == (State.WRONG, True)
    with pytest.raises(PolicyRefused, match="needs Company for a new lead"):
        started(org)


async def test_a_rule_whose_leads_may_lack_what_is_needed_is_told(org: SalesforceClinic) -> None:
    org.write_policy(**{'present = ["last_name", "company"]': 'present = "last_name"'})
    state, text = said(found(await examined(org), "salesforce.policy"))
    assert state is State.WARN
    assert "salesforce makes no lead without Company, and for the rule 'all' a lead need not have it; say" in text
    started(org)


async def test_an_org_without_picklists_of_countries_is_not_asked_for_a_field_that_nobody_can_make(
    org: SalesforceClinic,
) -> None:
    with_country = {'"last_name", "company", "owner"': '"last_name", "company", "country", "owner"'}
    org.write_policy(**with_country)
    org.define("CountryCode", None)
    state, text = said(found(await examined(org), "salesforce.policy"))
    assert state is State.WRONG
    assert (
        "salesforce has no lead property CountryCode (the field 'country'); it is there only where state and country "
        'picklists are on; where they are off, say country = { property = "Country", spec = { type = "country" } } in '
        "[target.salesforce.fields], or take the field out of the policy; a policy that is changed needs a new version"
    ) in text
    mapped = '[target.salesforce.fields]\ncountry = { property = "Country", spec = { type = "country" } }\n\n'
    org.write_policy(**with_country, **{"[owners.salesforce]": f"{mapped}[owners.salesforce]"})
    org.define("Country", {"tracked": True})
    assert not_ok(await examined(org)) == {}
    started(org)


def test_a_source_that_no_rule_is_about_is_told(org: SalesforceClinic) -> None:
    org.write_policy(
        **{"[target.salesforce]\n": SAVED_LEADS, "when = { present": 'when = { source = "website", present'}
    )
    report = Report()
    assert configuration.examine(org.clinic.settings(), report) is not None
    of_it = [finding for finding in report.findings if finding.check == "policy"]
    assert [finding.state for finding in of_it] == [State.OK, State.WARN]
    assert "no rule is about leads of salesforce, so that nothing is ever done at its lead.saved" in of_it[1].says


async def test_without_a_policy_the_org_is_examined_all_the_same(org: SalesforceClinic) -> None:
    report = await examined(org, policy=False, hubspot_token=None)
    assert not_ok(report).keys() == {"salesforce.policy", "salesforce.clock"}
    assert set(states(report).values()) == {State.OK, State.SKIPPED}


async def test_a_clock_of_ours_that_is_wrong(org: SalesforceClinic) -> None:
    state, text = said(found(await examined(org, clock=AheadOfTime(90)), "salesforce.clock"))
    assert state is State.WRONG
    assert "s ahead of that of Salesforce" in text


async def test_calls_that_run_out(org: SalesforceClinic) -> None:
    org.control.post("/salesforce", {"daily_limit": 1000, "daily_used": 900})
    state, text = said(found(await examined(org), "salesforce.calls"))
    assert (state, "of the org's 1000 calls a day are used" in text) == (State.WARN, True)
    started(org)


# -- leads from Salesforce ---------------------------------------------------------------------------------------------
def test_leads_from_salesforce_need_a_path_secret(org: SalesforceClinic) -> None:
    def state_of(**other: str | None) -> State | None:
        report = Report()
        configuration.examine(org.clinic.settings(**other), report)
        return states(report).get("salesforce.path-secret")

    assert state_of() is None
    org.write_policy(**{"[target.salesforce]\n": SAVED_LEADS})
    assert (state_of(), state_of(salesforce_path_secrets=None)) == (State.OK, State.WRONG)


def test_a_crm_from_which_leads_come_has_to_be_a_target(org: SalesforceClinic) -> None:
    event = SAVED_LEADS.replace("[target.salesforce]\n", "[target.hubspot]\n")
    org.clinic.write_policy(**{"[target.hubspot]\n": event, "[sources]\n": "[sources]\nsalesforce = 24\n"})
    policy = org.clinic.policy()
    with pytest.raises(
        ConfigurationRefused, match=r"acts on events of salesforce and has no \[target\.salesforce\], which says how"
    ):
        crms_of(org.clinic.settings(), policy)
