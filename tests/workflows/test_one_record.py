"""One record at a time: two events of one lead, in either order, on HubSpot and on Salesforce, at the witness."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from tests.support.house import House
from tests.workflows.test_creates import _form, _found, _sent
from tests.workflows.test_reviews import _asked, _decided
from tests.workflows.test_two_targets import leads

A_MOMENT = timedelta(milliseconds=40)
TARGETS = pytest.mark.parametrize("target", ["hubspot", "salesforce"])


def _of(target: str) -> dict[str, Any]:
    """A form whose lead is made in this system."""
    return _form(title="Head", **({"country": "GB", "last_name": "Bo"} if target == "salesforce" else {}))


def _then(form: dict[str, Any], later: timedelta, **lead: Any) -> dict[str, Any]:
    """Another submission of the same lead, so much later."""
    moment = datetime.fromisoformat(form["occurred_at"]) + later
    return form | {
        "occurrence": uuid.uuid4().hex,
        "occurred_at": moment.isoformat(),
        "lead": {**form["lead"], **lead},
    }


def _title(house: House, form: dict[str, Any], target: str) -> str:
    """What the only record of the lead says, at the witness."""
    (record,) = leads(house, form["lead"]["email"]) if target == "salesforce" else _found(house, form["lead"]["email"])
    return str(record["properties"]["Title" if target == "salesforce" else "jobtitle"])


def _writes(house: House, target: str, mutation: Mutation) -> int:
    """Requests of this mutation's, as the witness received them."""
    operation = "leads.write" if target == "salesforce" else "contacts.write"
    rows = house.control.get("/requests", provider=target, operation=operation)
    return sum(mutation.mutation_key in str(row["body"]) for row in rows)


@TARGETS
@pytest.mark.parametrize("together", [False, True])
async def test_of_two_events_40_ms_apart_in_reverse_order_the_newer_one_stands(
    house: House, target: str, together: bool
) -> None:
    older = _of(target)
    newer = _then(older, A_MOMENT, title="Chief")
    second = await _sent(house, newer)
    if not together:
        await house.outcome(second, Outcome.DONE)
    first = await _sent(house, older)
    await house.outcome(second, Outcome.DONE)
    await house.outcome(first, Outcome.SUPERSEDED, Outcome.DONE)
    assert _title(house, older, target) == "Chief"
    mutation = house.mutation(first)
    if not together or mutation.status is Status.SUPERSEDED:  # at once the older may have been the first to claim
        assert (mutation.status, mutation.reason) == (Status.SUPERSEDED, Reason.NEWER_EVENT)
        assert _writes(house, target, mutation) == 0


@TARGETS
async def test_an_older_event_that_says_more_does_not_write_over_a_newer_one(house: House, target: str) -> None:
    """Its plan was made on what the newer one left, so that the base tells nothing of it."""
    newer = _of(target)
    older = _then(newer, -A_MOMENT, title="Assistant", phone="+12025550123")
    await house.outcome(await _sent(house, newer), Outcome.DONE)
    key = await _sent(house, older)
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    (difference,) = mutation.differences
    assert (difference.field, difference.intended, difference.observed) == ("title", "Assistant", "Head")
    assert _title(house, newer, target) == "Head"
    assert _writes(house, target, mutation) == 0
    await _decided(house, item, "overwrite")  # a person has seen both
    await house.outcome(key, Outcome.DONE)
    assert _title(house, newer, target) == "Assistant"
