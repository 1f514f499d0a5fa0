"""The retry tests of the article on e-mail that an agent sends twice. Its message is the write to the CRM here."""

from __future__ import annotations

import asyncio

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Status
from tests.articles.witness import applied, check_row, contacts
from tests.crash.evidence import attempts_of, requests_of
from tests.support.house import House, eventually
from tests.workflows.test_creates import _form, _send, _sent
from tests.workflows.test_reviews import _asked, _decided

pytestmark = pytest.mark.articles


async def test_1_drop_the_write_is_done_and_answered_504(house: House) -> None:
    """The e-mail article's test by a dropped answer: the write is done, and its answer is 504.

    504 is no failure but `uncertain`. The caller's retry with the same key gets the first outcome, marked as a
    duplicate, and the witness has one record and one request.
    """
    form = _form()
    house.control.fault("status_after_apply", match=form["lead"]["email"], args={"status": 504})
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (attempt,) = attempts_of(house, key)
    assert (attempt.outcome, attempt.http_status) == (AnswerClass.UNCERTAIN, 504)
    again = [(await _send(house, form)).json() for _ in range(2)]
    assert [(one["result"], one["event_key"]) for one in again] == [("duplicate", key)] * 2
    assert applied(house, house.mutation(key)) == len(contacts(house, form["lead"]["email"])) == 1
    check_row(house, house.mutation(key))


async def test_2_delay_a_retry_while_the_first_request_is_still_on_its_way(house: House) -> None:
    """The e-mail article's test by a late answer: the retry comes while the first request has not been answered.

    Ruling: the article's *in progress* is told to a caller who waits for an answer; whoever submits a lead does not,
    and is told *duplicate* at once, with the run that is at it. The witness has one record and one request.
    """
    form = _form()
    email = form["lead"]["email"]
    house.control.fault("delay", match=email, args={"seconds": 1.0})
    first = (await _send(house, form)).json()
    await eventually(lambda: contacts(house, email))
    retried = await _send(house, form)
    (attempt,) = attempts_of(house, first["event_key"])
    assert attempt.outcome is None, "the answer had come: the test would prove nothing"
    assert (retried.status_code, retried.json()) == (202, first | {"result": "duplicate"})
    await house.outcome(first["event_key"], Outcome.DONE)
    assert applied(house, house.mutation(first["event_key"])) == len(contacts(house, email)) == 1


async def test_3_the_same_key_with_another_request_is_a_mismatch_and_another_job_is_not(house: House) -> None:
    """The e-mail article's contract, which a retry meets: a key that is used for a different request.

    It is refused with 409, whether the first request is still under way or done, and never gets the old answer; the
    key belongs to the job, so the same words for another source record are a write of their own.
    """
    form = _form()
    house.control.fault("delay", match=form["lead"]["email"], args={"seconds": 0.5})
    key = await _sent(house, form)
    other = form | {"lead": form["lead"] | {"company": "Rival"}}
    under_way = await _send(house, other)
    await house.outcome(key, Outcome.DONE)
    done = await _send(house, other)
    for answer in (under_way, done):
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:leadproof:problem:key-conflict")
    (record,) = contacts(house, form["lead"]["email"])
    assert record["properties"]["company"] == "Acme"

    elsewhere = _form()
    twin = form | {"source_record_id": elsewhere["source_record_id"], "lead": elsewhere["lead"]}
    started = (await _send(house, twin)).json()
    assert started["result"] == "started"
    await house.outcome(started["event_key"], Outcome.DONE)
    assert applied(house, house.mutation(key)) == applied(house, house.mutation(started["event_key"])) == 1


async def test_4_a_refusal_leaves_the_key_free(house: House) -> None:
    """The e-mail article's contract, which a retry meets: after a 400 or a 429 the same key goes through.

    Ruling: the refusal is not the stored answer, and its evidence is kept all the same. The 429 is tried again by the
    run, the 400 by a person; each time both requests carry the same key, and one of them was applied.
    """
    refused, limited = house.contact(), house.contact()
    body = {"category": "VALIDATION_ERROR", "errors": [{"code": "INVALID_OPTION"}]}
    house.control.fault("status", match=refused, args={"status": 400, "body": body})
    house.control.fault("rate_limit", match=limited, args={"retry_after": 0})
    await house.deliver(house.creation(refused), house.creation(limited))
    mutation, item = await _asked(house, house.key_of(refused))
    assert mutation.status is Status.REJECTED
    await _decided(house, item, "retry")
    keys = [house.key_of(record_id) for record_id in (refused, limited)]
    await asyncio.gather(*(house.outcome(key, Outcome.DONE) for key in keys))
    for key, status in zip(keys, (400, 429), strict=True):
        row = house.mutation(key)
        assert [(sent["status"], sent["applied"]) for sent in requests_of(house, row)] == [(status, False), (200, True)]
        assert [attempt.http_status for attempt in attempts_of(house, key)] == [status, 200]
        assert applied(house, row) == 1
