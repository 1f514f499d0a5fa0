"""Leads at every point of their way: one process is stopped at all of their points at once, each lead at its own, and
killed with SIGKILL; an ordinary worker goes on with all of them."""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from leadproof.domain import keys
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.review import ReviewItem
from tests.crash import evidence
from tests.crash.processes import a_worker, one_that_stops, stopped_at
from tests.crash.stopping import Point
from tests.inbound.test_salesforce import message, notification
from tests.support.house import POLICY, House, eventually

ANSWERED_AFTER: Final = 70
"""Seconds: longer than it takes to bring every other lead to its point and to start another worker."""

LAST_AFTER: Final = 60
"""Seconds after the kill in which whatever is late is still waited for, to be told."""

A_BIG_ACCOUNT: Final = {"numemployees": "1000+"}
"""Of a contact that a person is asked about."""

PATH_SECRET: Final = "the-last-part-of-an-address"
MORE: Final = {"LEADPROOF_WORKER_THREADS": "40", "LEADPROOF_SALESFORCE_PATH_SECRETS": PATH_SECRET}
"""A stopped call keeps its thread."""

UNHEARD, HEARD = None, AnswerClass.ACCEPTED

LATE: Final[Mapping[str, object]] = {"kind": "delay", "args": {"seconds": ANSWERED_AFTER}}
LOST: Final[Mapping[str, object]] = {"kind": "drop_before_apply"}
LAGS: Final[Mapping[str, object]] = {"kind": "stale_read", "operation": "contacts.read", "after": 2}
"""The source's read and the check are fresh, the first read-back is not."""


def edited(moment: str, user: str = "9003", **fields: str) -> Mapping[str, object]:
    """A person who edits the record right before our write is applied, or right after it."""
    return {"kind": "human_edit", "args": {"fields": fields, "user": user, "moment": moment}}


@dataclass(frozen=True)
class Case:
    """One lead, and where it is when its worker is killed.

    Attributes:
        point: `None` where nothing of it runs at that moment.
        attempts: how each attempt must stand in the end.
        sent: how many requests each mutation's effect may take.
        faults: of the sandbox, on this lead's write.
        asks: what a person answers; empty where nobody is asked.
        decided: the answer is on its way when the worker is killed; else it is given afterwards.
        source: how the lead comes in: a `contact` of HubSpot, a `form`, a contact in `GB`, which is made in Salesforce
            too, or a `lead` of Salesforce.
    """

    name: str
    point: Point | None
    attempts: tuple[AnswerClass | None, ...] = (HEARD,)
    sent: tuple[int, ...] = (1,)
    faults: tuple[Mapping[str, object], ...] = ()
    asks: str = ""
    decided: bool = False
    source: str = "contact"

    @property
    def answered(self) -> bool:
        """Whether the person's answer is an effect of its own."""
        return self.asks in {"overwrite", "restore"}


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


async def sent(house: House, case: Case) -> Course:
    """The lead of a case, delivered while nobody works."""
    number = uuid.uuid4().hex
    email = f"{number}@{'competitor' if case.source == 'lead' else 'lead'}.example"
    if case.source == "form":
        _arm(house, case, email)
        lead = {"email": email, "first_name": "Ada", "country": "US", "company": "Acme"}
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
    if case.source == "lead":
        return await _saved_in_salesforce(house, case, email)
    british = {"firstname": "Ada", "lastname": "Bo", "company": "Acme", "country": "GB"}
    asked = A_BIG_ACCOUNT if case.asks == "approve" else {}
    record_id = house.contact(email=email, **(british if case.source == "GB" else asked))
    _arm(house, case, email if case.source == "GB" else record_id)
    await house.deliver(house.creation(record_id))
    return Course(case, house.key_of(record_id), record_id)


async def _saved_in_salesforce(house: House, case: Case, email: str) -> Course:
    lead = {"LastName": "Quill", "Company": "Rival", "Email": email}
    asked = {"provider": "salesforce", "object": "leads", "user": "", "properties": lead}
    record_id = str(house.control.put("/records", asked)["id"])
    _arm(house, case, record_id)
    address = f"/webhooks/salesforce/outbound-message/{PATH_SECRET}"
    body = message(notification(record=record_id)).encode()
    answer = await house.http.post(address, content=body, headers={"content-type": "text/xml; charset=utf-8"})
    assert answer.status_code == 200, answer.text
    key = keys.event_key(
        tenant=house.settings.tenant,
        environment=house.settings.environment,
        source_system="salesforce",
        source_record_id=record_id,
        event_kind="lead.saved",
        occurrence=None,
    )
    return Course(case, key, "")


def _arm(house: House, case: Case, match: str) -> None:
    system = "salesforce" if case.source in {"GB", "lead"} else "hubspot"
    for fault in case.faults:
        known = {"provider": system, "operation": evidence.WRITES[system], "match": match}
        house.control.post("/faults", known | dict(fault))


async def _asked(house: House, key: str) -> ReviewItem:
    await house.outcome(key, Outcome.REVIEW, within=80)
    for mutation in house.mutations(key):
        item = house.ledger.review_of(mutation.mutation_key)
        if item is not None:
            return item
    raise AssertionError("nobody is asked")


async def person_answers(house: House, course: Course) -> None:
    """A person's answer; the lead ends by it, however long the worker lets the person wait."""
    item = await _asked(house, course.key)
    answer = await house.decide(item.review_id, course.case.asks, version=item.version)
    assert answer.status_code in {200, 202}, answer.text


async def _in_place(house: House, course: Course) -> None:
    """Until a lead is where it must be that stops at no point."""
    if course.case.asks:
        await _asked(house, course.key)
    else:
        await eventually(lambda: house.properties(course.record_id).get("leadproof_effect"), 80)
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


def check(house: House, course: Course) -> None:
    """One effect, its status, and every attempt as it must stand."""
    case = course.case
    evidence.holds(house, course.key, sent=case.sent, answered=case.answered)
    assert [attempt.outcome for attempt in evidence.attempts_of(house, course.key)] == list(case.attempts)
    if case.source == "contact":  # of whatever marker
        assert sum(row["applied"] for row in house.writes(course.record_id)) == len(case.sent)


def points_of(courses: Sequence[Course]) -> dict[str, Point]:
    return {course.key: course.case.point for course in courses if course.case.point is not None}


async def killed_everywhere(
    house: House,
    cases: Sequence[Case],
    folder: Path,
    *,
    recovered: Callable[[str, float], None],
    missed_within: float,
    subtests: pytest.Subtests,
) -> None:
    """Bring every lead to its point, kill the worker, and hold each lead against its case and the time it took."""
    courses = [await sent(house, case) for case in cases]
    points = points_of(courses)
    resting = [course for course in courses if course.case.point is None]
    async with one_that_stops("worker", house, folder, points) as victim, asyncio.TaskGroup() as people:
        for course in courses:
            if course.case.decided:
                people.create_task(person_answers(house, course))
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
                    people.create_task(person_answers(house, course))
            seconds = await _done(house, courses, killed)
    for course in courses:
        with subtests.test(msg=course.case.name):
            check(house, course)
            recovered(f"killed: {course.case.name}", seconds[course.key])
            assert seconds[course.key] < missed_within


def patient_policy() -> str:
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
