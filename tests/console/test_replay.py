"""`leadproof replay`: what a person is told of a history that fits this code, and of one that does not."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from typer.testing import CliRunner, Result

from console.cli import app
from leadproof.domain.errors import ConfigurationRefused
from tests.console.commands import run
from tests.replay.record import HISTORIES
from tests.support.house import a_house
from workflows.contract import LEAD_WORKFLOW, LEADS_QUEUE

Events = list[dict[str, Any]]
Write = Callable[[object], str]


def recorded(name: str = "plain") -> Events:
    events: Events = json.loads((HISTORIES / f"{name}.json").read_text(encoding="utf-8"))["events"]
    return events


def replayed(*arguments: str, environment: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, ["replay", *arguments], env=environment)


def planned_differently() -> dict[str, Events]:
    renamed = json.dumps(recorded()).replace('"name": "plan"', '"name": "plan_differently"')
    return {"events": json.loads(renamed)}


@workflow.defn(name=LEAD_WORKFLOW, sandboxed=False)
class FormerLeadWorkflow:
    """Other code under the same name, as it may have run before a deployment."""

    @workflow.run
    async def run(self, event_key: str) -> str:
        await workflow.sleep(3600)
        return event_key


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(content: object) -> str:
        path = tmp_path / "history.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


# -- a file ------------------------------------------------------------------------------------------------------------
def old_names(events: Events) -> Events:
    """As Temporal's UI spells event types: `WorkflowExecutionStarted`."""
    return [
        event | {"eventType": event["eventType"].removeprefix("EVENT_TYPE_").title().replace("_", "")}
        for event in events
    ]


@pytest.mark.parametrize(
    "form",
    [
        lambda events: {"events": events},
        lambda events: {"events": old_names(events)},
        lambda events: events,
        lambda events: {"events": events[::-1]},
    ],
    ids=["command line", "user interface", "list", "newest first"],
)
def test_a_history_of_a_file_is_the_same(form: Callable[[Events], object], file: Write) -> None:
    answer = replayed(file(form(recorded("rejected_and_retried"))))
    assert (answer.exit_code, answer.output) == (0, "same\n")


def test_the_first_event_that_differs_is_named_in_one_sentence(file: Write) -> None:
    answer = replayed(file(planned_differently()))
    assert answer.exit_code == 1
    assert answer.output == (
        "differs at event 11, activity task scheduled (plan_differently): Activity type of scheduled event "
        "'plan_differently' does not match activity type of activity command 'plan'\n"
    )


def test_programs_get_one_object(file: Write) -> None:
    same, other = replayed(str(HISTORIES / "gone.json"), "--json"), replayed(file(planned_differently()), "--json")
    assert json.loads(same.output) | {"run_id": "", "workflow_id": ""} == {
        "result": "same",
        "workflow_id": "",
        "run_id": "",
        "events": len(recorded("gone")),
        "event_id": None,
        "event": None,
        "why": None,
    }
    told = json.loads(other.output)
    assert (told["result"], told["event_id"], told["event"]) == (
        "differs",
        11,
        "activity task scheduled (plan_differently)",
    )
    assert told["workflow_id"].startswith("lead:")


def test_an_end_that_this_code_does_not_come_to_is_a_difference(file: Write) -> None:
    events = recorded()
    early = [*events[:10], events[-1] | {"eventId": "11"}]
    answer = replayed(file({"events": early}))
    assert answer.exit_code == 1
    assert answer.output.startswith("differs at event 11, workflow execution completed: ")


@pytest.mark.stack
def test_a_result_that_this_code_cannot_read_shows_neither_its_values_nor_a_stack(file: Write, tmp_path: Path) -> None:
    events = recorded()
    result = next(event["activityTaskCompletedEventAttributes"] for event in events if event["eventId"] == "7")
    secret = json.dumps({"email": "ana@brightwater.example"}).encode()
    result["result"]["payloads"][0]["data"] = base64.b64encode(secret).decode()
    ended = run("replay", file({"events": events}), cwd=tmp_path)
    assert ended.returncode == 1
    assert re.fullmatch(
        r"differs at event \d+, workflow task completed: this code fails on what stands before it \(.*\)\n",
        ended.stdout,
    )
    assert "UnreadablePayload" in ended.stdout
    assert ended.stderr == ""
    assert "brightwater" not in ended.stdout


def test_a_workflow_type_that_is_not_ours_is_a_difference(file: Write) -> None:
    events = recorded()
    events[0]["workflowExecutionStartedEventAttributes"]["workflowType"]["name"] = "OrderWorkflow"
    answer = replayed(file({"events": events}))
    assert answer.exit_code == 1
    assert answer.output.endswith(": this code has no workflow type OrderWorkflow\n")


