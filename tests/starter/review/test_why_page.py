"""What produced each value of a record, as a page: from the ledger alone where the starter cannot ask the CRM."""

from __future__ import annotations

from datetime import timedelta

from leadproof.domain.mutation import Difference, Mutation, Status
from leadproof.domain.steps import Question, Settlement
from tests.starter.door import Door, creation
from tests.starter.review.people import Person, Read
from tests.support.ledgers import START, a_mutation, a_plan, an_observation

RECORD = "601"
HOSTILE = "<script>alert(1)</script>\u202eevil"


async def _written(door: Door) -> Mutation:
    """An effect of ours on the record, read back, and asked about in the queue `enterprise`."""
    await door.deliver(creation(int(RECORD)))
    lead = door.ledger.lead(door.key(int(RECORD)))
    assert lead is not None
    mutation = a_mutation(lead, provider_record_id=RECORD, fields={"lead_status": HOSTILE, "title": "Buyer"})
    door.ledger.record_plan(a_plan(lead, [mutation]), [mutation])
    hour = timedelta(hours=1)
    door.ledger.claim(mutation.mutation_key, version=1, number=1, send_within=hour, quiescence=hour)
    claimed = door.ledger.mutation(mutation.mutation_key)
    assert claimed is not None
    seen = an_observation(
        claimed, START, record_id=RECORD, fields={"lead_status": HOSTILE, "title": "Boss", "company": None}
    )
    step = Settlement(
        status=Status.DIVERGENT,
        reason=None,
        observation=seen,
        differences=(Difference(field="title", intended="Buyer", observed="Boss"),),
        question=Question(reason=Status.DIVERGENT, queue="enterprise", due_at=START + hour),
    )
    assert door.ledger.settle(mutation.mutation_key, version=claimed.version, step=step).won
    return mutation


async def test_each_value_is_shown_with_where_it_came_from(door: Door, dana: Person) -> None:
    mutation = await _written(door)
    page = await dana.reads("/review/why", record=RECORD)
    assert f"hubspot contact {RECORD}" in page.text
    assert "the ledger alone is told" in page.text
    assert f"effect qualify {mutation.mutation_key[:12]}" in page.text
    assert "Neither hubspot's history nor this ledger tells who set it" in page.text
    assert "<script>alert(1)</script>" in page.text
    assert all(one.get("src") for one in page.all("script"))
    assert "⟨U+202E⟩evil" in page.text
    one = await dana.reads("/review/why", record=RECORD, field="title")
    assert "Boss" in one.text
    assert "alert(1)" not in one.text


async def test_what_was_never_set_is_folded_away_unless_it_is_asked_for(door: Door, dana: Person) -> None:
    await _written(door)
    page = await dana.reads("/review/why", record=RECORD)
    assert "1 field was never set company" in page.text
    assert "never set, as far as" not in page.text.lower()
    asked = await dana.reads("/review/why", record=RECORD, field="company")
    assert "Never set, as far as hubspot's history and this ledger tell." in asked.text


async def test_who_has_some_queues_sees_the_records_that_these_asked_about(door: Door) -> None:
    await _written(door)
    assert "Boss" in (await Person(door, "tom").reads("/review/why", record=RECORD)).text
    await door.deliver(creation(602))
    lead = door.ledger.lead(door.key(602))
    assert lead is not None
    other = a_mutation(lead, provider_record_id="602", fields={"title": "Buyer"})
    door.ledger.record_plan(a_plan(lead, [other]), [other])
    for name, status in (("tom", 404), ("ada", 404)):  # nothing was observed of it yet, for anybody
        assert (await Person(door, name).get("/review/why", record="602")).status_code == status
    for record in ("602", "999"):  # one that is not theirs is told as one that is not there
        told = Read((await Person(door, "tom").get("/review/why", record=record, target_system="hubspot")).text).text
        assert "No question about such a record was ever in a queue of yours." in told
        assert "is not there" not in told


async def test_nothing_is_explained_before_it_is_asked(dana: Person) -> None:
    page = await dana.reads("/review/why")
    assert page.all("input", name="record")
    assert "The effects of ours" not in page.text


async def test_a_record_that_nobody_knows_is_said_in_a_sentence(dana: Person) -> None:
    answer = await dana.get("/review/why", record="999")
    assert answer.status_code == 404
    assert "No lead and no effect in this ledger is about such a record: name it by its id in its CRM" in answer.text
    assert (await dana.get("/review/why", record="x" * 300)).status_code == 422
    assert (await dana.get("/review/why", record=HOSTILE)).status_code == 422


async def test_who_is_not_signed_in_is_shown_nothing(door: Door) -> None:
    answer = await door.http.get("/review/why", params={"record": RECORD})
    assert answer.status_code == 401
    assert RECORD not in answer.text
