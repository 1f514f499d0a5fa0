"""A worker that is stopped and goes on later, and requests that are on their way when their sender dies."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Mutation, Status
from tests.crash import evidence
from tests.crash.cases import MORE, Case, Course, edited, person_answers, points_of, sent
from tests.crash.processes import a_worker, one_that_stops, stopped_at
from tests.crash.stopping import Point
from tests.support.house import House, a_house, eventually, quick_policy

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.timeout(180)]

APPLIED_AFTER = 60
"""Seconds after which the target applies what it has received, by its own clock, which the test moves."""

NOT_SENT, NOT_APPLIED, ACCEPTED = AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED, AnswerClass.ACCEPTED

CLAIMED: Final = Point("after", "ledger.claim", continues=True)
CHECKED: Final = Point("after", "crm.read", continues=True)
LOOKED_UP: Final = Point("after", "crm.find", continues=True)
"""The check of a record that there is, and of one that is to be made."""

LOOKED: Final = Point("before", "crm.write", continues=True)
"""After the last look at the clock; no line of ours lies between this and the client's own."""

STOPPED: Final = (
    Case("a contact: the claim is made", CLAIMED, (NOT_SENT, ACCEPTED)),
    Case("a contact: the check is made", CHECKED, (NOT_SENT, ACCEPTED)),
    Case("a contact that is to be made: the claim is made", CLAIMED, (NOT_SENT, ACCEPTED), source="form"),
    Case("a contact that is to be made: the check is made", LOOKED_UP, (NOT_SENT, ACCEPTED), source="form"),
    Case("in Salesforce: the check is made", LOOKED_UP, (NOT_SENT, ACCEPTED, ACCEPTED), (1, 1), source="GB"),
    Case("a lead of Salesforce: the check is made", CHECKED, (NOT_SENT, ACCEPTED), source="lead"),
    Case(
        "an overwrite: the check is made",
        replace(CHECKED, passing=2),
        (ACCEPTED, NOT_SENT, ACCEPTED),
        (1, 1),
        (edited("after_write", hubspot_owner_id="503"),),
        asks="overwrite",
        decided=True,
    ),
)

TOO_LATE: Final = (
    Case("a contact", LOOKED, (ACCEPTED, ACCEPTED)),
    Case("a contact that is to be made", LOOKED, (ACCEPTED, ACCEPTED), source="form"),
    Case("a lead that is to be made in Salesforce", LOOKED, (ACCEPTED, ACCEPTED, ACCEPTED), source="GB"),
    Case("a lead of Salesforce", LOOKED, (NOT_APPLIED, ACCEPTED), source="lead"),
)

ON_A_BUSY_MACHINE: Final = {
    "send_within_seconds = 5": "send_within_seconds = 5",
    "call_timeout_seconds = 4": "call_timeout_seconds = 20",
    "observation_window_seconds = 20": "observation_window_seconds = 12",
}
"""Whoever goes on is not to be kept from sending by how slow everything is."""

EVERY_WRITE_IS_CHECKED: Final = quick_policy(**{**ON_A_BUSY_MACHINE, "base_age_seconds = 10": "base_age_seconds = 0"})


