"""What people see of a question at a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from console.cli import app
from console.leaving import CommandRefused
from console.review_words import age, due
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


def shown(url: str, *, more: dict[str, Any] | None = None, **changes: Any) -> str:
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
    Starter.answer = (200, facts | about | {"mutation": mutation} | (more or {}))
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
def test_digits_of_no_question_lead_to_the_open_ones(url: str, command: tuple[str, ...]) -> None:
    Starter.answer = (200, {"items": [], "next": None})
    name, *rest = command
    error = asked(url, name, REVIEW[:12], *rest).exception
    assert isinstance(error, CommandRefused)
    assert "no question begins with abababababab" in str(error)
    assert "leadproof review list" in str(error)
    # those that are closed are looked at as well, after the open ones
    assert [path for _, path, _ in Starter.asked] == ["/v1/reviews?state=open&limit=200", "/v1/reviews?limit=200"]
    error = asked(url, name, REVIEW[:4], *rest).exception
    assert isinstance(error, CommandRefused)
    assert "six digits at least" in str(error)


def test_what_follows_from_a_decision_is_told_with_it(url: str) -> None:
    why = "a newer event has set the same since, so nothing is written"
    Starter.answer = (200, {"version": 1, "shown_digest": "d", "verdict": "applied", "why": why})
    assert f"The decision approve is applied; {why}." in asked(url, "decide", REVIEW, "approve").output
    Starter.answer = (200, {"version": 1, "shown_digest": "d", "verdict": "applied", "why": None})
    assert "The decision approve is applied.\n" in asked(url, "decide", REVIEW, "approve").output


NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def an_item(**changes: Any) -> dict[str, Any]:
    times = {"opened_at": "2026-12-01T09:00:00Z", "due_at": "2026-12-01T13:30:00Z", "expires_at": None}
    facts = dict.fromkeys(("queue", "reason", "source_record_id", "why"), "-")
    return {"review_id": REVIEW, **facts, **times, "state": "open", "closed_at": None} | changes


def test_a_question_says_its_age_and_when_it_is_due() -> None:
    item = an_item()
    assert (age(item, NOW), due(item, NOW)) == ("3 h", "in 1 h")
    assert due(an_item(due_at="2026-12-01T10:00:00Z"), NOW) == "OVERDUE by 2 h"
    ends = an_item(expires_at="2026-12-03T09:00:00Z")
    assert due(ends, NOW) == "in 1 h, given up in 1 day"
    past = an_item(due_at="2026-12-01T10:00:00Z", expires_at="2026-12-01T11:59:59Z")
    assert due(past, NOW) == "OVERDUE by 2 h, given up as soon as its run looks"
    closed = an_item(state="expired", closed_at="2026-12-01T10:30:00.5Z")
    assert (age(closed, NOW), due(closed, NOW)) == ("1 h", "closed 2026-12-01 10:30:00+00:00")


def test_the_list_shows_age_and_what_is_overdue(url: str) -> None:
    long_ago = an_item(opened_at="2020-01-01T09:00:00Z", due_at="2020-01-02T09:00:00Z")
    Starter.answer = (200, {"items": [long_ago], "next": None})
    told = asked(url, "list").output
    assert "OVERDUE by" in told
    assert "age" in told


def test_what_each_decision_does_and_what_waits_is_shown(url: str) -> None:
    waits = {"mutation_key": "cd" * 32, "event_key": "ef" * 32, "source_record_id": "77", "action_kind": "qualify"}
    told = shown(url, more={"does": {"approve": "Write owner = kofi"}, "waiting": [waits]})
    assert "Write owner = kofi" in told
    assert "These wait for the same record" in told
    assert "cd" * 32 in told


MANY = {
    "answers": [
        {"review_id": REVIEW, "mutation_key": "cd" * 32, "verdict": "applied", "why": None, "until": None},
        {"review_id": "ef" * 32, "mutation_key": None, "verdict": "stale", "why": "it moved on", "until": None},
    ],
    "applied": 1,
    "kept": 0,
    "refused": 1,
    "more": True,
}


def test_all_of_a_reason_are_decided_by_one_command(url: str) -> None:
    Starter.answer = (200, MANY)
    ended = asked(url, "decide", "--all-of", "target_refuses_us", "--queue", "default", "retry", "--reason", "new key")
    assert ended.exit_code == 1  # one was refused
    assert "1 applied, 0 kept to be applied later, 1 refused." in ended.output
    assert "it moved on" in ended.output
    assert "the same command goes on with them" in ended.output
    ((method, path, _),) = Starter.asked
    assert (method, path) == ("POST", "/v1/reviews/decisions")
    assert json.loads(Starter.bodies[0]) == {
        "decision": "retry",
        "reason": "new key",
        "all_of": {"reason": "target_refuses_us", "queue": "default", "target_system": None},
    }


def test_what_waits_behind_a_question_is_decided_with_it(url: str) -> None:
    Starter.answer = (200, {"version": 3, "shown_digest": "d", **MANY, "refused": 0, "more": False})
    ended = asked(url, "decide", REVIEW, "abandon", "--behind")
    assert ended.exit_code == 0
    assert Starter.asked[-1][1] == "/v1/reviews/decisions"
    assert json.loads(Starter.bodies[-1])["behind"] == {"review_id": REVIEW, "version": 3, "shown_digest": "d"}


@pytest.mark.parametrize(
    "words",
    [
        ("approve",),
        (REVIEW, "approve", "now"),
        ("--all-of", "uncertain", REVIEW, "retry"),
        ("--queue", "default", REVIEW, "approve"),
        ("--all-of", "uncertain", "--behind", "retry"),
    ],
)
def test_a_command_line_that_cannot_be_meant_is_refused(url: str, words: tuple[str, ...]) -> None:
    ended = asked(url, "decide", *words)
    assert ended.exit_code == 2
