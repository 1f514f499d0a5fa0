"""What each protection costs: calls of a provider, commits of the ledger, and time beside a bare write."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import urllib3
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from bench.deployment import Deployment, NotAsExpected
from bench.lead_kinds import KINDS, contact, policies
from bench.peer_workflows import QUEUE, NothingWorkflow
from bench.report import Goal, Section
from bench.samples import median_of, ratio, ratio_range
from bench.stage import Stage
from bench.steps import Steps, steps

_TIMES = 30
_OURS = ("leadproof_effect", "leadproof_external_id")
_HISTORY = "propertiesWithHistory"

_PORTS = {
    "source record": ("read_source crm.read",),
    "look-up before the plan": ("plan crm.find", "plan crm.read"),
    "check before the write": ("write crm.find", "write crm.read"),
    "write": ("write crm.write",),
    "read-back": ("reconcile crm.find", "reconcile crm.read"),
}
"""The steps of a lead that call a provider, by activity and port."""

Seconds = Sequence[float]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two things in turns: with a protection, and the same without it."""

    given: Seconds
    without: Seconds

    def ratio(self) -> str:
        """How many times as long it takes, and where that lies in 90 of 100 cases."""
        low, high = ratio_range(self.given, self.without, 0.5)
        return f"**{ratio(self.given, self.without, 0.5):.2f}** ({low:.2f} to {high:.2f})"


@dataclass(frozen=True, slots=True)
class _Timed:
    """What was timed.

    Attributes:
        plain, checked: seconds of each call of a port, of leads without and with the check before the write.
    """

    plain: Mapping[str, Seconds]
    checked: Mapping[str, Seconds]
    marker: _Pair
    history: _Pair
    start: _Pair


async def measure(stage: Stage) -> Section:
    """Count one lead of each kind; then time leads, writes, reads and starts with and without what protects them."""
    section = Section("What each protection costs")
    with tempfile.TemporaryDirectory(prefix="leadproof-bench-") as folder, ExitStack() as open_:
        through = {
            name: open_.enter_context(steps(stage.house, stage.client, Path(folder), text))
            for name, text in policies().items()
        }
        _say_calls(section, stage.house, through)
        leads = [through[name] for name in ("plain", "checked")]
        for one in leads:
            one.watch.seconds.clear()  # what was counted was also the first of its kind
        for _ in range(_TIMES):
            for one in leads:
                contact(one, stage.house)
        plain, checked = (dict(one.watch.seconds) for one in leads)
    timed = _Timed(plain, checked, _marker(stage.house), _history(stage.house), await _start(stage))
    _say_costs(section, timed)
    return section


def _say_calls(section: Section, house: Deployment, through: Mapping[str, Steps]) -> None:
    rows: list[tuple[object, ...]] = []
    for kind in KINDS:
        one = through[kind.policy]
        kind.run(one, house)  # the first one also asks what an org or a portal says of itself
        one.watch.calls.clear()
        one.watch.counts = True
        kind.run(one, house)
        one.watch.counts = False
        calls = [sum(one.watch.calls[port] for port in ports) for ports in _PORTS.values()]
        total = sum(one.watch.calls.values())
        rows.append((kind.name, *calls, f"**{total}**"))
        if kind.wanted is not None:
            met = total == kind.wanted if kind.policy == "plain" else total <= kind.wanted
            wanted = str(kind.wanted) if kind.policy == "plain" else f"at most {kind.wanted}"
            section.goals.append(Goal(f"provider calls: {kind.name}", wanted, str(total), met))
    section.say("Calls of the provider that an undisturbed lead makes, by the sandbox's request log, step by step.")
    section.table(("lead", *_PORTS, "all"), rows)
    section.say(
        "A create is looked up by external id and by e-mail, among live, archived and merged records, once before the "
        "plan and once before the write; in HubSpot that takes five calls, one of them for secondary addresses. "
        "Without its look-ups it is a write and a read-back."
    )


def _marker(house: Deployment) -> _Pair:
    """The recorded write over the bare connection, with marker and external id and without them."""
    recorded = house.requests("contacts.write")[-1]
    fields = {name: value for name, value in recorded["body"]["properties"].items() if name not in _OURS}
    http = urllib3.PoolManager(retries=False)
    given, without = list[float](), list[float]()
    for turn in range(_TIMES):
        for seconds, ours in ((given, _OURS), (without, ())):
            record_id = house.contact()
            body = {"properties": {**fields, **dict.fromkeys(ours, f"bench-{record_id}-{turn}")}}
            seconds.append(_asked(http, house, "PATCH", f"/hubspot/crm/v3/objects/contacts/{record_id}", body))
    return _Pair(given, without)


