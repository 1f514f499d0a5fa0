"""A lead goes on under the policy that it was admitted under, whatever holds by then and can still be read."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from sqlalchemy import insert

from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.review import ReviewItem
from leadproof.domain.steps import Arrival
from leadproof.ledger.tables import POLICY as POLICIES
from tests.support.house import EMBEDDED_VERSION, House, eventually, quick_policy
from tests.support.ledgers import a_mutation, a_plan
from tests.workflows.test_reviews import BIG, _asked, _decided

_versions = itertools.count(1)


def _earlier(**changes: str) -> tuple[str, str]:
    """A version that is not the one of now, and its text."""
    version = f"earlier-{next(_versions)}"
    text = quick_policy().replace(f'version = "{EMBEDDED_VERSION}"', f'version = "{version}"')
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return version, text


def _kept(house: House, version: str, text: str) -> None:
    """A text as an earlier version of the code has kept it, which may have taken what this one refuses."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    row = {"version": version, "digest": digest, "body": text, "loaded_at": house.ledger._clock.now()}
    house.ledger._write(lambda tx: tx.run(insert(POLICIES), row))


def _admitted(house: House, record_id: str, version: str) -> LeadEvent:
    """The event of a contact's creation, taken in while that version held."""
    event = house.admitted(record_id).model_copy(update={"policy_version": version})
    house.ledger.admit([Arrival(event=event)])
    return event


async def _run_failed(house: House, key: str) -> ReviewItem:
    item = await eventually(lambda: house.ledger.review_of(key))
    assert (item.reason, item.queue) == (Reason.RUN_FAILED, "default")
    return item


async def test_an_approval_under_a_policy_that_has_changed_meanwhile_is_carried_out_as_it_was_meant(
    house: House,
) -> None:
    """Another queue, another owner, another window, and another field to look at."""
    version, text = _earlier(
        **{
            'queue = "enterprise"': 'queue = "accounts"',
            "[queue.enterprise]": "[queue.accounts]",
            'kofi = "502"': 'kofi = "503"',
            "observation_window_seconds = 4": "observation_window_seconds = 5",
            'compare_also = ["email"]': 'compare_also = ["email", "company"]',
        }
    )
    house.ledger.load_policy(parse_policy(text))
    record_id = house.contact(**BIG)
    key = _admitted(house, record_id, version).event_key
    assert (await house.deliver(house.creation(record_id)))["started"] == 1
    mutation, item = await _asked(house, key)
    assert (item.queue, mutation.policy_version) == ("accounts", version)
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["hubspot_owner_id"] == "503"
    assert len(house.writes(record_id)) == 1


async def test_a_redelivery_after_the_policy_has_changed_is_still_the_same_event(house: House) -> None:
    version, text = _earlier()
    house.ledger.load_policy(parse_policy(text))
    record_id = house.contact()
    key = _admitted(house, record_id, version).event_key
    event = house.creation(record_id)
    await house.deliver(event)
    await house.outcome(key, Outcome.DONE)
    assert (await house.deliver(event))["duplicate"] == 1
    assert [mutation.policy_version for mutation in house.mutations(key)] == [version]
    assert len(house.writes(record_id)) == 1


async def test_a_lead_goes_on_under_a_policy_that_would_be_refused_today(house: House) -> None:
    version, text = _earlier(**{"observation_window_seconds = 4": "observation_window_seconds = 1"})
    _kept(house, version, text)
    record_id = house.contact()
    key = _admitted(house, record_id, version).event_key
    await house.deliver(house.creation(record_id))
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


@pytest.mark.parametrize("planned", [False, True])
async def test_a_policy_that_can_no_longer_be_read_is_a_question_that_can_be_answered(
    house: House, planned: bool
) -> None:
    version, text = _earlier(**{'planner = "rules"': 'planner = "rules"\nflavour = "of an earlier time"'})
    _kept(house, version, text)
    record_id = house.contact()
    event = _admitted(house, record_id, version)
    if planned:
        mutation = a_mutation(event, provider_record_id=record_id)
        house.ledger.record_plan(a_plan(event, [mutation]), [mutation])
    await house.deliver(house.creation(record_id))
    await _run_failed(house, event.event_key)
    status = await house.handle(event.event_key).query("status")
    assert "can no longer be read" in status["problem"]
    item = await _run_failed(house, event.event_key)
    assert (await house.decide(item.review_id, "abandon")).status_code == 200
    await house.outcome(event.event_key, Outcome.ABANDONED)
    assert [one.status for one in house.mutations(event.event_key)] == [Status.ABANDONED] * planned
    assert house.writes(record_id) == []
    assert await house.handle(event.event_key).result() == Outcome.ABANDONED
