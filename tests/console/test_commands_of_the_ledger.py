"""What commands say of a ledger: lists with keys that can be copied, and what matters first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from console.cli import app
from console.leaving import CommandRefused
from leadproof.domain.errors import NotFound
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.references import reference
from leadproof.domain.review import Decision
from leadproof.domain.steps import Arrival
from tests.ledger.steps import answered, decide, divergent, settled, won
from tests.support.ledgers import (
    POLICY_VERSION,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    planned,
    sqlite_ledger,
)

Said = Callable[..., str]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[OwnedLedger]:
    with sqlite_ledger(tmp_path / "ledger.db", HandClock()) as opened:
        yield opened


@pytest.fixture
def decided(ledger: OwnedLedger) -> Mutation:
    """An effect that a person decided about, and a wrong decision before that."""
    event = a_lead_event("103")
    (mutation,) = planned(ledger, event, a_mutation(event, fields={"owner": "502", "message": "so long " * 99}))
    item = divergent(ledger, HandClock(), mutation)
    ledger.record_malformed("d0", reviewer="temporal:kofi", via="signal", why="wrong", review_id=item.review_id)
    decide(ledger, item, Decision.ACCEPT)
    return mutation


def environment(tmp_path: Path) -> dict[str, str]:
    return {"LEADPROOF_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}", "COLUMNS": "200"}


@pytest.fixture
def said(ledger: OwnedLedger, tmp_path: Path) -> Said:
    """What a command prints."""

    def run(*arguments: str) -> str:
        ended = CliRunner().invoke(app, list(arguments), env=environment(tmp_path))
        assert ended.exit_code == 0, (ended.output, ended.exception)
        return ended.output

    return run


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line)


def test_a_lead_is_found_by_the_record_that_it_is_about(said: Said, ledger: OwnedLedger, decided: Mutation) -> None:
    nothing_done = a_lead_event("104")
    ledger.admit([Arrival(event=nothing_done)])
    ledger.close_event(nothing_done.event_key, Outcome.NOTHING_TO_DO)
    head, *lines = said("lead", "list").splitlines()
    assert cells(head)[:6] == [
        *("event_key", "environment", "source_system", "source_record_id", "event_kind", "outcome")
    ]
    assert sorted(cells(line)[3] for line in lines) == ["103", "104"]
    (_, line) = said("lead", "list", "--source-record-id", "104").splitlines()
    assert (cells(line)[0], cells(line)[5]) == (nothing_done.event_key[:12], "nothing_to_do")
    (item,) = json.loads(said("lead", "list", "--outcome", "nothing_to_do", "--json"))["items"]
    assert item["event_key"] == nothing_done.event_key
    more = said("lead", "list", "--limit", "1").splitlines()[-1]
    (rest,) = json.loads(said("lead", "list", "--json", "--cursor", more.rpartition(" ")[2]))["items"]
    assert rest["source_record_id"] in {"103", "104"}


def test_an_outcome_that_there_is_not_is_told_which_there_are(ledger: OwnedLedger, tmp_path: Path) -> None:
    error = refused(tmp_path, "lead", "list", "--outcome", "lost")
    assert isinstance(error, CommandRefused)
    assert "nothing_to_do" in str(error)


def test_a_list_of_effects_leads_to_the_lead_and_names_the_environment(said: Said, decided: Mutation) -> None:
    head, line = said("mutation", "list").splitlines()
    assert cells(head)[:3] == ["mutation_key", "event_key", "environment"]
    assert cells(line)[:3] == [decided.mutation_key[:12], decided.event_key[:12], decided.environment]


def test_the_first_digits_of_a_key_are_enough(said: Said, decided: Mutation) -> None:
    for command, key in (("mutation", decided.mutation_key), ("lead", decided.event_key)):
        whole = said(command, "show", key, "--json")
        assert said(command, "show", key[:12], "--json") == said(command, "show", key[:6], "--json") == whole
    assert said("lead", "show", f"lead:{decided.event_key}:r1") == said("lead", "show", decided.event_key)


def test_digits_that_begin_no_key_or_are_too_few_find_nothing(tmp_path: Path, decided: Mutation) -> None:
    for digits in ("0" * 12, "%%%%%%"):
        assert isinstance(refused(tmp_path, "mutation", "show", digits), NotFound)
    short = refused(tmp_path, "mutation", "show", decided.mutation_key[:5])
    assert isinstance(short, CommandRefused)
    assert "six digits at least" in str(short)


def test_digits_that_begin_several_keys_are_refused(tmp_path: Path, ledger: OwnedLedger) -> None:
    ledger.admit([Arrival(event=a_lead_event(last, event_key="abcdef" + last * 58)) for last in "12"])
    error = refused(tmp_path, "lead", "show", "abcdef")
    assert isinstance(error, CommandRefused)
    assert "several keys begin with abcdef" in str(error)
    assert refused(tmp_path, "lead", "show", "abcdef1") is None


def refused(tmp_path: Path, *arguments: str) -> BaseException | None:
    return CliRunner().invoke(app, list(arguments), env=environment(tmp_path)).exception


def test_what_matters_of_a_lead_comes_first_and_no_cell_is_a_document(said: Said, decided: Mutation) -> None:
    shown = said("lead", "show", decided.event_key)
    assert cells(shown.splitlines()[1]) == ["outcome", "superseded"]
    for heading in ("Plan by rules: as the rules say", "Mutations", "Fields: before", "Decisions", "The row"):
        assert heading in shown
    plan = shown.split("\n\n")[1]
    assert "owner=502, message=so long so long so long so long so..." in plan
    assert max(map(len, plan.splitlines())) < 300
    assert "malformed" in shown
    assert "temporal:kofi" in shown
    lead = json.loads(said("lead", "show", decided.event_key, "--json"))
    assert [decision["verdict"] for decision in lead["decisions"]] == ["malformed", "applied"]


def test_what_matters_of_an_effect_comes_first_and_no_cell_is_a_document(said: Said, decided: Mutation) -> None:
    shown = said("mutation", "show", decided.mutation_key)
    assert [cells(line) for line in shown.splitlines()[1:3]] == [
        ["mutation_key", decided.mutation_key],
        ["status", "superseded"],
    ]
    for heading in ("because", "Fields: before", "Attempts", "Observations", "Decisions", "Review item", "The row"):
        assert heading in shown
    assert "{" not in shown


def test_an_effect_that_was_refused_says_what_was_refused(said: Said, ledger: OwnedLedger) -> None:
    event = a_lead_event("105")
    (row,) = planned(ledger, event, a_mutation(event))
    refuses = AnswerClass.REFUSES_THIS
    answered(ledger, won(ledger, row), refuses, http_status=None, code="INVALID", detail="nothing was sent: no owner")
    settled(ledger, row, Status.REJECTED, Reason.REFUSES_THIS)
    shown = said("mutation", "show", row.mutation_key)
    assert "hubspot would refuse this write, and nothing was sent: INVALID, no owner" in shown
    attempts = shown.partition("Attempts")[2].splitlines()
    assert (cells(attempts[1])[-2:], cells(attempts[2])[-2:]) == (
        ["code", "detail"],
        ["INVALID", "nothing was sent: no owner"],
    )


def test_a_lead_is_shown_with_the_names_of_owners_and_no_form_of_ours(said: Said, ledger: OwnedLedger) -> None:
    embedded = Path("leadproof/embedded_policy.toml").read_text(encoding="utf-8")
    version = parse_policy(embedded).version
    ledger.load_policy(parse_policy(embedded.replace(f'version = "{version}"', f'version = "{POLICY_VERSION}"')))
    event = a_lead_event("106")
    planned(ledger, event, a_mutation(event, fields={"owner": "502", "salesforce_id": reference(0)}))
    plan, _, fields = said("lead", "show", event.event_key).split("\n\n")[1:4]
    assert "owner=502 (kofi), salesforce_id=the id of the record of action 0" in plan
    assert "502 (kofi)" in fields
    (mutation,) = ledger.mutations_of(event.event_key)
    assert "502 (kofi)" in said("mutation", "show", mutation.mutation_key)
