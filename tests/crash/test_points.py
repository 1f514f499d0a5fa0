"""A worker that is killed with leads at every point of their way: each of them ends with one effect at the witness."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.mutation import AnswerClass
from tests.crash.cases import HEARD, LAGS, LATE, LOST, MORE, UNHEARD, Case, edited, killed_everywhere, patient_policy
from tests.crash.stopping import Point
from tests.support.house import House, a_house

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180)]

CLAIMED, CHECKED = Point("after", "ledger.claim"), Point("before", "crm.write")
SENT, ANSWERED = Point("sent", "crm.write"), Point("after", "crm.write")
STORED, SETTLING = Point("after", "ledger.store_answer"), Point("before", "ledger.settle", "reconcile")
DECIDING = Point("before", "ledger.apply_decision", "apply_decision")
DECIDED = Point("after", "ledger.apply_decision", "apply_decision")

WRITES: Final = (
    Case("the plan is recorded", Point("after", "ledger.record_plan", "plan")),
    Case("before the claim", Point("before", "ledger.claim")),
    Case("the claim is made", CLAIMED, (UNHEARD, HEARD)),
    Case("the check is made", CHECKED, (UNHEARD, HEARD)),
    Case("the request is sent", SENT, (UNHEARD,)),
    Case("the request is sent, and lost", ANSWERED, (UNHEARD, HEARD), (2,), (LOST,)),
    Case("the target has applied", None, (UNHEARD,), faults=(LATE,)),
    Case("the answer has arrived", ANSWERED, (UNHEARD,)),
    Case("the acceptance is stored", STORED),
    Case("between two read-backs", Point("before", "crm.read", "reconcile", passing=2), faults=(LAGS,)),
    Case("before it is settled", SETTLING),
    Case("it is settled", Point("after", "ledger.settle", "reconcile")),
)

QUESTIONS_AND_CREATES: Final = (
    Case("the question is put", Point("after", "ledger.open_review", "open_review"), asks="approve"),
    Case("a review is open", None, asks="approve"),
    Case("a decision comes", DECIDING, asks="approve", decided=True),
    Case("a decision is applied", DECIDED, asks="approve", decided=True),
    Case("a contact that is to be made: the claim", CLAIMED, (UNHEARD, HEARD), source="form"),
    Case("a contact that is made", ANSWERED, (UNHEARD,), source="form"),
    Case("Salesforce: the check is made", CHECKED, (UNHEARD, HEARD, HEARD), (1, 1), source="GB"),
    Case("Salesforce: the lead is made", ANSWERED, (UNHEARD, HEARD), (1, 1), source="GB"),
    Case("between two effects", Point("before", "ledger.claim", passing=2), (HEARD, HEARD), (1, 1), source="GB"),
)

UNSEEN: Final = (edited("before_write", hubspot_owner_id="503"),)
AFTERWARDS: Final = (edited("after_write", hubspot_owner_id="503"),)
EDITED_THERE: Final = (edited("after_write", user="005xx000001Sv6BAAS", Status="Working - Contacted"),)


def _second(point: Point) -> Point:
    return replace(point, passing=2)


def _answer(name: str, asks: str, point: Point, attempts: tuple[AnswerClass | None, ...], **more: Any) -> Case:
    """A lead whose effect met a person's edit, and whose second effect answers it."""
    faults = UNSEEN if asks == "restore" else AFTERWARDS
    given: dict[str, Any] = {"sent": (1, 1), "faults": faults, "asks": asks, "decided": True} | more
    return Case(name, point, attempts, **given)


ANSWERS: Final = (
    _answer("an overwrite comes", "overwrite", DECIDING, (HEARD, HEARD)),
    _answer("an overwrite is decided", "overwrite", DECIDED, (HEARD, HEARD)),
    _answer("an overwrite: the claim is made", "overwrite", _second(CLAIMED), (HEARD, UNHEARD, HEARD)),
    _answer("an overwrite: the check is made", "overwrite", _second(CHECKED), (HEARD, UNHEARD, HEARD)),
    _answer("an overwrite: the request is sent", "overwrite", _second(SENT), (HEARD, UNHEARD)),
    _answer("an overwrite: the answer has arrived", "overwrite", _second(ANSWERED), (HEARD, UNHEARD)),
    _answer("a restore: the claim is made", "restore", _second(CLAIMED), (HEARD, UNHEARD, HEARD)),
    _answer("a restore: the request is sent", "restore", _second(SENT), (HEARD, UNHEARD)),
    _answer("a restore: before it is settled", "restore", _second(SETTLING), (HEARD, HEARD)),
)

MADE: Final = (
    Case("a contact that is to be made: the request is sent", SENT, (UNHEARD,), source="form"),
    Case("Salesforce: the claim is made", CLAIMED, (UNHEARD, HEARD, HEARD), (1, 1), source="GB"),
    Case("Salesforce: the request is sent", SENT, (UNHEARD, HEARD), (1, 1), source="GB"),
    Case("Salesforce: the request is lost", ANSWERED, (UNHEARD, HEARD, HEARD), (2, 1), (LOST,), source="GB"),
    Case("Salesforce: before it is settled", SETTLING, (HEARD, HEARD), (1, 1), source="GB"),
)

IN_SALESFORCE: Final = (
    Case("a lead of Salesforce: the check is made", CHECKED, (UNHEARD, HEARD), source="lead"),
    Case("a lead of Salesforce: the request is sent", SENT, (UNHEARD,), source="lead"),
    Case("a lead of Salesforce: the request is lost", ANSWERED, (UNHEARD, HEARD), (2,), (LOST,), source="lead"),
    Case("a lead of Salesforce: the acceptance is stored", STORED, source="lead"),
    _answer(
        "a lead of Salesforce: an overwrite: the claim is made",
        "overwrite",
        _second(CLAIMED),
        (HEARD, UNHEARD, HEARD),
        faults=EDITED_THERE,
        source="lead",
    ),
    _answer(
        "a lead of Salesforce: an overwrite: the request is sent",
        "overwrite",
        _second(SENT),
        (HEARD, UNHEARD),
        faults=EDITED_THERE,
        source="lead",
    ),
)


@pytest.fixture
async def house(server: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[House]:
    """A house in which nobody works."""
    async with a_house(server.client, tmp_path, worker=False, policy=patient_policy(), more=MORE) as built:
        yield built


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(WRITES, id="writes"),
        pytest.param(QUESTIONS_AND_CREATES, id="questions and creates", marks=pytest.mark.crash_full),
        pytest.param(ANSWERS, id="answers", marks=pytest.mark.crash_full),
        pytest.param(MADE, id="made", marks=pytest.mark.crash_full),
        pytest.param(IN_SALESFORCE, id="in Salesforce", marks=pytest.mark.crash_full),
    ],
)
async def test_a_worker_killed_at_any_point_leaves_one_effect(
    house: House,
    cases: tuple[Case, ...],
    tmp_path: Path,
    recovered: Callable[[str, float], None],
    missed_within: float,
    subtests: pytest.Subtests,
) -> None:
    """And is missed in seconds: no lead waits for the time that a step may take. What replaces a person's edit is made
    once, too, and so is a lead in Salesforce."""
    await killed_everywhere(house, cases, tmp_path, recovered=recovered, missed_within=missed_within, subtests=subtests)
