"""What one undisturbed lead takes: activities and history events with their reasons, provider calls, commits."""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from bench.deployment import Deployment, NotAsExpected
from bench.report import Goal, Section
from bench.stage import Stage, contact_calls

_ACTIVITIES = {
    "read_source": "reads the lead's row and the source record: a delivery says only that something happened",
    "plan": "asks the planner once, and records plan and mutation in one transaction",
    "write": "claims, checks, sends and stores: one activity, since a reset between claim and send would send twice",
    "reconcile": "reads the record back, stores the observation, and settles mutation and outcome",
}
_EVENTS = {
    "WORKFLOW_EXECUTION_STARTED": "the start, with the event key as its only input",
    "WORKFLOW_TASK_SCHEDULED": "one at the start and one after each activity: the run decides what comes next",
    "WORKFLOW_TASK_STARTED": "as above",
    "WORKFLOW_TASK_COMPLETED": "as above",
    "ACTIVITY_TASK_SCHEDULED": "one an activity",
    "ACTIVITY_TASK_STARTED": "one an activity",
    "ACTIVITY_TASK_COMPLETED": "one an activity",
    "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES": "the mutation's key when it is planned and the outcome when it is known: "
    "both can be searched for in the UI",
    "WORKFLOW_EXECUTION_COMPLETED": "the end, with the outcome",
}
_COMMITS = (
    "the event is admitted (starter)",
    "plan and mutation are recorded",
    "the attempt is claimed, before the first byte leaves",
    "the answer is stored",
    "the observation is stored; mutation and outcome are settled",
)
_CALLS = {
    "contacts.read": "the source record as the plan stands on it, and the read-back",
    "contacts.write": "the effect",
}


async def measure(stage: Stage) -> Section:
    """One lead on a stack at rest, watched from outside."""
    record_id = stage.house.contact()
    before = transactions(stage.house)
    await stage.lead(record_id)
    commits = await _settled(stage.house) - before
    history = await stage.handle(record_id).fetch_history()
    calls = Counter(str(row["operation"]) for row in contact_calls(stage.house, record_id))
    section = Section("One undisturbed lead")
    _say_history(section, history.events)
    section.table(
        ("provider calls, by the sandbox's request log", "how many", "why"),
        [(f"`{name}`", number, _CALLS.get(name, "**unexplained**")) for name, number in calls.items()],
    )
    section.goals.append(Goal("provider calls of an undisturbed lead", "3", str(calls.total()), calls.total() == 3))
    section.say(
        f"**{commits} commits** to the ledger, by SQLite's own counter of transactions in the shared-memory file"
        + (
            f": {'; '.join(f'({number}) {what}' for number, what in enumerate(_COMMITS, 1))}."
            if commits == len(_COMMITS)
            else f", where {len(_COMMITS)} can be explained."
        )
    )
    section.goals.append(
        Goal("ledger commits of an undisturbed lead", str(len(_COMMITS)), str(commits), commits == len(_COMMITS))
    )
    return section


def _say_history(section: Section, events: Sequence[HistoryEvent]) -> None:
    kinds = Counter(EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in events)
    names = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    section.say(f"**{len(names)} activities, {len(events)} history events**, from the recorded history:")
    section.table(
        ("activity", "why it is one"), [(f"`{name}`", _ACTIVITIES.get(name, "**unexplained**")) for name in names]
    )
    section.table(
        ("history event", "how many", "why"),
        [
            (name.replace("_", " ").lower(), number, _EVENTS.get(name, "**unexplained**"))
            for name, number in kinds.items()
        ],
    )
    section.goals.append(
        Goal("activities of an undisturbed lead", str(len(_ACTIVITIES)), str(len(names)), names == list(_ACTIVITIES))
    )


def transactions(house: Deployment) -> int:
    """How many transactions have changed the ledger.

    The counter in the header of SQLite's wal-index, at byte 8 (https://www.sqlite.org/walformat.html#walidxfmt).
    """
    header = Path(f"{house.ledger}-shm").read_bytes()[:12]
    version, _, counter = struct.unpack("=III", header)
    if version != 3007000:
        raise NotAsExpected("the ledger's wal-index is of a format that is not known here")
    return int(counter)


async def _settled(house: Deployment) -> int:
    """The counter once it stands still: nothing is to be missed that comes after a run's end."""
    while True:
        counter = transactions(house)
        await asyncio.sleep(0.3)  # longer than any step takes
        if transactions(house) == counter:
            return counter