def _history(house: Deployment) -> _Pair:
    """The recorded read-back over the bare connection, with the fields' history and without it."""
    recorded = next(row for row in reversed(house.requests("contacts.read")) if _HISTORY in row["path"])
    path, _, query = recorded["path"].partition("?")
    asked = parse_qsl(query)
    plain = f"{path}?{urlencode([(name, value) for name, value in asked if name != _HISTORY])}"
    http = urllib3.PoolManager(retries=False)
    given, without = list[float](), list[float]()
    for _ in range(_TIMES):
        given.append(_asked(http, house, "GET", f"{path}?{urlencode(asked)}", None))
        without.append(_asked(http, house, "GET", plain, None))
    return _Pair(given, without)


def _asked(http: urllib3.PoolManager, house: Deployment, method: str, path: str, body: Any) -> float:
    began = time.perf_counter()
    answer = http.request(method, house.sandbox + path, json=body, headers={"authorization": "Bearer bench"})
    seconds = time.perf_counter() - began
    if answer.status != 200:
        raise NotAsExpected(f"the sandbox answered {answer.status} to a bare {method}")
    return seconds


async def _start(stage: Stage) -> _Pair:
    """A start that Temporal refuses where its ID was ever used, and one that it does not."""
    given, without = list[float](), list[float]()
    for turn in range(_TIMES):
        for seconds, rejects in ((given, True), (without, False)):
            reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE if rejects else WorkflowIDReusePolicy.ALLOW_DUPLICATE
            conflict = WorkflowIDConflictPolicy.FAIL if rejects else WorkflowIDConflictPolicy.UNSPECIFIED
            name = f"protections:{turn}:{rejects}"
            began = time.perf_counter()
            handle = await stage.client.start_workflow(
                NothingWorkflow.run,
                name,
                id=name,
                task_queue=QUEUE,
                id_reuse_policy=reuse,
                id_conflict_policy=conflict,
            )
            seconds.append(time.perf_counter() - began)
            await handle.result()
    return _Pair(given, without)


def _say_costs(section: Section, timed: _Timed) -> None:
    plain, bare = timed.plain, median_of(timed.marker.without)
    rows = [
        ("the event's row, before its delivery is acknowledged", "a delivery that is lost", 0, 1, "admit ledger.admit"),
        ("the plan is recorded with its effects", "a second plan", 0, 1, "plan ledger.record_plan"),
        ("the claim, before the first byte leaves", "a second request", 0, 1, "write ledger.claim"),
        ("the answer is stored", "an answer that is forgotten", 0, 1, "write ledger.store_answer"),
        ("the read-back, with history", "an answer that is not so", 1, 0, "reconcile crm.read"),
        ("what it found is stored and settled", "an outcome without proof", 0, 1, "reconcile ledger.settle"),
    ]
    costs: list[tuple[str, str, int, int, float]] = [(*row[:4], _of(plain, row[4])) for row in rows]
    check = "the check before the write, where the plan is not young any more"
    costs.append((check, "an edit since the plan", 1, 0, _of(timed.checked, "write crm.read")))
    section.say(
        f"What protects one effect, the median of {_TIMES} leads. *Beside a bare write*: the request with the intent's "
        "fields alone, over a bare connection to the same sandbox, which answers at once "
        f"({bare * 1000:.1f} ms). A CRM far away takes longer, and what is no call of it weighs less there."
    )
    section.table(
        ("protection", "against", "calls", "commits", "beside a bare write", "ms"),
        [(*cost[:4], f"**{cost[4] / bare:.2f}**", f"{cost[4] * 1000:.1f}") for cost in costs],
    )
    section.say("What takes neither a call nor a commit of its own, in turns with going without it:")
    section.table(
        ("protection", "against", "beside going without it"),
        [
            ("marker and external id in the write", "an effect that nobody knows for ours", timed.marker.ratio()),
            ("the history in a read", "an edit that was replaced unseen", timed.history.ratio()),
            ("a start that refuses every ID that was ever used", "a second run", timed.start.ratio()),
        ],
    )
    whole, least = _port_seconds(plain), _of(plain, "read_source crm.read") + bare
    section.say(
        f"All calls of ledger and CRM of an undisturbed lead together take **{whole / least:.1f} times** as long as "
        f"reading its record and the bare write ({whole * 1000:.1f} ms and {least * 1000:.1f} ms)."
    )


def _of(seconds: Mapping[str, Seconds], port: str) -> float:
    return median_of(seconds[port])


def _port_seconds(seconds: Mapping[str, Seconds]) -> float:
    """What a lead spends in its ports."""
    return sum(sum(each) for each in seconds.values()) / _TIMES
