"""Each role and each action: what a person may see and decide, and in whose name the decision stands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain.mutation import Reason
from leadproof.domain.proofs import verify_decision
from leadproof.domain.review import ReviewItem
from leadproof.domain.steps import Question
from starter.review.viewer import Role, Viewer
from tests.starter.door import PUBLIC, Door
from tests.starter.review.entrance import KEY, PEOPLE, Named, form_token
from tests.starter.review.people import a_review_door
from tests.starter.test_reviews import a_question
from tests.support.ledgers import START, a_mutation, a_plan

QUEUES = ("enterprise", "default")

# who: what each of the two queues is to them
MAY: dict[str, tuple[str, str]] = {
    "dana": ("decides", "decides"),  # a reviewer of all
    "kofi": ("decides", "nothing"),  # a reviewer of enterprise
    "mira": ("sees", "sees"),  # a viewer of all
    "tom": ("sees", "nothing"),  # a viewer of enterprise
    "ada": ("decides", "decides"),  # an admin
    "stranger": ("nothing", "nothing"),
}


@pytest.fixture
async def manned(unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    """The starter with a person of each kind; nobody works its leads, and nobody waits long for that."""
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.2)
    async with a_review_door(unworked, tmp_path, LEADPROOF_REVIEWERS=PEOPLE) as opened:
        yield opened


async def questions(door: Door) -> dict[str, ReviewItem]:
    """One question in each queue."""
    first, _ = await a_question(door, 101)
    await a_question(door, 102)
    lead = door.ledger.lead(door.key(102))
    assert lead is not None
    other = a_mutation(lead, provider_record_id="102", reason=Reason.NEEDS_APPROVAL, discriminator="other")
    door.ledger.record_plan(a_plan(lead, [other]), [other])
    event = door.ledger.open_event_review(
        lead.event_key, Question(reason=Reason.NEEDS_APPROVAL, queue="default", due_at=START)
    )
    return dict(zip(QUEUES, (first, event), strict=True))


@pytest.mark.parametrize("name", MAY)
async def test_each_role_and_each_action(manned: Door, name: str) -> None:
    asked = await questions(manned)
    person, dana = Named(manned.http, name), Named(manned.http, "dana")
    listed = await person.get("/review")
    assert listed.status_code == (403 if name == "stranger" else 200)
    for queue, may in zip(QUEUES, MAY[name], strict=True):
        item = asked[queue]
        here = f"/review/{item.review_id}"
        seen = may != "nothing"
        assert (f'href="{here}"' in listed.text) is seen
        assert (await person.get(here)).status_code == (200 if seen else 403)
        assert (await person.get(f"{here}/live")).status_code == (200 if seen else 403)
        offered = 'name="decision"' in (await person.get(here)).text
        assert offered is (may == "decides")
        decision = "approve" if queue == "enterprise" else "abandon"
        form = await dana.form(item.review_id, decision)  # made by hand, or found on somebody's screen
        stolen = await person.sends(item.review_id, form)
        assert stolen.status_code == (303 if name == "dana" else 403)
        if seen and name != "dana":
            own = form_token(manned.settings, name)
            answer = await person.sends(item.review_id, {**form, "csrf": own})
            assert answer.status_code == (303 if may == "decides" else 403)
        rows = manned.ledger.decisions_of(item.event_key)
        assert [(row.reviewer, row.via) for row in rows if row.review_id == item.review_id] == (
            [(f"person:{name}", "page")] if may == "decides" else []
        )


async def test_the_same_questions_to_a_link_of_a_token_that_may_decide(manned: Door) -> None:
    asked = await questions(manned)
    manned.http.base_url = PUBLIC  # where the cookie is for
    url = (await manned.post("/v1/reviews/links", by="decide")).json()["url"]
    await manned.http.post("/review/sign-in", data={"link": url.partition("?link=")[2]})
    listed = await manned.http.get("/review")
    assert "Signed in as <bdi>api:decide</bdi>, admin" in listed.text
    assert all(item.review_id in listed.text for item in asked.values())


async def test_what_goes_to_the_run_from_the_page_is_signed_in_the_persons_name(
    manned: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, mutation = await a_question(manned)
    dana = Named(manned.http, "dana")
    sent: list[Any] = []
    handle = type(manned.client.get_workflow_handle("x"))
    real = handle.execute_update

    async def listening(self: Any, update: Any, arg: Any, **more: Any) -> Any:
        sent.append((self.id, arg))
        return await real(self, update, arg, **more)

    monkeypatch.setattr(handle, "execute_update", listening)
    form = await dana.form(item.review_id, "approve", reviewer="person:ada")
    assert (await dana.sends(item.review_id, form)).status_code == 303
    ((workflow, decision),) = sent
    assert workflow == f"lead:{mutation.event_key}"
    assert (decision["reviewer"], decision["reason"]) == ("person:dana", "we know them")
    assert verify_decision(decision, "a-decision-key")
    assert not verify_decision(decision, KEY)  # the key that lets people in proves nothing
    assert not verify_decision({**decision, "reviewer": "person:ada"}, "a-decision-key")
    assert form["csrf"] not in str(decision)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("queues", [None, frozenset({"west"}), frozenset[str]()])
def test_a_viewer_never_decides_and_nobody_beyond_their_queues(role: Role, queues: frozenset[str] | None) -> None:
    viewer = Viewer("person:x", role, queues, "csrf")
    for queue in ("west", "east", ""):
        theirs = queues is None or queue in queues
        assert viewer.sees(queue) is theirs
        assert viewer.decides(queue) is (theirs and role is not Role.VIEWER)
