"""What people see of shadow mode at a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from console.cli import app
from leadproof.domain.mutation import Difference, Mutation, Observation, Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.steps import Settlement
from tests.support.ledgers import (
    POLICY_VERSION,
    START,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    planned,
    sqlite_ledger,
)

INTENT = {"owner": "501", "lead_status": "NEW"}
DAY = 86_400
EMBEDDED = Path("leadproof/embedded_policy.toml").read_text(encoding="utf-8")


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

    def run(*arguments: str, after: float = 3600) -> str:
        env = {
            "LEADPROOF_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "LEADPROOF_MODE": "shadow",
            "LEADPROOF_ENVIRONMENT": "test-shadow",
            "LEADPROOF_SHADOW_AFTER_SECONDS": str(after),
            "COLUMNS": "200",
        }
        ended = CliRunner().invoke(app, list(arguments), env=env)
        assert ended.exit_code == 0, (ended.output, ended.exception)
        return ended.output

    return run


def shadowed(
    ledger: OwnedLedger,
    clock: HandClock,
    record: str,
    seen: dict[str, Any] | None,
    by: str | None = None,
    intent: Mapping[str, Any] = INTENT,
) -> Mutation:
    """An effect of shadow mode, planned now and looked at an hour later; `None`: it could not be read."""
    event = a_lead_event(record, environment="test-shadow")
    (mutation,) = planned(ledger, event, a_mutation(event, fields=intent, created_at=clock.now()))
    moment = clock.forward(3600)
    differences = tuple(
        Difference(field=name, intended=intent[name], observed=value, changed_by=by, changed_at=moment if by else None)
        for name, value in (seen or {}).items()
        if value != intent[name]
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


def test_before_anything_was_planned_there_is_nothing_to_report(said: Said) -> None:
    assert said("shadow", "report") == "Nothing has been planned in shadow mode yet.\n"
    assert json.loads(said("shadow", "report", "--json")) == {
        "effects": 0,
        "leads": 0,
        "unread": 0,
        "first_planned_at": None,
        "last_planned_at": None,
        "waiting": 0,
        "next_look_at": None,
        "fields": [],
        "otherwise": [],
    }


def test_before_anything_was_looked_at_the_report_says_when_that_will_be(
    said: Said, ledger: OwnedLedger, clock: HandClock
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    for record, environment, ago in (("1", "old-shadow", 9999), ("2", "test-shadow", 600), ("3", "test-shadow", 60)):
        clock.forward((now - timedelta(seconds=ago) - clock.now()).total_seconds())
        event = a_lead_event(record, environment=environment)
        planned(ledger, event, a_mutation(event))
    due = (now + timedelta(minutes=50)).isoformat()
    assert re.fullmatch(
        r"2 effects wait to be looked at, 3600 s after the plan; the next look is at "
        rf"{re.escape(due)}, in (49|50) min\.\n",
        said("shadow", "report"),
    )
    assert json.loads(said("shadow", "report", "--json"))["next_look_at"] == due
    late = said("shadow", "report", after=300)
    assert f"the first since {(now - timedelta(minutes=5)).isoformat()}: a worker in shadow mode has to run" in late


def test_the_report_counts_per_field_how_often_they_agree(said: Said, ledger: OwnedLedger, clock: HandClock) -> None:
    version = parse_policy(EMBEDDED).version
    ledger.load_policy(parse_policy(EMBEDDED.replace(f'version = "{version}"', f'version = "{POLICY_VERSION}"')))
    shadowed(ledger, clock, "1", INTENT)
    clock.forward(DAY)
    shadowed(ledger, clock, "2", INTENT | {"owner": "503"}, "person:9")
    shadowed(ledger, clock, "3", INTENT | {"owner": None, "lead_status": None})
    shadowed(ledger, clock, "4", None)
    shadowed(ledger, clock, "5", INTENT | {"owner": "777"}, "automation:3")
    lines = said("shadow", "report").splitlines()
    assert lines[0].startswith("5 effects of 5 leads, planned 2026-03-02T09:00:00+00:00 to 2026-03-03T13:00:00+00:00;")
    assert "1 of them could not be read" in lines[0]
    assert re.split(r" {2,}", lines[1]) == [
        *("field", "equal", "by a person", "by software", "untouched", "not seen", "agreed")
    ]
    assert [line.split() for line in lines[2:4]] == [
        ["lead_status", "3", "0", "0", "1", "1", "100%"],
        ["owner", "1", "1", "1", "1", "1", "33%"],
    ]
    assert any(line.startswith("untouched: nobody has set it since the plan was made") for line in lines)
    begin = lines.index("Where it was set otherwise")
    assert [re.split(r" {2,}", line) for line in lines[begin + 2 : begin + 4]] == [
        ["owner", "501 (dana)", "503 (mira)", "by a person", "1"],
        ["owner", "501 (dana)", "777", "by software", "1"],
    ]


def test_the_report_is_also_for_programs(said: Said, ledger: OwnedLedger, clock: HandClock) -> None:
    shadowed(ledger, clock, "1", INTENT)
    clock.forward(DAY)
    shadowed(ledger, clock, "2", INTENT | {"owner": "503"}, "person:9")
    shadowed(ledger, clock, "3", INTENT | {"owner": None})
    since = (START + timedelta(days=1)).isoformat()
    later = json.loads(said("shadow", "report", "--since", since, "--json"))
    assert (later["effects"], later["unread"]) == (2, 0)
    counted = {"person": 1, "software": 0, "unknown": 0, "untouched": 1, "unseen": 0}
    assert later["fields"][1] == {"field": "owner", "equal": 0, **counted, "agreed": 0.0}
    assert [(one["intended"], one["observed"], one["by"], one["times"]) for one in later["otherwise"]] == [
        ("501", "503", "person", 1)
    ]
    assert json.loads(said("shadow", "report", "--last", "1", "--json"))["effects"] == 1


def test_what_a_lead_may_have_written_is_counted_and_not_shown(
    said: Said, ledger: OwnedLedger, clock: HandClock
) -> None:
    shadowed(ledger, clock, "1", {"company": "Acme Holding"}, "person:9", intent={"company": "Acme"})
    shown = said("shadow", "report")
    assert "company" in shown
    assert "Acme" not in shown + said("shadow", "report", "--json")


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
