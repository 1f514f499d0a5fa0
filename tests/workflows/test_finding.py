"""The saved views of docs/temporal-ui.md, asked of Temporal's own visibility while leads come and go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Status
from tests.support.house import House, eventually_answered

DOCUMENT = Path(__file__).parents[2] / "docs" / "temporal-ui.md"
BIG = {"numemployees": "1000+"}
EDIT = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "after_write"}
REFUSAL = {"status": 400, "body": {"status": "error", "category": "VALIDATION_ERROR", "message": "no"}}


def views() -> dict[str, str]:
    """The documented queries, by the name of the view."""
    rows = re.findall(r"^\| ([^|]+) \| `(Leadproof[^`]+)` \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


async def _seen(house: House, view: str) -> set[str]:
    query = f'{views()[view]} AND LeadproofTenant = "{house.settings.tenant}"'
    return {run.id.removeprefix("lead:") async for run in house.client.list_workflows(query)}


async def _see(house: House, mine: set[str], expected: Mapping[str, set[str]]) -> bool | None:
    """Whether each view shows of a test's own leads exactly these; other tests leave runs of theirs open."""
    for view, keys in expected.items():
        if await _seen(house, view) & mine != keys:
            return None
    return True


async def test_each_view_shows_exactly_the_runs_of_its_state_and_a_decision_takes_them_out(house: House) -> None:
    _, done = await house.lead()
    asked, edited, refused, lost = (house.contact(**more) for more in (BIG, {}, {}, {}))
    house.control.fault("human_edit", match=edited, args=EDIT)
    house.control.fault("status", match=refused, args=REFUSAL)
    house.control.fault("drop_after_apply", match=lost)
    house.control.fault("status", operation="contacts.read", match=lost, after=1, times=1000, args={"status": 503})
    await house.deliver(*map(house.creation, (asked, edited, refused, lost)))
    big, divergent, rejected, uncertain = map(house.key_of, (asked, edited, refused, lost))
    mine = {done, big, divergent, rejected, uncertain}
    await house.outcome(done, Outcome.DONE)
    await eventually_answered(
        partial(
            _see,
            house,
            mine,
            {
                "uncertain": {uncertain},
                "divergent": {divergent},
                "refused by the target": {rejected},
                "open reviews of one queue": {big},
            },
        )
    )
    house.control.delete("/faults")
    await house.outcome(uncertain, Outcome.DONE, Outcome.REVIEW)
    if house.mutation(uncertain).status is Status.UNCERTAIN:  # on a machine so slow that the window has passed
        await _decide(house, house.mutation(uncertain), "abandon")
    questions = {"open reviews": {big, divergent, rejected}, "uncertain": set[str](), "divergent": {divergent}}
    await eventually_answered(partial(_see, house, mine, questions))
    for key, decision in ((big, "approve"), (divergent, "accept"), (rejected, "retry")):
        await _decide(house, house.mutation(key), decision)
        await house.handle(key).result()
    closed = {view: set[str]() for view in ("open reviews", "uncertain", "divergent", "refused by the target")}
    await eventually_answered(partial(_see, house, mine, closed))
    of_an_effect = views()["the run of an effect"].replace("<mutation key>", house.mutation(done).mutation_key)
    assert [run.id async for run in house.client.list_workflows(of_an_effect)] == [f"lead:{done}"]


async def test_a_run_leaves_a_view_while_it_stays_in_another(house: House) -> None:
    record_id = house.contact(lifecyclestage="customer")  # beside what is written, two moves that a person approves
    house.control.fault("human_edit", match=record_id, args=EDIT)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually_answered(partial(_see, house, {key}, {"divergent": {key}, "open reviews": {key}}))
    edited, clears, _ = house.mutations(key)
    await _decide(house, edited, "accept")
    await eventually_answered(partial(_see, house, {key}, {"divergent": set(), "open reviews": {key}}))
    await _decide(house, clears, "abandon")
    await eventually_answered(partial(_see, house, {key}, {"open reviews": set()}))


async def test_a_run_that_was_terminated_is_in_no_view_of_open_ones(house: House) -> None:
    record_id = house.contact()
    house.control.fault("human_edit", match=record_id, args=EDIT)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually_answered(partial(_see, house, {key}, {"divergent": {key}, "open reviews": {key}}))
    await house.handle(key).terminate("by a test")
    await eventually_answered(partial(_see, house, {key}, {"divergent": set(), "open reviews": set()}))


async def test_every_documented_query_is_one(house: House) -> None:
    assert {"open reviews", "uncertain", "divergent"} <= views().keys()
    for view in views():
        assert all(re.fullmatch(r"[0-9a-f]{64}", key) for key in await _seen(house, view))


async def _decide(house: House, mutation: Mutation, decision: str) -> None:
    item = house.ledger.review_of(mutation.mutation_key)
    assert item is not None
    answer = await house.decide(item.review_id, decision, version=item.version)
    assert answer.status_code == 200, answer.text
