"""What people see of a question at a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner, Result

from console.cli import app
from console.leaving import CommandRefused
from tests.console.test_starter_api import TOKENS, Starter, url

__all__ = ["url"]

REVIEW = "ab" * 32
LEAD = "00Q000000000001AAA"
DECISION = {
    "decided_at": "2026-11-30T08:00:00Z",
    "decision": "approve",
    "reviewer": "api:reviewer",
    "via": "api",
    "verdict": "applied",
    "reason": "looks right",
}


def asked(url: str, *arguments: str) -> Result:
    env = {"LEADPROOF_STARTER_URL": url, "LEADPROOF_API_TOKENS": TOKENS, "COLUMNS": "200"}
    return CliRunner().invoke(app, ["review", *arguments], env=env)


def shown(url: str, **changes: Any) -> str:
    """What `review show` prints of a question about a lead that was to be made."""
    names = ("review_id", "queue", "reason", "why", "state", "due_at", "source_system", "source_record_id")
    facts = dict.fromkeys((*names, "event_key", "mutation_key", "round", "version"), "-")
    record = {
        "target_system": "salesforce",
        "target_object": "lead",
        "provider_record_id": LEAD,
        "linked": False,
        "unique_fields": {"email": "dana@example.com"},
    }
    mutation = {
        "action_kind": "create",
        "target_system": "salesforce",
        "target_object": "lead",
        "provider_record_id": LEAD,
        "status": "reserved",
        "base_state": {"owner": "501"},
        "intended_state": {"record": record, "fields": {"owner": "502"}, "evidence": []},
        "observed_state": None,
        "differences": [],
    } | changes
    about = {"allowed": ["approve"], "plan": None, "owners": {"502": "kofi"}, "decisions": [DECISION]}
    Starter.answer = (200, facts | about | {"mutation": mutation})
    ended = asked(url, "show", REVIEW)
    assert ended.exit_code == 0, ended.exception
    return ended.output


def test_what_was_to_be_made_and_stands_there_already_is_said_to_be_written_to(url: str) -> None:
    told = shown(url)
    assert f"salesforce already has lead {LEAD} with the same email: the fields below are written to it" in told
    assert f"write to salesforce lead {LEAD}: reserved" in told
    assert "create" not in told
    assert "502 (kofi)" in told
    assert "dana" not in told


def test_a_decided_question_says_what_was_decided_by_whom_and_why(url: str) -> None:
    told = shown(url)
    assert all(value in told for value in DECISION.values())


def test_a_change_is_told_in_whole_seconds(url: str) -> None:
    difference = {
        "field": "owner",
        "intended": "502",
        "observed": "503",
        "lost": None,
        "changed_by": "person:9001",
        "changed_at": "2026-11-30T12:37:48.000004Z",
    }
    assert "2026-11-30 12:37:48+00:00" in shown(url, differences=[difference])


@pytest.mark.parametrize("command", [("show",), ("decide", "approve")])
def test_digits_of_no_open_question_lead_to_the_decided_ones(url: str, command: tuple[str, ...]) -> None:
    Starter.answer = (200, {"items": [], "next": None})
    name, *rest = command
    error = asked(url, name, REVIEW[:12], *rest).exception
    assert isinstance(error, CommandRefused)
    assert "no open question begins with abababababab" in str(error)
    assert "--state decided" in str(error)
    error = asked(url, name, REVIEW[:4], *rest).exception
    assert isinstance(error, CommandRefused)
    assert "six digits at least" in str(error)


def test_what_follows_from_a_decision_is_told_with_it(url: str) -> None:
    why = "a newer event has set the same since, so nothing is written"
    Starter.answer = (200, {"version": 1, "shown_digest": "d", "verdict": "applied", "why": why})
    assert f"The decision approve is applied; {why}." in asked(url, "decide", REVIEW, "approve").output
    Starter.answer = (200, {"version": 1, "shown_digest": "d", "verdict": "applied", "why": None})
    assert "The decision approve is applied.\n" in asked(url, "decide", REVIEW, "approve").output
