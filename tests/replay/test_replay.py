"""A change of code that would break a run which is under way is caught here, not in production."""

from __future__ import annotations

import json
import re

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.replay.record import HISTORIES, PATHS, without_machine
from workers.plugin import leads_plugin
from workflows.lead import LeadWorkflow


def _text(name: str) -> str:
    return (HISTORIES / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PATHS)
async def test_a_recorded_history_replays(name: str) -> None:
    replayer = Replayer(workflows=[LeadWorkflow], plugins=[leads_plugin()])
    await replayer.replay_workflow(WorkflowHistory.from_json(f"lead:{name}", _text(name)))


async def test_a_history_that_does_not_fit_is_noticed() -> None:
    changed = _text("plain").replace('"name": "plan"', '"name": "plan_differently"')
    replayer = Replayer(workflows=[LeadWorkflow], plugins=[leads_plugin()])
    with pytest.raises(Exception, match="plan_differently"):
        await replayer.replay_workflow(WorkflowHistory.from_json("lead:changed", changed))


def test_every_recorded_history_is_replayed() -> None:
    assert {path.stem for path in HISTORIES.glob("*.json")} == set(PATHS)


@pytest.mark.parametrize("name", PATHS)
def test_a_recorded_history_names_no_machine(name: str) -> None:
    recorded = json.loads(_text(name))
    assert without_machine(recorded) == recorded
    assert re.search(r"/(home|root|work|tmp|usr)/", _text(name)) is None