@pytest.fixture
async def house(server: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[House]:
    """A house in which nobody works."""
    async with a_house(server.client, tmp_path, worker=False, policy=EVERY_WRITE_IS_CHECKED, more=MORE) as built:
        yield built


async def test_a_worker_stopped_after_its_claims_and_continued_after_quiescence_sends_nothing(
    house: House, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Another has written meanwhile: the one that goes on finds it done by its check, or, where that was made, its
    time over by the clock."""
    courses = await _done_by_another(house, STOPPED, tmp_path)
    for course in courses:
        with subtests.test(msg=course.case.name):
            outcomes = [attempt.outcome for attempt in evidence.attempts_of(house, course.key)]
            assert outcomes == list(course.case.attempts)
            evidence.holds(house, course.key, sent=course.case.sent, answered=course.case.answered)


async def test_a_worker_stopped_between_the_clock_and_the_socket_makes_no_second_record(
    house: House, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """What is not promised, and how far it goes: the request leaves late, meets the record that was made meanwhile, and
    sets the same once more; an update in Salesforce is refused, since the record has changed after the check."""
    courses = await _done_by_another(house, TOO_LATE, tmp_path)
    for course in courses:
        with subtests.test(msg=course.case.name):
            mutation = house.mutations(course.key)[0]
            applied = [row["applied"] for row in evidence.requests_of(house, mutation)]
            assert applied == [True, course.case.attempts[0] is ACCEPTED]
            (record,) = evidence.landed(house, mutation)
            assert len(evidence.records_of(house, mutation)) == 1
            evidence.stands(mutation, record)
            outcomes = [attempt.outcome for attempt in evidence.attempts_of(house, course.key)]
            assert outcomes == list(course.case.attempts)
            assert mutation.status is Status.OBSERVED
            lead = house.ledger.lead(course.key)
            assert lead is not None
            assert lead.outcome is Outcome.DONE


async def _done_by_another(house: House, cases: tuple[Case, ...], folder: Path) -> list[Course]:
    """Every lead at its point while its worker is stopped, done by another worker, and the stopped one continued."""
    courses = [await sent(house, case) for case in cases]
    points = points_of(courses)
    async with one_that_stops("worker", house, folder, points) as stopped, asyncio.TaskGroup() as people:
        for course in courses:
            if course.case.decided:
                people.create_task(person_answers(house, course))
        await stopped_at(stopped, points)
        stopped.send_signal(signal.SIGSTOP)
        async with a_worker(house):
            for course in courses:
                # what Temporal hands to the stopped one is missed too, each time after ten seconds
                await house.outcome(course.key, Outcome.DONE, within=90)
                assert not _heard(house, course)
            stopped.send_signal(signal.SIGCONT)
            for course in courses:
                await eventually(partial(_heard, house, course), 30)
    return courses


def _heard(house: House, course: Course) -> bool:
    """Whether every attempt of a lead has its answer."""
    return all(attempt.outcome is not None for attempt in evidence.attempts_of(house, course.key))


@pytest.mark.parametrize("source", ["contact", "form", "GB"])
async def test_a_request_that_is_on_its_way_when_its_sender_dies_is_waited_for(
    server: WorkflowEnvironment, tmp_path: Path, source: str
) -> None:
    """All of it has left, nothing of it is applied, and nothing was answered."""
    policy = quick_policy(
        **{
            **ON_A_BUSY_MACHINE,
            "apply_lag_seconds = 3": f"apply_lag_seconds = {APPLIED_AFTER}",
            "observation_window_seconds = 20": f"observation_window_seconds = {2 * APPLIED_AFTER}",
        }
    )
    later: dict[str, object] = {"kind": "apply_later", "args": {"seconds": APPLIED_AFTER}}
    case = Case(source, Point("sent", "crm.write"), faults=(later,), source=source)
    async with a_house(server.client, tmp_path, worker=False, policy=policy, more=MORE) as house:
        course = await sent(house, case)
        points = points_of([course])
        async with one_that_stops("worker", house, tmp_path, points) as victim:
            await stopped_at(victim, points)
            victim.kill()
            await victim.wait()
        first = house.mutations(course.key)[0]
        async with a_worker(house):
            await eventually(lambda: _looks(house, first) >= 2, 40)
            assert [row["applied"] for row in evidence.requests_of(house, first)] == [False]
            house.control.advance(APPLIED_AFTER)
            await house.outcome(course.key, Outcome.DONE, within=40)
        (attempt,) = house.ledger.attempts_of(first.mutation_key)
        assert attempt.outcome is None
        evidence.holds(house, course.key, sent=[1] * len(house.mutations(course.key)))


def _looks(house: House, mutation: Mutation) -> int:
    receipts = house.ledger.receipts(mutation.mutation_key)
    return len(receipts.observations) if receipts is not None else 0
