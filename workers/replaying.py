"""A run's history against this code: does the code still do what the history says that it did?"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import ParseError
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from leadproof import strict_json
from leadproof.domain.errors import ConfigurationRefused, MalformedDelivery
from leadproof.settings import Settings
from workers import abandoned
from workers.connect import connect
from workers.plugin import leads_plugin
from workflows.contract import LEAD_WORKFLOW, SWEEP_WORKFLOW
from workflows.lead import LeadWorkflow
from workflows.sweep import SweepWorkflow

LONGEST_SECONDS: Final = 60.0
"""Finding a difference takes some seconds at most; code that blocks would never end."""

DEEPEST: Final = 200
"""Levels of a history's JSON; protobuf's reader stops at 100 messages in one another, with a list around some."""

_STARTED: Final = EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED
_MESSAGE: Final = re.compile(r'message: "\[TMPRL1100\] (?:Nondeterminism error: )?((?:[^"\\]|\\.)*)"')
_ERROR_TYPE: Final = re.compile(r'r#type: "(\w+)"')


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a history and this code part.

    Attributes:
        event_id: number of the first event that this code does not lead to.
        event: what stands there, without payloads.
        why: what this code does instead, or how it fails; no value of a payload.
    """

    event_id: int
    event: str
    why: str


def read_history(path: Path) -> WorkflowHistory:
    """The history of a file: as Temporal's UI, `temporal workflow show --output json` or the SDK write it.

    Raises:
        ConfigurationRefused: the file cannot be read or is no history.
    """
    try:
        body = path.read_bytes()
        strict_json.refuse_depth(body, DEEPEST)
        found = json.loads(body.decode("utf-8"))
    except OSError:
        raise ConfigurationRefused(f"{path} cannot be read") from None
    except MalformedDelivery:
        raise ConfigurationRefused(f"{path} is no history: it is nested deeper than {DEEPEST} levels") from None
    except ValueError:
        raise ConfigurationRefused(f"{path} is no history: it is no JSON") from None
    document = {"events": found} if isinstance(found, list) else found
    events = document.get("events") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ConfigurationRefused(f"{path} is no history: it has no list of events")
    try:
        history = WorkflowHistory.from_json("", {"events": events})
    except (ParseError, ValueError, TypeError, AttributeError):
        raise ConfigurationRefused(
            f"{path} is no history that can be replayed; export it without decoding its payloads"
        ) from None
    return _named(history, str(path))


async def fetch_history(settings: Settings, workflow_id: str, run_id: str | None = None) -> WorkflowHistory:
    """The history of a run, by default of the latest under the ID.

    Raises:
        ConfigurationRefused: there is no such run, or Temporal does not answer.
    """
    client = await connect(settings, patience_seconds=5)
    try:
        history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
    except RPCError as error:
        if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
            run = f", run {run_id}," if run_id else ""
            raise ConfigurationRefused(
                f"Temporal knows no workflow {workflow_id}{run} in namespace {settings.temporal_namespace!r}"
            ) from None
        raise ConfigurationRefused(f"Temporal did not give the history: {error.status.name}") from None
    return _named(history, workflow_id)


async def first_difference(history: WorkflowHistory) -> Difference | None:
    """The first event of a history that this code does not lead to; `None` where it leads to all of them.

    Replaying says that something differs, not always where. The first event is found by replaying beginnings of the
    history, since one that is cut off anywhere behind a task's start can be replayed too.

    Raises:
        ConfigurationRefused: the code did not come to an end, or Temporal's core cannot read the history.
    """
    return await abandoned.finished(
        lambda: asyncio.run(_first_difference(history)), seconds=LONGEST_SECONDS, what="the replay"
    )


async def _first_difference(history: WorkflowHistory) -> Difference | None:
    events = history.events
    first_task = next((at for at, event in enumerate(events, 1) if event.event_type == _STARTED), None)
    if first_task is None:
        return None  # no code of ours has run yet
    with _unlogged() as runtime:
        why = await _failure(history, runtime)
        if why is None:
            return None
        fits, differs = first_task - 1, len(events)
        while differs - fits > 1:
            middle = (fits + differs) // 2
            found = await _failure(WorkflowHistory(history.workflow_id, events[:middle]), runtime)
            if found is None:
                fits = middle
            else:
                differs, why = middle, found
    event = events[differs - 1]
    return Difference(event_id=event.event_id, event=_shown(event), why=_why(why, events[0]))


async def _failure(history: WorkflowHistory, runtime: Runtime) -> Exception | None:
    replayer = Replayer(
        workflows=[LeadWorkflow, SweepWorkflow],
        plugins=[leads_plugin()],
        runtime=runtime,
        build_id="replay",  # without it the SDK hashes every loaded module, which takes seconds (measured)
        debug_mode=True,  # a slow machine is no deadlock
    )
    return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure


@contextmanager
def _unlogged() -> Iterator[Runtime]:
    """Temporal's core and the SDK log every failure with its stack; what is to be said is said here."""
    logger = logging.getLogger("temporalio")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield Runtime(telemetry=TelemetryConfig(logging=None))
    finally:
        logger.setLevel(level)


def _named(history: WorkflowHistory, where: str) -> WorkflowHistory:
    """The history with its own workflow ID, oldest event first: the UI can export the newest first.

    Raises:
        ConfigurationRefused: its beginning is not there.
    """
    events = sorted(history.events, key=lambda event: event.event_id)
    if not events or not events[0].HasField("workflow_execution_started_event_attributes"):
        raise ConfigurationRefused(f"{where} is no history: it does not begin with the start of a run")
    started = events[0].workflow_execution_started_event_attributes
    return WorkflowHistory(started.workflow_id or history.workflow_id or "unknown", events)


def _shown(event: HistoryEvent) -> str:
    """An event's kind, and the type of the activity or the ID of the timer that it is about."""
    name = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").replace("_", " ").lower()
    attributes: Any = getattr(event, event.WhichOneof("attributes") or "", None)
    for part in ("activity_type", "workflow_type"):
        if attributes is not None and part in attributes.DESCRIPTOR.fields_by_name and attributes.HasField(part):
            return f"{name} ({getattr(attributes, part).name})"
    return name


def _why(failure: Exception, start: HistoryEvent) -> str:
    text = str(failure)
    workflow_type = start.workflow_execution_started_event_attributes.workflow_type.name
    if workflow_type not in {LEAD_WORKFLOW, SWEEP_WORKFLOW}:
        return f"this code has no workflow type {workflow_type}"
    if isinstance(failure, NondeterminismError):
        said = _MESSAGE.search(text)
        return said[1].rstrip(".") if said else "this code does something else there"
    # the texts of other errors can hold values of the history, so only their types are told
    types = ", ".join(dict.fromkeys(_ERROR_TYPE.findall(text))) or type(failure).__name__
    return f"this code fails on what stands before it ({types})"
