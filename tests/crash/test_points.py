"""A worker that is killed with leads at every point of their way: each of them ends with one effect at the witness.

One process is stopped at all points at once, each for a lead of its own, and killed with SIGKILL; an ordinary worker
goes on with all of them.
"""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.review import ReviewItem
from tests.crash import evidence
from tests.crash.processes import a_worker, one_that_stops, stopped_at
from tests.crash.stopping import Point
from tests.support.house import POLICY, House, a_house, eventually

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180)]

ANSWERED_AFTER: Final = 40
"""Seconds: longer than it takes to bring every other lead to its point and to start another worker."""

LAST_AFTER: Final = 60
"""Seconds after the kill in which whatever is late is still waited for, to be told."""

A_BIG_ACCOUNT: Final = {"numemployees": "1000+"}
"""Of a contact that a person is asked about."""

UNHEARD, HEARD = None, AnswerClass.ACCEPTED


@dataclass(frozen=True)
class Case:
    """One lead, and where it is when its worker is killed.

    Attributes:
        point: `None` where nothing of it runs at that moment.
        attempts: how each attempt must stand in the end.
        sent: how many requests each mutation's effect may take.
        faults: of the sandbox, on this lead's record.
        asks: a person is asked before the write.
        decided: what the person said is on its way when the worker is killed.
        source: how the lead comes in.
    """

    name: str
    point: Point | None
    attempts: tuple[AnswerClass | None, ...] = (HEARD,)
    sent: tuple[int, ...] = (1,)
    faults: tuple[Mapping[str, object], ...] = ()
    asks: bool = False
    decided: bool = False
    source: str = "contact"


_LATE: Mapping[str, object] = {"kind": "delay", "args": {"seconds": ANSWERED_AFTER}}
_LOST: Mapping[str, object] = {"kind": "drop_before_apply"}
_LAGS: Mapping[str, object] = {"kind": "stale_read", "operation": "contacts.read", "after": 2}
"""The source's read and the check are fresh, the first read-back is not."""

CASES: Final = (
    Case("the plan is recorded", Point("after", "ledger.record_plan", "plan")),
    Case("before the claim", Point("before", "ledger.claim")),
    Case("the claim is made", Point("after", "ledger.claim"), (UNHEARD, HEARD)),
    Case("the check is made", Point("before", "crm.write"), (UNHEARD, HEARD)),
    Case("the request is sent, and lost", Point("after", "crm.write"), (UNHEARD, HEARD), (2,), (_LOST,)),
    Case("the target has applied", None, (UNHEARD,), faults=(_LATE,)),
    Case("the answer has arrived", Point("after", "crm.write"), (UNHEARD,)),
    Case("the acceptance is stored", Point("after", "ledger.store_answer")),
    Case("between two read-backs", Point("before", "crm.read", "reconcile", passing=2), faults=(_LAGS,)),
    Case("before it is settled", Point("before", "ledger.settle", "reconcile")),
    Case("it is settled", Point("after", "ledger.settle", "reconcile")),
    Case("the question is put", Point("after", "ledger.open_review", "open_review"), asks=True),
    Case("a review is open", None, asks=True),
    Case("a decision comes", Point("before", "ledger.apply_decision", "apply_decision"), asks=True, decided=True),
    Case("a decision is applied", Point("after", "ledger.apply_decision", "apply_decision"), asks=True, decided=True),
    Case("a contact that is to be made: the claim", Point("after", "ledger.claim"), (UNHEARD, HEARD), source="form"),
    Case("a contact that is made", Point("after", "crm.write"), (UNHEARD,), source="form"),
    Case("Salesforce: the check is made", Point("before", "crm.write"), (UNHEARD, HEARD, HEARD), (1, 1), source="GB"),
    Case("Salesforce: the lead is made", Point("after", "crm.write"), (UNHEARD, HEARD), (1, 1), source="GB"),
    Case("between two effects", Point("before", "ledger.claim", passing=2), (HEARD, HEARD), (1, 1), source="GB"),
)


@dataclass(frozen=True)
class Course:
    """A case on its way.

    Attributes:
        key: of the lead event.
        record_id: of the contact that it is about; empty where it is not one of HubSpot's.
    """

    case: Case
    key: str
    record_id: str


