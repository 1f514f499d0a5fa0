"""Provider calls of leads that have to do with Salesforce, by the sandbox's request log."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from typing import Any

from bench.deployment import ROOT, Deployment, NotAsExpected, environment
from bench.report import Goal, Section
from bench.samples import median_of
from bench.stage import Stage, contact_calls

_WITHIN_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_TIMES = 3

_ROUTED = {
    "hubspot contacts.read": "the source record as the plan stands on it, the check before the mark, which had "
    "waited, and its read-back",
    "hubspot contacts.write": "HubSpot is told the id",
    "salesforce leads.read": "the look-up by external id and e-mail before the plan, the same before the create, and "
    "the read-back",
    "salesforce leads.write": "the lead is made",
}
_QUALIFIED = {
    "salesforce leads.read": "the source record as the plan stands on it, and the read-back",
    "salesforce leads.write": "the effect",
}
_IMPORT = "import time; began = time.perf_counter(); import {0}; print(time.perf_counter() - began)"


async def measure(stage: Stage) -> Section:
    """A lead that goes from HubSpot to Salesforce, and one that Salesforce tells of; the first ones don't count."""
    section = Section("Leads in two systems")
    for counted in (False, True):
        calls = await _routed(stage, counted=counted)
    _say(section, "A HubSpot lead that is made in Salesforce, and HubSpot told its id", calls, _ROUTED)
    for counted in (False, True):
        calls = await _qualified(stage, counted=counted)
    _say(
        section,
        "A lead of Salesforce, qualified there; every field of the intent has its history kept",
        calls,
        _QUALIFIED,
    )
    section.goals.append(
        Goal("provider calls of an undisturbed lead of Salesforce", "at most 4", str(calls.total()), calls.total() <= 4)
    )
    plain, with_salesforce = (_seconds(name) for name in ("leadproof.crm.hubspot", "leadproof.crm.salesforce"))
    section.say(
        f"Importing the adapter of HubSpot takes {plain:.2f} s and that of Salesforce {with_salesforce:.2f} s, each "
        f"with its client library in a fresh process, the median of {_TIMES}. A worker whose policy does not name "
        "Salesforce never imports it."
    )
    return section


async def _routed(stage: Stage, *, counted: bool) -> Counter[str]:
    before = len(_of_salesforce(stage.house))
    record_id = stage.house.contact(country="United Kingdom")
    await stage.lead(record_id)
    calls = (
        Counter(f"hubspot {row['operation']}" for row in contact_calls(stage.house, record_id))
        if counted
        else Counter()
    )
    calls.update(f"salesforce {row['operation']}" for row in _of_salesforce(stage.house)[before:])
    return calls


async def _qualified(stage: Stage, *, counted: bool) -> Counter[str]:
    before = len(_of_salesforce(stage.house))
    record_id = stage.house.salesforce_lead(f"quill{int(counted)}@competitor.example")
    await _done(stage.house, record_id)
    return Counter(f"salesforce {row['operation']}" for row in _of_salesforce(stage.house)[before:])


def _of_salesforce(house: Deployment) -> list[dict[str, Any]]:
    return [row for row in house.requests(provider="salesforce") if str(row["operation"]).startswith("leads.")]


async def _done(house: Deployment, record_id: str) -> None:
    for _ in range(int(_WITHIN_SECONDS / _LOOK_SECONDS)):
        if house.outcomes([record_id]) == {"done": 1}:
            return
        await asyncio.sleep(_LOOK_SECONDS)
    raise NotAsExpected(
        f"a lead of Salesforce is not done within {_WITHIN_SECONDS:.0f} s: {house.outcomes([record_id])}"
    )


def _say(section: Section, what: str, calls: Counter[str], why: dict[str, str]) -> None:
    section.say(f"**{what}: {calls.total()} calls.**")
    section.table(
        ("provider calls", "how many", "why"),
        [(f"`{name}`", number, why.get(name, "**unexplained**")) for name, number in sorted(calls.items())],
    )


def _seconds(module: str) -> float:
    def once() -> float:
        asked = [sys.executable, "-c", _IMPORT.format(module)]
        done = subprocess.run(asked, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
        return float(done.stdout)

    once()  # fills the file cache
    return median_of([once() for _ in range(_TIMES)])
