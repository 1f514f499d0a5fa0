"""What people see of shadow mode at a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from console.cli import app
from leadproof.domain.mutation import Difference, Mutation, Observation, Reason, Status
from leadproof.domain.steps import Settlement
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned, sqlite_ledger

INTENT = {"owner": "501", "lead_status": "NEW"}
DAY = 86_400


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def ledger(tmp_path: Path, clock: HandClock) -> Iterator[OwnedLedger]:
    with sqlite_ledger(tmp_path / "ledger.db", clock) as ledger:
        yield ledger


Said = Callable[..., str]


@pytest.fixture
def said(ledger: OwnedLedger, tmp_path: Path) -> Said:
    """What a command prints."""

    def run(*arguments: str) -> str:
        ended = CliRunner().invoke(
            app, list(arguments), env={"LEADPROOF_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}", "COLUMNS": "200"}
        )
        assert ended.exit_code == 0, (ended.output, ended.exception)
        return ended.output

    return run


def shadowed(
    ledger: OwnedLedger, clock: HandClock, record: str, seen: dict[str, Any] | None, by: str | None = None
) -> Mutation:
    """An effect of shadow mode, planned now and looked at an hour later; `None`: it could not be read."""
    event = a_lead_event(record, environment="test-shadow")
    (mutation,) = planned(ledger, event, a_mutation(event, fields=INTENT, created_at=clock.now()))
    moment = clock.forward(3600)
    differences = tuple(
        Difference(field=name, intended=INTENT[name], observed=value, changed_by=by, changed_at=moment if by else None)
        for name, value in (seen or {}).items()
        if value != INTENT[name]
    )
    changes = {d.field: [{"value": d.observed, "at": moment.isoformat(), "by": by}] for d in differences}
    presence = "one" if seen is not None else "unknown"
    state = {"presence": presence, **({"fields": seen, "changes": changes} if seen is not None else {})}
    observation = Observation(
        mutation_key=mutation.mutation_key, number=0, read_at=moment, identity="app:42", verdict=presence, state=state
    )
    step = Settlement(status=Status.ABANDONED, reason=Reason.SHADOW, observation=observation, differences=differences)
    settled = ledger.settle(mutation.mutation_key, version=mutation.version, step=step)
    assert settled.won
    return settled.mutation


def test_before_anything_was_looked_at_there_is_nothing_to_report(said: Said, ledger: OwnedLedger) -> None:
    event = a_lead_event(environment="test-shadow")
    planned(ledger, event, a_mutation(event))
    assert said("shadow", "report") == "No effect of shadow mode has been looked at yet.\n"
    assert json.loads(said("shadow", "report", "--json")) == {
        "effects": 0,
        "leads": 0,
        "unread": 0,
        "first_planned_at": None,
        "last_planned_at": None,
        "fields": [],
    }


def test_the_report_counts_per_field_how_often_they_agree(said: Said, ledger: OwnedLedger, clock: HandClock) -> None:
    shadowed(ledger, clock, "1", INTENT)
    clock.forward(DAY)
    shadowed(ledger, clock, "2", INTENT | {"owner": "777"}, "person:9")
    shadowed(ledger, clock, "3", INTENT | {"owner": "778", "lead_status": None})
    shadowed(ledger, clock, "4", None)
    lines = said("shadow", "report").splitlines()
    assert lines[0].startswith("4 effects of 4 leads, planned 2026-03-02T09:00:00+00:00 to 2026-03-03T12:00:00+00:00;")
    assert "1 of them could not be read" in lines[0]
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:-1]}
    assert rows == {"lead_status": ["2", "0", "1", "1", "67%"], "owner": ["1", "1", "1", "1", "33%"]}
    since = (START + timedelta(days=1)).isoformat()
    later = json.loads(said("shadow", "report", "--since", since, "--json"))
    assert (later["effects"], later["unread"]) == (3, 1)
    assert later["fields"][1] == {"field": "owner", "equal": 0, "person": 1, "different": 1, "unseen": 1}
    assert json.loads(said("shadow", "report", "--last", "2", "--json"))["effects"] == 2


def test_what_people_declined_is_no_part_of_it(said: Said, ledger: OwnedLedger) -> None:
    event = a_lead_event()
    (mutation,) = planned(ledger, event, a_mutation(event))
    step = Settlement(status=Status.ABANDONED, reason=Reason.DECLINED)
    assert ledger.settle(mutation.mutation_key, version=mutation.version, step=step).won
    assert json.loads(said("shadow", "report", "--json"))["effects"] == 0


def test_an_effect_is_shown_beside_what_stood_later_and_whose_it_was(
    said: Said, ledger: OwnedLedger, clock: HandClock
) -> None:
    mutation = shadowed(ledger, clock, "1", INTENT | {"owner": "777"}, "person:9")
    for shown in (said("mutation", "show", mutation.mutation_key), said("lead", "show", mutation.event_key)):
        owner = next(line.split() for line in shown.splitlines() if line.split()[1:2] == ["owner"])
        assert owner[:5] == [mutation.mutation_key[:12], "owner", "501", "777", "person:9"]
    listed = said("mutation", "list", "--status", "abandoned")
    assert listed.splitlines()[1].split()[-1] == "owner"
    assert "shadow" in listed


def test_a_time_that_is_none_is_refused() -> None:
    ended = CliRunner().invoke(app, ["shadow", "report", "--since", "yesterday"])
    assert ended.exit_code == 2
    assert "neither a duration" in " ".join(ended.output.replace("│", " ").split())
