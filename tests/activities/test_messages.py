"""What workflows and activities tell each other is JSON, and what was said long ago can still be read."""

from __future__ import annotations

import inspect
import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel
from temporalio.contrib.pydantic import pydantic_data_converter

from activities import messages
from activities.messages import (
    ActionView,
    Answered,
    AskCommand,
    Book,
    DecideCommand,
    Decided,
    LeadView,
    LookCommand,
    PlanCommand,
    PlanView,
    Reading,
    ReadingKind,
    WriteCommand,
)
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason
from leadproof.domain.review import DecisionVerdict
from tests.activities.room import Proposes, Room, qualifies
from tests.support.ledgers import START

MODELS = [
    model
    for _, model in inspect.getmembers(messages, inspect.isclass)
    if issubclass(model, BaseModel) and model.__module__ == messages.__name__
]


def samples(room: Room) -> list[BaseModel]:
    """One of each, made as an activity makes it."""
    key = room.admit(lead={"lead": {"email": "dana@example.com"}, "extra": {}})
    reading = room.read_source(key)
    book = room.plan(key, Proposes(qualifies), reading.snapshot)
    assert reading.lead is not None
    assert book.plan is not None
    answered = Answered(decision_id="d", verdict=DecisionVerdict.PENDING, until=START + timedelta(seconds=1))
    return [
        reading,
        reading.lead,
        book,
        book.plan,
        *book.plan.actions,
        PlanCommand(event_key=key, snapshot=reading.snapshot),
        WriteCommand(mutation_key="m", version=1, number=1),
        LookCommand(mutation_key="m"),
        AskCommand(event_key=key, reason=Reason.NEEDS_APPROVAL),
        DecideCommand(event_key=key, sent=[{"a": [1, None, "x", 1.5, True]}, "text", None]),
        answered,
        Decided(answers=(answered,), book=book),
    ]


def test_there_is_a_sample_of_each(room: Room) -> None:
    assert {type(sample) for sample in samples(room)} == set(MODELS)


async def test_each_comes_back_as_it_was_sent(room: Room) -> None:
    for sample in samples(room):
        payloads = await pydantic_data_converter.encode([sample])
        json.loads(payloads[0].data)
        (back,) = await pydantic_data_converter.decode(payloads, [type(sample)])
        assert back == sample


def test_no_message_of_a_lead_carries_anything_personal_but_the_snapshot(room: Room) -> None:
    for sample in samples(room):
        personal = "dana@example.com" in sample.model_dump_json()
        assert personal is isinstance(sample, Reading | PlanCommand), type(sample)


OLDEST: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (Reading, {"kind": "later"}),
    (PlanCommand, {"event_key": "e"}),
    (Book, {"outcome": "working"}),
    (ActionView, {}),
    (PlanView, {"planner": "rules"}),
    (WriteCommand, {"mutation_key": "m", "version": 1, "number": 1}),
    (LookCommand, {"mutation_key": "m"}),
    (AskCommand, {"event_key": "e", "reason": "planner"}),
    (DecideCommand, {"event_key": "e"}),
    (Answered, {"decision_id": "d", "verdict": "applied"}),
    (Decided, {"answers": [], "book": {"outcome": "working"}}),
    (
        LeadView,
        {
            "event_key": "e",
            "tenant": "acme",
            "environment": "test",
            "source_system": "hubspot",
            "event_kind": "contact.creation",
            "occurred_at": "2026-03-02T09:00:00Z",
            "policy_version": "1",
            "outcome": "working",
            "run": 0,
            "workflow_id": "lead:e",
            "first_seen_at": "2026-03-02T09:00:00Z",
            "last_seen_at": "2026-03-02T09:00:00Z",
        },
    ),
]


@pytest.mark.parametrize(("model", "said"), OLDEST, ids=[model.__name__ for model, _ in OLDEST])
def test_what_stands_in_the_oldest_history_can_be_read_for_ever(model: type[BaseModel], said: dict[str, Any]) -> None:
    """These models only ever gain optional fields: a field that is added here breaks every open run."""
    model.model_validate_json(json.dumps(said))


def test_every_model_is_held_to_that() -> None:
    assert {model for model, _ in OLDEST} == set(MODELS)


def test_the_words_on_the_wire_stay_the_same() -> None:
    assert {str(kind) for kind in ReadingKind} >= {"ready", "planned", "later", "closed", "unknown"}
    assert {str(outcome) for outcome in Outcome} >= {"working", "review", "done", "partly", "gone", "echo"}
