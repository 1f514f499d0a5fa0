"""One record at a time: two events of one lead, in either order, on HubSpot and on Salesforce, at the witness."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from leadproof.domain import keys
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.review import Decision, ReviewDecision, ReviewItem
from leadproof.ledger import records
from tests.support.house import House, eventually, eventually_answered, quick_policy
from tests.workflows.test_creates import _form, _found, _sent
from tests.workflows.test_from_the_ui import _unread
from tests.workflows.test_recovery import _sweep
from tests.workflows.test_reviews import BIG, _asked, _decided
from tests.workflows.test_two_targets import leads

A_MOMENT = timedelta(milliseconds=40)
OPERATION = {"hubspot": "contacts.write", "salesforce": "leads.write"}
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


def _requests(house: House, target: str, said: str) -> int:
    """Writes that say this, as the witness received them."""
    rows = house.control.get("/requests", provider=target, operation=OPERATION[target])
    return sum(said in str(row["body"]) for row in rows)


def _writes(house: House, target: str, mutation: Mutation) -> int:
    return _requests(house, target, mutation.mutation_key)


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


@TARGETS
async def test_the_second_event_of_a_lead_stands_on_what_the_first_one_wrote(house: House, target: str) -> None:
    """It was planned while the first one's request was on its way; what that one made is no change by somebody."""
    first = _of(target)
    late = {"kind": "apply_later", "times": 1, "match": first["lead"]["email"], "args": {"seconds": 0.3}}
    house.control.post("/faults", {"provider": target, "operation": OPERATION[target], **late})
    older = await _sent(house, first)
    await eventually(lambda: _requests(house, target, first["lead"]["email"]))
    newer = await _sent(house, _then(first, timedelta(seconds=1), title="Chief"))
    await house.outcome(older, Outcome.DONE)
    await house.outcome(newer, Outcome.DONE, within=20)
    assert _title(house, first, target) == "Chief"
    assert [_writes(house, target, house.mutation(key)) for key in (older, newer)] == [1, 1]
    assert house.ledger.receipts(house.mutation(newer).mutation_key).review is None  # type: ignore[union-attr]


async def test_a_second_decision_about_one_contact_stands_on_the_first(house: House) -> None:
    """Both were planned before either was written: Dana's by the country, then Kofi's."""
    record_id, first = await house.lead(country="DE", **BIG)
    _, item = await _asked(house, first)
    second = await _changed(house, record_id, "country", "US")
    _, later = await _asked(house, second)
    await _decided(house, item, "approve")
    await house.outcome(first, Outcome.DONE)
    assert house.properties(record_id)["hubspot_owner_id"] == "501"
    await _decided(house, later, "approve")
    await house.outcome(second, Outcome.DONE)
    assert house.properties(record_id)["hubspot_owner_id"] == "502"
    assert len(house.writes(record_id)) == 2


