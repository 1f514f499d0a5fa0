"""`leadproof catch-up hubspot`: from contacts that no delivery told of to leads that are done; what people are told."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment
from typer.testing import CliRunner, Result

from console.cli import app
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.events import Outcome
from sandbox.server import running
from tests.support.house import House, a_house, quick_policy

WATCHED = 'properties = ["email", "company", "country"]'
REFUSAL = {"status": "error", "category": "MISSING_SCOPES"}
NOTHING = {
    "records": 0,
    "gone": 0,
    "seen": 0,
    "started": 0,
    "duplicate": 0,
    "conflict": 0,
    "ignored": 0,
    "echo": 0,
    "quarantined": 0,
}


@pytest.fixture(scope="module")
def hubspot() -> Iterator[str]:
    """A HubSpot whose search knows at once what was written."""
    with running(search_lag=0) as address:
        yield address


async def catch_up(house: House, *arguments: str, **environment: str) -> Result:
    def invoke() -> Result:
        command = ["catch-up", "hubspot", *arguments]
        return CliRunner().invoke(app, command, env={**house.environment, **environment})

    return await asyncio.to_thread(invoke)


async def counts(house: House, *arguments: str) -> dict[str, Any]:
    """The counts of a catch-up that came to its end, without those that are zero."""
    answer = await catch_up(house, "--since", "1h", "--json", *arguments)
    assert answer.exit_code == 0, (answer.output, answer.exception)
    told: dict[str, Any] = json.loads(answer.output)
    assert told.pop("complete") is True
    assert told.pop("dry_run") is ("--dry-run" in arguments)
    assert set(told) == set(NOTHING)
    return {name: count for name, count in told.items() if count}


async def test_a_contact_that_no_delivery_told_of_becomes_a_lead_and_our_own_write_does_not(
    own_temporal: WorkflowEnvironment, tmp_path: Path, hubspot: str
) -> None:
    policy = quick_policy(**{WATCHED: 'properties = ["hs_lead_status"]'})
    async with a_house(own_temporal.client, tmp_path, policy=policy, sandbox=hubspot) as house:
        house.control.post("/reset")
        record = house.contact()
        assert await counts(house, "--dry-run") == {"records": 1, "seen": 1, "started": 1}
        assert house.ledger.lead(house.key_of(record)) is None
        assert await counts(house) == {"records": 1, "seen": 1, "started": 1}
        lead = await house.outcome(house.key_of(record), Outcome.DONE)
        assert lead.deliveries == 1
        assert house.properties(record)["hs_lead_status"]
        written = len(house.writes(record))

        assert await counts(house, "--dry-run") == {"records": 1, "seen": 2, "duplicate": 1, "echo": 1}
        assert await counts(house) == {"records": 1, "seen": 2, "duplicate": 1, "echo": 1}
        assert await counts(house) == {"records": 1, "seen": 2, "duplicate": 2}
        late = await house.deliver(house.creation(record))
        assert (late["received"], late["duplicate"]) == (1, 1)
        assert len(house.writes(record)) == written


async def test_what_people_are_told(own_temporal: WorkflowEnvironment, tmp_path: Path, hubspot: str) -> None:
    async with a_house(own_temporal.client, tmp_path, worker=False, sandbox=hubspot) as house:
        house.control.post("/reset")
        house.contact()
        answer = await catch_up(house, "--since", "1h", "--dry-run", LEADPROOF_TEMPORAL_ADDRESS="127.0.0.1:1")
        assert answer.exit_code == 0
        lines = answer.output.splitlines()
        assert lines[:2] == ["What would be done", "name         value"]
        assert [line.split() for line in lines[2:6]] == [
            ["records", "1"],
            ["gone", "0"],
            ["seen", "4"],
            ["started", "4"],
        ]

        house.control.fault(
            "status", operation="contacts.read", after=0, times=9, args={"status": 403, "body": REFUSAL}
        )
        refused = await catch_up(house, "--since", "1h")
        assert str(refused.exception) == "HubSpot refuses us: 403 MISSING_SCOPES"
        assert refused.output.startswith("What was done, as far as it came\n")
        house.control.delete("/faults")

        other = await catch_up(house, "--since", "1h", LEADPROOF_HUBSPOT_PORTAL_ID="17")
        assert str(other.exception) == "the HubSpot token opens account 62515, LEADPROOF_HUBSPOT_PORTAL_ID names 17"

        away = await catch_up(house, "--since", "1h", "--json", LEADPROOF_HUBSPOT_BASE_URL="http://127.0.0.1:1")
        assert isinstance(away.exception, ConfigurationRefused)
        assert str(away.exception).startswith("HubSpot cannot be reached: nothing was sent")
        assert json.loads(away.output) == {**NOTHING, "dry_run": False, "complete": False}

        without = tmp_path / "without.toml"
        text = (tmp_path / "policy.toml").read_text(encoding="utf-8")
        without.write_text(re.sub(r'\[\[event\]\]\nsource = "hubspot"\n(.+\n)+', "", text), encoding="utf-8")
        nothing = await catch_up(house, "--since", "1h", LEADPROOF_POLICY=str(without))
        assert str(nothing.exception).startswith("the policy acts on no event of HubSpot")
        assert sum(house.ledger.counts().leads.values()) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "yesterday"), "neither a duration such as 2h or 3d nor a time"),
        (("--since", "2026-11-30T08:00:00"), "neither a duration such as 2h or 3d nor a time"),
        (("--since", "9999-12-31T00:00:00Z"), "lies in the future"),
        (("--since", "999999w"), "neither a duration such as 2h or 3d nor a time"),
        (("--since", "1h", "--until", "2h"), "lies before --since"),
    ],
)
def test_a_time_that_is_none_is_refused(arguments: tuple[str, ...], said: str) -> None:
    answer = CliRunner().invoke(app, ["catch-up", "hubspot", *arguments])
    assert answer.exit_code == 2
    assert said in " ".join(answer.output.replace("│", " ").split())
