"""What the doctor says of settings, policy and ledger."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from leadproof.settings import Settings, load
from tests.workers.clinic import Clinic, found, not_ok, said, states
from workers.compose import open_ledger
from workers.doctor import configuration, ledger
from workers.doctor.examination import examine
from workers.doctor.report import Report, State

PROXY = {"review_proxy_header": "X-Forwarded-User", "review_proxy_addresses": "127.0.0.1"}


def examined(clinic: Clinic, **other: str | None) -> Report:
    report = Report()
    configuration.examine(clinic.settings(**other), report)
    return report


async def ledger_examined(clinic: Clinic, *, policy: bool = True, **other: str | None) -> Report:
    report = Report()
    await ledger.examine(clinic.settings(**other), clinic.policy() if policy else None, report)
    return report


def test_a_sound_configuration(clinic: Clinic) -> None:
    report = examined(clinic)
    assert not_ok(report) == {}
    assert report.sound


async def test_settings_that_cannot_be_read_are_one_wrong_line_and_the_rest_is_skipped(clinic: Clinic) -> None:
    def read() -> Settings:
        return load({**clinic.variables(), "LEADPROOF_STARTER_PORT": "many", "LEADPROOF_HUBSPOT_TOKEN": "s3cret"})

    report = await examine(read)
    wrong = found(report, "settings")
    assert said(wrong)[0] is State.WRONG
    assert "LEADPROOF_STARTER_PORT" in wrong.says
    assert "s3cret" not in str(report)
    assert {state for check, state in states(report).items() if check != "settings"} == {State.SKIPPED}
    assert not report.sound


def test_a_mode_that_does_not_fit_its_environment(clinic: Clinic) -> None:
    state, text = said(found(examined(clinic, mode="shadow"), "mode"))
    assert (state, "LEADPROOF_ENVIRONMENT" in text) == (State.WRONG, True)
    assert found(examined(clinic, mode="shadow", environment="shadow"), "mode").state is State.OK


def _line_of(clinic: Clinic, text: str) -> int:
    lines = (clinic.folder / "policy.toml").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_policy_that_is_refused_is_named_with_its_line(clinic: Clinic) -> None:
    clinic.write_policy(**{'kofi = "502"': "kofi = 502"})
    state, text = said(found(examined(clinic), "policy"))
    assert state is State.WRONG
    assert f"line {_line_of(clinic, 'kofi = ')} of the policy" in text
    assert str(clinic.folder) in text


def test_a_policy_that_is_not_there(clinic: Clinic) -> None:
    state, text = said(found(examined(clinic, policy="nowhere.toml"), "policy"))
    assert (state, "LEADPROOF_POLICY" in text) == (State.WRONG, True)


def test_without_a_decision_key_it_depends_on_the_queues(clinic: Clinic) -> None:
    assert found(examined(clinic, decision_key=None), "decision-key").state is State.WARN
    text = clinic.folder.joinpath("policy.toml").read_text(encoding="utf-8")
    clinic.folder.joinpath("policy.toml").write_text(f"{text}\n[queue.legal]\nraw_signals_count = false\n")
    state, says = said(found(examined(clinic, decision_key=None), "decision-key"))
    assert state is State.WRONG
    assert "legal" in says
    assert "LEADPROOF_DECISION_KEY" in says


@pytest.mark.parametrize(
    ("tokens", "says"), [(None, "there are none"), ("form:events:a", "read or decide"), ("reader:read:a", "decide")]
)
def test_api_tokens(clinic: Clinic, tokens: str | None, says: str) -> None:
    state, text = said(found(examined(clinic, api_tokens=tokens), "api-tokens"))
    assert state is State.WARN
    assert says in text
    assert "LEADPROOF_API_TOKENS" in text


@pytest.mark.parametrize(
    ("given", "state", "says"),
    [
        ({"review_key": None}, State.WARN, "nobody can sign in to the review page"),
        ({"reviewers": "dana:reviewer"}, State.WARN, "no proxy says who they are"),
        ({"reviewers": None, **PROXY}, State.WARN, "lets none of them in"),
        ({"reviewers": "dana:reviewer:west+default", **PROXY}, State.WRONG, "does not have (west)"),
        ({"reviewers": "dana:reviewer:default,ada:admin", **PROXY}, State.OK, "for 2 whom the proxy names"),
        ({}, State.OK, "for whoever opens a one-time link"),
    ],
    ids=str,
)
def test_who_can_sign_in_to_the_review_page(
    clinic: Clinic, given: dict[str, str | None], state: State, says: str
) -> None:
    finding = found(examined(clinic, **given), "review-page")
    assert finding.state is state
    assert says in finding.says


def test_without_a_webhook_secret_no_delivery_is_taken(clinic: Clinic) -> None:
    state, text = said(found(examined(clinic, hubspot_webhook_secrets=None), "hubspot.webhook-secret"))
    assert (state, "LEADPROOF_HUBSPOT_WEBHOOK_SECRETS" in text) == (State.WRONG, True)


@pytest.mark.parametrize(
    ("url", "state", "says"),
    [
        ("https://leads.example.com", State.OK, "leads.example.com"),
        ("http://leads.example.com", State.WARN, "unencrypted"),
        ("https://localhost:8080", State.WARN, "cannot be reached"),
        ("http://127.0.0.1:8080", State.WARN, "cannot be reached"),
        ("https://10.1.2.3", State.WARN, "cannot be reached"),
        ("https://[::1]:8080", State.WARN, "cannot be reached"),
    ],
)
def test_the_public_url(clinic: Clinic, url: str, state: State, says: str) -> None:
    finding = found(examined(clinic, public_url=url), "public-url")
    assert finding.state is state
    assert says in finding.says


async def test_a_ledger_of_this_codes_schema(clinic: Clinic) -> None:
    upgrade(clinic.settings().ledger_url)
    assert not_ok(await ledger_examined(clinic)) == {}


async def test_a_ledger_that_was_never_made_says_what_to_run(clinic: Clinic) -> None:
    report = await ledger_examined(clinic)
    assert states(report) == {"ledger": State.OK, "ledger.schema": State.WRONG, "ledger.policy": State.SKIPPED}
    assert "leadproof ledger upgrade" in found(report, "ledger.schema").says


@pytest.mark.parametrize(
    "url",
    ["postgresql+psycopg://nobody:s3cret@127.0.0.1:1/none", "sqlite:///{folder}/text.db", "mysql://s3cret@host/x"],
)
async def test_a_ledger_that_cannot_be_reached_or_is_none(clinic: Clinic, url: str) -> None:
    clinic.folder.joinpath("text.db").write_text(
        "this is no database, but a text that is long enough to be read as one"
    )
    report = await ledger_examined(clinic, ledger_url=url.format(folder=clinic.folder))
    assert states(report) == {"ledger": State.WRONG, "ledger.schema": State.SKIPPED, "ledger.policy": State.SKIPPED}
    text = said(found(report, "ledger"))[1]
    assert "LEADPROOF_LEDGER_URL" in text
    assert "s3cret" not in text


async def test_a_policy_version_that_stands_with_another_text(clinic: Clinic) -> None:
    upgrade(clinic.settings().ledger_url)
    kept = open_ledger(clinic.settings())
    kept.load_policy(clinic.policy())
    kept.close()
    clinic.write_policy(**{"max_attempts = 3": "max_attempts = 4"})
    state, text = said(found(await ledger_examined(clinic), "ledger.policy"))
    assert state is State.WRONG
    assert f"{clinic.policy().version} stands in the ledger with another text" in text
    assert found(await ledger_examined(clinic, policy=False), "ledger.policy").state is State.SKIPPED


def test_a_check_that_fails_itself_is_a_line_and_no_stack_trace() -> None:
    report = Report()
    with report.guarded("a-check"):
        raise KeyError("a-value-that-may-be-personal")
    with report.guarded("another", "do this"):
        raise ConfigurationRefused("what is wrong")
    assert said(found(report, "a-check"))[0] is State.WRONG
    assert "personal" not in str(report)
    assert said(found(report, "another")) == (State.WRONG, "what is wrong; do this")