def test_a_run_of_which_nothing_has_run_yet_is_the_same(file: Write) -> None:
    answer = replayed(file({"events": recorded()[:2]}))
    assert (answer.exit_code, answer.output) == (0, "same\n")


def decoded(events: Events) -> Events:
    """As Temporal's UI writes it where payloads are decoded on the way."""
    result = next(e["activityTaskCompletedEventAttributes"] for e in events if e["eventId"] == "7")
    result["result"]["payloads"][0]["data"] = {"kind": "ready"}
    return events


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is no JSON"),
        ("\x00", "it is no JSON"),
        ("17", "it has no list of events"),
        ({"events": {}}, "it has no list of events"),
        ({"events": ["one"]}, "it has no list of events"),
        ({"events": []}, "it does not begin with the start of a run"),
        ({"events": recorded()[1:]}, "it does not begin with the start of a run"),
        ({"events": decoded(recorded())}, "without decoding its payloads"),
        ("[" * 100_000 + "]" * 100_000, "it is nested deeper than 200 levels"),
        ('{"events": [' + '{"a":' * 1000 + "1" + "}" * 1000 + "]}", "it is nested deeper than 200 levels"),
    ],
)
def test_what_is_no_history_is_said_in_a_sentence(content: object, why: str, file: Write) -> None:
    answer = replayed(file(content))
    assert isinstance(answer.exception, ConfigurationRefused)
    assert str(answer.exception).endswith(why)


@pytest.mark.stack
def test_a_history_that_the_core_panics_at_is_refused_in_a_sentence(file: Write, tmp_path: Path) -> None:
    events: Events = [{name: event[name] for name in ("eventId", "eventType")} for event in recorded()[:3]]
    events[0]["workflowExecutionStartedEventAttributes"] = {"workflowType": {"name": LEAD_WORKFLOW}}
    ended = run("replay", file({"events": events}), cwd=tmp_path, seconds=30, more={"RUST_BACKTRACE": "1"})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "leadproof: the replay is not possible: Temporal's core cannot read this history\n"


def test_a_file_that_is_not_there_and_a_run_of_a_file_are_refused(file: Write) -> None:
    assert str(replayed("nothing.json").exception) == "there is no file nothing.json"
    answer = replayed(file({"events": recorded()}), "--run-id", "1")
    assert str(answer.exception) == "--run-id goes with a workflow ID, and this is a file"


# -- a run in Temporal -------------------------------------------------------------------------------------------------
async def test_a_run_in_temporal_is_the_same_as_this_code(own_temporal: WorkflowEnvironment, tmp_path: Path) -> None:
    async with a_house(own_temporal.client, tmp_path) as house:
        _, key = await house.lead()
        await house.handle(key).result()
        described = await house.handle(key).describe()

        async def told(*arguments: str) -> Result:
            return await asyncio.to_thread(replayed, *arguments, environment=house.environment)

        assert (await told(f"lead:{key}")).output == "same\n"
        assert (await told(f"lead:{key}", "--run-id", described.run_id or "")).output == "same\n"
        for unknown in (str(uuid.uuid4()), "no run"):
            refused = (await told(f"lead:{key}", "--run-id", unknown)).exception
            assert isinstance(refused, ConfigurationRefused)
            assert str(refused).startswith(f"Temporal knows no workflow lead:{key}, run {unknown}, in namespace ")


async def test_an_open_run_that_this_code_cannot_go_on_with_is_found(temporal: WorkflowEnvironment) -> None:
    workflow_id, queue = f"lead:{uuid.uuid4().hex}", f"{LEADS_QUEUE}-{uuid.uuid4().hex}"
    async with Worker(
        temporal.client, task_queue=queue, workflows=[FormerLeadWorkflow], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        handle = await temporal.client.start_workflow(LEAD_WORKFLOW, "0" * 64, id=workflow_id, task_queue=queue)
        while len((await handle.fetch_history()).events) < 5:  # noqa: ASYNC110 - until the timer stands there
            await asyncio.sleep(0.02)
    more = {
        "LEADPROOF_TEMPORAL_ADDRESS": temporal.client.service_client.config.target_host,
        "LEADPROOF_TEMPORAL_NAMESPACE": temporal.client.namespace,
    }
    answer = await asyncio.to_thread(replayed, workflow_id, environment=more)
    await handle.terminate()
    assert answer.exit_code == 1
    assert answer.output.startswith("differs at event 5, timer started: ")
