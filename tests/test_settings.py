"""What makes no sense as a setting is refused in one sentence that names the variable and never its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings, load

ADDRESSES = ("PUBLIC_URL", "STARTER_URL", "TEMPORAL_UI_URL", "HUBSPOT_BASE_URL", "ANTHROPIC_BASE_URL")
DURATIONS = ("SWEEP_SECONDS", "SWEEP_AGE_SECONDS", "SHUTDOWN_SECONDS", "SHADOW_AFTER_SECONDS")
IN_HEADERS = ("HUBSPOT_TOKEN", "ANTHROPIC_API_KEY", "TEMPORAL_API_KEY")
PROPERTIES = ("HUBSPOT_EXTERNAL_ID_PROPERTY", "HUBSPOT_MARKER_PROPERTY")


def loaded(name: str, value: str) -> Settings:
    return load({f"LEADPROOF_{name}": value}, dotenv=None)


def refused(name: str, value: str) -> str:
    with pytest.raises(ConfigurationRefused) as error:
        loaded(name, value)
    said = str(error.value)
    assert "\n" not in said
    assert "Value error" not in said
    return said


@pytest.mark.parametrize("name", ADDRESSES)
@pytest.mark.parametrize(
    "value",
    [
        "notaurl",
        "leads.example.com",
        "ftp://leads.example.com",
        "https://",
        "https:///path",
        "https://leads.example.com?x=1",
        "https://leads.example.com/#x",
        "https://leads.example.com/?",
        "https://me:s3cret@leads.example.com",
        "https://leads.example.com:0",
        "https://leads.example.com:65536",
        "https://leads.example.com:port",
        "https://leads example.com",
        "https://lëads.example.com",
        "https://[::1",
        "https://leads.example.com/ä",
        "https://leads.example.com/a b",
        "https://leads.example.com/a\\b",
        "https:\\\\leads.example.com",
    ],
)
def test_an_address_that_nothing_answers_at(name: str, value: str) -> None:
    said = refused(name, value)
    assert said.startswith(f"these settings are wrong: LEADPROOF_{name}: an address is http://HOST")
    assert "s3cret" not in said


@pytest.mark.parametrize("name", ADDRESSES)
@pytest.mark.parametrize(
    "value", ["http://127.0.0.1:8080", "https://leads.example.com/", "http://[::1]:80/a/b", "http://demo-starter:8080"]
)
def test_an_address(name: str, value: str) -> None:
    assert getattr(loaded(name, value), name.lower()) == value


@pytest.mark.parametrize("value", ["http://127.0.0.1:7233", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "a b:7233"])
def test_what_no_grpc_client_connects_to(value: str) -> None:
    assert refused("TEMPORAL_ADDRESS", value).endswith("LEADPROOF_TEMPORAL_ADDRESS: it is HOST:PORT, without http://")


@pytest.mark.parametrize("name", DURATIONS)
@pytest.mark.parametrize("value", ["1e12", "1e300", "inf", "-inf", "nan", "0", "-1", "soon"])
def test_a_duration_that_no_timer_takes(name: str, value: str) -> None:
    assert refused(name, value).startswith(f"these settings are wrong: LEADPROOF_{name}: ")


def test_a_schedule_runs_at_most_once_a_second() -> None:
    refused("SWEEP_SECONDS", "0.001")
    assert loaded("SWEEP_SECONDS", "1").sweep_seconds == 1


@pytest.mark.parametrize("name", IN_HEADERS)
@pytest.mark.parametrize("value", ["s3 cret", "s3cret\n", "s3crét", "\ts3cret", "s3cret\r\nX-Other: 1"])
def test_a_secret_that_no_header_can_carry(name: str, value: str) -> None:
    said = refused(name, value)
    assert said.startswith(f"these settings are wrong: LEADPROOF_{name}: it has a space, a line break")
    assert "s3cr" not in said


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("form:events:s3cret,form:read:other", "several tokens are named form; give each a name of its own"),
        ("form:events:s3cret,team:read:s3cret", "form and team are the same token; give each a text of its own"),
        (
            "form:events:s3 cret",
            "entry 1: it has a space, a line break or another character that an HTTP header cannot carry",
        ),
        (
            "form:events:s3crét",
            "entry 1: it has a space, a line break or another character that an HTTP header cannot carry",
        ),
        ("a form:events:s3cret", "entry 1: a name has letters, digits and any of `_.@-`, and is at most 60 long"),
        ("form:events", "an entry is `name:right+right:token`"),
        ("team:read:other,form:fly:s3cret", "entry 2: Input should be 'events', 'read' or 'decide'"),
    ],
)
def test_tokens_that_cannot_be_told_apart_or_sent(value: str, says: str) -> None:
    assert refused("API_TOKENS", value) == f"these settings are wrong: LEADPROOF_API_TOKENS: {says}"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("website=,", "an entry is `source=whsec_...`"),
        ("=whsec_czNjcmV0", "an entry is `source=whsec_...`"),
        ("website", "an entry is `source=whsec_...`"),
        ("website=whsec_a;website=whsec_b", "the source website is there twice; list all its secrets in one entry"),
    ],
)
def test_sources_without_a_secret_or_with_two_entries(value: str, says: str) -> None:
    assert refused("STANDARD_SECRETS", value) == f"these settings are wrong: LEADPROOF_STANDARD_SECRETS: {says}"


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize(
    "value",
    ["Leadproof", "1st", "lead-proof", "lead proof", "_x", "ä", "x" * 101, "hs_lead_status", "hubspot_owner_id"],
)
def test_a_property_that_hubspot_cannot_have_or_has_itself(name: str, value: str) -> None:
    assert refused(name, value).startswith(f"these settings are wrong: LEADPROOF_{name}: ")


def test_external_id_and_marker_are_two_properties() -> None:
    assert "both name the same one" in refused("HUBSPOT_MARKER_PROPERTY", "leadproof_external_id")


@pytest.mark.parametrize("name", ["HUBSPOT_PORTAL_ID", "HUBSPOT_APP_ID"])
def test_an_account_is_a_number(name: str) -> None:
    assert "it is a number, as HubSpot shows it" in refused(name, "our_own")


@pytest.mark.parametrize("value", ["de\x00fault", "de\x1bfault", "de\udcfffault"])
@pytest.mark.parametrize("name", ["TENANT", "POLICY", "LEDGER_URL", "DECISION_KEY"])
def test_what_no_text_holds(name: str, value: str) -> None:
    said = f"these settings hold a control character or are no UTF-8: LEADPROOF_{name}"
    assert refused(name, value) == said


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_bytes(b"LEADPROOF_TENANT=acm\xe9\n")
    with pytest.raises(ConfigurationRefused, match=r"the file .*\.env is not UTF-8; save it as UTF-8"):
        load({}, dotenv=dotenv)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("https://login.salesforce.com", "the login page of every org; take the My Domain address"),
        ("https://Test.Salesforce.com/", "the login page of every org; take the My Domain address"),
        ("https://acme.lightning.force.com", "(Lightning); take the My Domain address, https://NAME.my.salesforce.com"),
        ("https://acme--uat.sandbox.lightning.force.com/lightning/page/home", "(Lightning); take the My Domain"),
        ("https://acme.my.salesforce.com", None),
        ("https://acme--uat.sandbox.my.salesforce.com", None),
        ("http://localhost:8090", None),
        ("http://127.0.0.1:8090", None),
    ],
)
def test_an_org_is_reached_at_its_my_domain(address: str, says: str | None) -> None:
    if says is None:
        assert loaded("SALESFORCE_URL", address).salesforce_url == address
        return
    said = refused("SALESFORCE_URL", address)
    assert "LEADPROOF_SALESFORCE_URL: that is" in said
    assert says in said
    assert address not in said