async def _sent(house: House, case: Case) -> Course:
    """The lead of a case, delivered while nobody works."""
    if case.source == "form":
        number = uuid.uuid4().hex
        lead = {"email": f"{number}@lead.example", "first_name": "Ada", "country": "US", "company": "Acme"}
        form = {
            "source_record_id": f"form-{number}",
            "event_kind": "form.submitted",
            "occurrence": number,
            "occurred_at": "2026-11-02T10:00:00Z",
            "lead": lead,
        }
        answer = await house.http.post("/v1/leads", json=form, headers=house.authorized)
        assert answer.status_code == 202, answer.text
        return Course(case, str(answer.json()["event_key"]), "")
    british = {"firstname": "Ada", "lastname": "Bo", "company": "Acme", "country": "GB"}
    record_id = house.contact(**(british if case.source == "GB" else A_BIG_ACCOUNT if case.asks else {}))
    for fault in case.faults:
        house.control.post(
            "/faults", {"provider": "hubspot", "operation": "contacts.write", "match": record_id, **fault}
        )
    await house.deliver(house.creation(record_id))
    return Course(case, house.key_of(record_id), record_id)


async def _asked(house: House, key: str) -> ReviewItem:
    await house.outcome(key, Outcome.REVIEW, within=40)
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    return item


async def _approved(house: House, key: str) -> None:
    """A person's approval; the lead ends by it, however long the worker lets the person wait."""
    item = await _asked(house, key)
    answer = await house.decide(item.review_id, "approve", version=item.version)
    assert answer.status_code in {200, 202}, answer.text


async def _in_place(house: House, course: Course) -> None:
    """Until a lead is where it must be that stops at no point."""
    if course.case.asks:
        await _asked(house, course.key)
    else:
        await eventually(lambda: house.properties(course.record_id).get("leadproof_effect"), 40)
        (attempt,) = evidence.attempts_of(house, course.key)
        assert attempt.outcome is None, "the answer was stored before the kill: the test would prove nothing"


async def _done(house: House, courses: list[Course], since: float) -> dict[str, float]:
    """The seconds after which each lead was done; one that never is has none."""
    seconds: dict[str, float] = {}
    while len(seconds) < len(courses) and time.monotonic() < since + LAST_AFTER:
        await asyncio.sleep(0.1)  # polled, and bounded; more often, the asking would be a part of what is measured
        rows, _ = house.ledger.leads(outcome=Outcome.DONE, source_record_id=None, limit=len(courses), cursor=None)
        for lead in rows:
            seconds.setdefault(lead.event_key, time.monotonic() - since)
    return seconds


def _check(house: House, course: Course) -> None:
    """One effect, its status, and every attempt as it must stand."""
    evidence.holds(house, course.key, sent=course.case.sent)
    outcomes = [attempt.outcome for attempt in evidence.attempts_of(house, course.key)]
    assert outcomes == list(course.case.attempts)
    if course.case.source == "contact":  # of whatever marker
        assert sum(row["applied"] for row in house.writes(course.record_id)) == 1


def _policy() -> str:
    """The embedded policy; every write is checked, may wait long for its answer, and is soon known to be lost."""
    text = POLICY.read_text(encoding="utf-8")
    for old, new in {
        "call_timeout_seconds = 4": f"call_timeout_seconds = {ANSWERED_AFTER}",
        "base_age_seconds = 10": "base_age_seconds = 0",
        "apply_lag_seconds = 3": "apply_lag_seconds = 0.4",
        "clock_margin_seconds = 1": "clock_margin_seconds = 0.1",
    }.items():
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture
async def house(server: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[House]:
    """A house in which nobody works."""
    more = {"LEADPROOF_WORKER_THREADS": "40"}
    async with a_house(server.client, tmp_path, worker=False, policy=_policy(), more=more) as built:
        yield built


async def test_a_worker_killed_at_any_point_leaves_one_effect(
    house: House,
    tmp_path: Path,
    recovered: Callable[[str, float], None],
    missed_within: float,
    subtests: pytest.Subtests,
) -> None:
    """And is missed in seconds: no lead waits for the time that a step may take."""
    courses = [await _sent(house, case) for case in CASES]
    points = {course.key: course.case.point for course in courses if course.case.point is not None}
    resting = [course for course in courses if course.case.point is None]
    decided = [course.key for course in courses if course.case.decided]
    async with one_that_stops("worker", house, tmp_path, points) as victim, asyncio.TaskGroup() as people:
        for key in decided:
            people.create_task(_approved(house, key))
        await stopped_at(victim, points)
        for course in resting:
            await _in_place(house, course)
        async with a_worker(house):
            for course in resting:
                await _in_place(house, course)
            victim.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            await victim.wait()  # a person decides when it is gone
            for course in courses:
                if course.case.asks and not course.case.decided:
                    people.create_task(_approved(house, course.key))
            seconds = await _done(house, courses, killed)
    for course in courses:
        with subtests.test(msg=course.case.name):
            _check(house, course)
            recovered(f"killed: {course.case.name}", seconds[course.key])
            assert seconds[course.key] < missed_within