async def _held(house: House) -> tuple[str, str, ReviewItem]:
    """A private address that a mutation holds, since somebody changed its status after our write."""
    record_id = house.contact(email=f"{uuid.uuid4().hex}@gmail.com", company="")
    edit = {"fields": {"hs_lead_status": "OPEN"}, "user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    _, item = await _asked(house, key)
    return record_id, key, item


async def _changed(house: House, record_id: str, name: str, value: str) -> str:
    """The key of the event that a person changes a field of the contact."""
    house.control.person("9003", record_id, **{name: value})
    change = house.change(record_id, name, value)
    await house.deliver(change)
    return keys.event_key(
        tenant=house.settings.tenant,
        environment=house.settings.environment,
        source_system="hubspot",
        source_record_id=record_id,
        event_kind="contact.propertyChange",
        occurrence=keys.occurrence(["contact.propertyChange", name, str(change["occurredAt"])]),
    )


async def _waiting(house: House, record_id: str, company: str) -> str:
    """A later event of the contact, by which it is no private address any more and whose mutation waits for it."""
    key = await _changed(house, record_id, "company", company)
    await house.until(key, lambda lead: any(m.reason is Reason.WAITS for m in house.mutations(key)))
    return key


def _order(house: House, record_id: str) -> list[str]:
    """Whose requests the record met, in the order in which the witness received them."""
    return [row["body"]["properties"]["leadproof_effect"] for row in house.writes(record_id)]


async def test_the_first_in_the_queue_that_does_not_claim_is_passed_over(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "TURN", timedelta(seconds=0.5))
    record_id, holder, item = await _held(house)
    dead = await _waiting(house, record_id, "One")
    await house.handle(dead).terminate("a test")
    second, third = [await _waiting(house, record_id, name) for name in ("Two", "Three")]
    await _decided(house, item, "accept")
    # neither was told that it is free: whichever asks first writes, and answers the other
    for key in (second, third):
        await house.outcome(key, Outcome.DONE, Outcome.SUPERSEDED, within=45)
    claimed = _order(house, record_id)
    mine, *others = [house.mutation(key).mutation_key for key in (holder, second, third)]
    assert (claimed[0], len(claimed), claimed[1] in others) == (mine, 2, True)
    assert house.mutation(dead).reason is Reason.WAITS

    async def resumed() -> bool:
        await _sweep(house)
        lead = house.ledger.lead(dead)
        return lead is not None and lead.run == 1

    await eventually_answered(resumed, within=20)
    await house.outcome(dead, Outcome.SUPERSEDED)
    assert _order(house, record_id) == claimed


async def test_who_waits_asks_again_where_the_signal_is_lost(house: House) -> None:
    """Whoever applied the decision died before it could tell anybody: it stands in the ledger alone."""
    record_id, _, item = await _held(house)
    waiting = await _waiting(house, record_id, "One")
    decision = ReviewDecision(
        decision_id=uuid.uuid4().hex, review_id=item.review_id, version=item.version, decision=Decision.ACCEPT,
        reason="by a test",
    )  # fmt: skip
    house.ledger.record_decision(decision, reviewer="a test", via="a test")
    applied = house.ledger.apply_decision(decision.decision_id, quiescence=timedelta(0))
    assert applied.wakes == (waiting,)
    await house.outcome(waiting, Outcome.DONE, within=20)
    assert len(house.writes(record_id)) == 2


async def test_the_hold_passes_from_a_mutation_to_its_overwrite_while_another_waits(house: House) -> None:
    record_id, holder, item = await _held(house)
    waiting = await _waiting(house, record_id, "One")
    await _decided(house, item, "overwrite")
    await house.outcome(holder, Outcome.DONE)
    await house.outcome(waiting, Outcome.DONE, within=20)
    parent, derived = house.mutations(holder)
    assert _order(house, record_id) == [one.mutation_key for one in (parent, derived, house.mutation(waiting))]
    properties = house.properties(record_id)
    assert (properties["hubspot_owner_id"], properties["hs_lead_status"]) == ("505", "NEW")


async def test_a_record_is_given_up_only_when_no_request_can_change_it_any_more(house: House) -> None:
    record_id = house.contact()
    house.control.fault("apply_later", match=record_id, args={"seconds": 0.3})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually(lambda: house.writes(record_id))
    house.control.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"})
    mutation, item = await _asked(house, key)
    assert mutation.reason is Reason.REMOVED
    answer = await house.decide(item.review_id, "abandon", version=item.version)
    assert answer.status_code in {200, 202}
    await house.outcome(key, Outcome.ABANDONED)
    (attempt,) = house.ledger.attempts_of(mutation.mutation_key)
    quiescence = parse_policy(quick_policy()).targets["hubspot"].quiescence
    assert house.mutation(key).updated_at >= attempt.send_before + quiescence


async def test_a_record_that_was_restored_is_written_to_by_its_next_event(house: House) -> None:
    """The question about the one that was removed keeps the record until a person has answered it."""
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    record = {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"}
    house.control.delete("/records", record)
    await _decided(house, item, "approve")
    await house.until(key, lambda lead: house.mutation(key).reason is Reason.REMOVED)
    house.control.put("/records", {**record, "archived": False, "properties": {}})
    house.control.person("9003", record_id, numemployees="1-5")
    waiting = await _waiting(house, record_id, "Smaller")
    assert house.writes(record_id) == []
    _, item = await _asked(house, key)
    await _decided(house, item, "abandon")
    await house.outcome(key, Outcome.ABANDONED)
    await house.outcome(waiting, Outcome.DONE)
    assert _order(house, record_id) == [house.mutation(waiting).mutation_key]
    assert house.properties(record_id)["hubspot_owner_id"] == "505"


def _merge(house: House, winner: str, loser: str) -> None:
    names = {"winner": winner, "loser": loser, "user": "9001"}
    house.control.post("/merge", {"provider": "hubspot", "object": "contacts", **names})


async def test_the_winner_of_a_merge_is_written_to_after_the_approval(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    loser = house.contact()
    _merge(house, record_id, loser)
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert (len(house.writes(record_id)), len(house.writes(loser))) == (1, 0)
    assert house.properties(record_id)["hubspot_owner_id"] == "502"


async def test_a_merge_between_the_write_and_its_read_back_is_a_question(house: House) -> None:
    record_id, key = await _unread(house)
    winner = house.contact()
    _merge(house, winner, record_id)
    house.control.delete("/faults")
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.MERGED)
    await _decided(house, item, "accept")
    await house.outcome(key, Outcome.SUPERSEDED)
    assert (len(house.writes(record_id)), len(house.writes(winner))) == (1, 0)
