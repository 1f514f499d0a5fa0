"""What Claude as the planner adds: time per lead beside the rules, calls, tokens and their price."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
from temporalio.client import Client

from bench.deployment import Deployment, NotAsExpected, deployment
from bench.report import Goal, Section
from bench.samples import median_of
from bench.stage import Stage, Stopwatch
from leadproof.domain.events import Outcome
from workers.plugin import leads_plugin

_LEADS: Final = 20
_KIND: Final = "form.submitted"

_PRICES: Final = {"claude-haiku-5-5": (0.10, 0.50), "claude-sonnet-5-5": (2.0, 10.0)}
"""Dollars per million tokens in and out, as the models' pages said in November 2026 (platform.claude.com)."""


async def measure(stage: Stage) -> Section:
    """The same leads on two stacks in turns, one at a time: who plans is the one difference between them."""
    rules: list[float] = []
    claude: list[float] = []
    keys: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="leadproof-bench-") as folder,
        deployment(Path(folder), "--planner", "claude") as house,
    ):
        client = await Client.connect(house.temporal, namespace=house.namespace, plugins=[leads_plugin()])
        for number in range(-2, _LEADS):
            watch = Stopwatch()
            await _submitted(stage.house, stage.client, number)
            between = watch.seconds()
            key = await _submitted(house, client, number)
            if number >= 0:  # the first ones open connections and load what is loaded once
                rules.append(between)
                claude.append(watch.seconds() - between)
                keys.append(key)
        calls = len(_calls(house)) - 2
        return _section(rules, claude, calls, [_usage(house, key) for key in keys])


async def _submitted(house: Deployment, client: Client, number: int) -> str:
    body = {
        "source_record_id": f"bench-{number}",
        "event_kind": _KIND,
        "occurrence": f"bench-{number}",
        "occurred_at": "2026-11-01T09:00:00Z",
        "lead": {
            "email": f"form{number}@lead.example",
            "first_name": f"Given{number}",
            "company": "Brightwater",
            "country": "DE",
            "employees": 80,
            "message": "We are eleven people in two offices and would like to see a demonstration next week.",
        },
    }
    headers = {"Authorization": f"Bearer {house.api_token}"}
    async with httpx.AsyncClient(base_url=house.starter, trust_env=False, timeout=30) as http:
        answer = await http.post("/v1/leads", json=body, headers=headers)
    if answer.status_code != httpx.codes.ACCEPTED:
        raise NotAsExpected(f"a lead should be taken in, but the starter says {answer.status_code}: {answer.text}")
    key: str = answer.json()["event_key"]
    outcome = await client.get_workflow_handle(f"lead:{key}").result()
    if outcome != Outcome.DONE:
        raise NotAsExpected(f"a lead should be done, and it is {outcome}")
    return key


def _calls(house: Deployment) -> list[dict[str, Any]]:
    return house.requests("messages.create", provider="anthropic")


def _usage(house: Deployment, key: str) -> dict[str, Any]:
    ((text,),) = house.rows("SELECT planner FROM lead_plan WHERE event_key = ?", [key])
    planner: dict[str, Any] = json.loads(text)
    return {"model": planner["model"], **planner["usage"]}


def _section(by_rules: list[float], by_claude: list[float], calls: int, usages: Sequence[dict[str, Any]]) -> Section:
    section = Section("Claude as the planner")
    rules, claude = median_of(by_rules), median_of(by_claude)
    inside, out = (median_of([usage[name] for usage in usages]) for name in ("input_tokens", "output_tokens"))
    section.say(
        f"{_LEADS} leads on a stack where the rules plan and on one where Claude does, in turns, one at a time, from "
        "`POST /v1/leads` to the end of the run; each makes a contact. The model is the sandbox's stand-in, which "
        "answers at once: what is measured is what asking costs here, not how long a model thinks. Tokens are the "
        "stand-in's estimate from the length of what was really sent and answered."
    )
    section.table(
        ("planned by", "ms a lead, median", "beside the rules"),
        [
            ("the rules", f"{1000 * rules:.0f}", "1"),
            ("Claude", f"{1000 * claude:.0f}", f"**{claude / rules:.2f}**"),
        ],
    )
    rows = []
    for model, (price_in, price_out) in _PRICES.items():
        dollars = (inside * price_in + out * price_out) / 1_000_000
        rows.append((f"`{model}`", f"{inside:.0f}", f"{out:.0f}", f"{dollars:.5f}", f"{1000 * dollars:.2f}"))
    section.table(("model", "tokens in", "tokens out", "dollars a lead", "dollars a thousand leads"), rows)
    section.goals.append(Goal("model calls per plan", "at most 1", f"{calls / len(usages):.2f}", calls == len(usages)))
    return section
