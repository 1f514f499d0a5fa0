"""The five cases of the article on replay safety: what is retried by whom it may be is carried out once."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta

import httpx
import pytest

from leadproof.clock import SystemClock
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import load
from tests.articles.conftest import Wreck
from tests.articles.forgetting import forget
from tests.articles.witness import applied, contacts
from tests.crash.evidence import attempts_of
from tests.starter.signing import hubspot_headers
from tests.support.house import PUBLIC, SECRET, House, quick_policy
from tests.support.serving import free_port, serving
from tests.workflows.test_creates import _form, _send, _sent

pytestmark = pytest.mark.articles

GOOD = {"owner": "kofi", "lifecycle_stage": "salesqualifiedlead", "lead_status": "OPEN"}
LATER = timedelta(hours=20)


async def test_1_a_time_out_after_the_commit_is_answered_with_what_was_stored(house: House) -> None:
    """Case 1 of the replay-safety article: the CRM has applied the write when the tool's time-out strikes.

    The retry of the same intent is answered *duplicate*, which is our word for *replayed*, with the key under which
    the stored outcome stands; the witness has one record and one request.
    """
    form = _form()
    house.control.fault("delay", match=form["lead"]["email"], args={"seconds": 2.5})
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (attempt,) = attempts_of(house, key)
    assert (attempt.outcome, attempt.http_status) == (AnswerClass.UNCERTAIN, None)
    retried = (await _send(house, form)).json()
    assert (retried["result"], retried["event_key"]) == ("duplicate", key)
    stored = (await house.http.get(f"/v1/leads/{key}", headers=house.authorized)).json()
    (record,) = contacts(house, form["lead"]["email"])
    assert (stored["outcome"], stored["mutations"][0]["provider_record_id"]) == ("done", record["id"])
    assert applied(house, house.mutation(key)) == 1


async def test_2_a_re_plan_in_other_words_is_the_same_effect(house: House) -> None:
    """Case 2 of the replay-safety article: the same intent, told again with its free text rewritten.

    Once by the model: its first answer is lost after it was paid for, and the second is in other words. Once by the
    caller, who sends the lead again with a reworded message. The key is the same, and the witness has one write.
    """
    form = _form(message="Please call me back about 40 seats.") | {"event_kind": "chat.requested"}
    house.control.post("/anthropic", {"script": "paraphrase", "args": {"sets": GOOD}})
    asked = {"provider": "anthropic", "operation": "messages.create"}
    house.control.post("/faults", {**asked, "kind": "drop_after_apply", "match": form["lead"]["company"]})
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    told = [row["status"] for row in house.control.get("/requests", **asked)]
    assert told == [None, 200]
    before = house.mutation(key)

    reworded = form | {"lead": form["lead"] | {"message": "Could somebody ring me? It is about forty seats."}}
    assert (await _send(house, reworded)).json()["result"] == "duplicate"
    assert house.mutation(key) == before
    assert len(house.control.get("/requests", **asked)) == len(told)
    assert applied(house, before) == 1
    (record,) = contacts(house, form["lead"]["email"])
    assert record["properties"]["hubspot_owner_id"] == "502"


async def test_3_a_key_with_another_amount_is_a_conflict_and_neither_is_written(house: House) -> None:
    """Case 3 of the replay-safety article: a key is used again with a changed amount.

    Ruling: an explicit conflict, as 409 with a type of its own where a caller waits for the answer, and counted in the
    2xx of a webhook, whose source would else deliver it for ever. The payload is kept in quarantine; the witness still
    has what came first, written once.
    """
    form = _form(employees=40)
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (before,) = contacts(house, form["lead"]["email"])
    answer = await _send(house, form | {"lead": form["lead"] | {"employees": 4200}})
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:leadproof:problem:key-conflict")
    assert answer.json()["event_key"] == key

    record_id = house.contact()
    change = house.change(record_id, "company", "Acme")
    assert (await house.deliver(change))["started"] == 1
    assert (await house.deliver({**change, "propertyValue": "Rival"}))["conflict"] == 1
    kept, _ = house.ledger.quarantined(limit=2)
    assert [row.reason for row in kept] == ["conflict", "conflict"]
    assert applied(house, house.mutation(key)) == 1
    assert contacts(house, form["lead"]["email"]) == [before]
    (lead,), _ = house.ledger.leads(source_record_id=record_id)
    await house.outcome(lead.event_key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


class _Later(SystemClock):
    """The clock of the machine, 20 hours on."""

    def now(self) -> datetime:
        return super().now() + LATER


@pytest.mark.crash
@pytest.mark.timeout(180)
def test_4_a_lease_that_lapsed_is_reconciled_before_anything_is_sent(wreck: Wreck) -> None:
    """Case 4 of the replay-safety article: the process is killed in mid-write, and its lease lapses.

    Our lease is the time until which its request may leave, and then the time in which the target may still apply it.
    The next worker comes after both and begins at the system of record: what had landed is found by a read and not
    written again; what had not been sent is read first, and then written once.
    """
    house = wreck.house
    for killed, then in ((wreck.unheard, []), (wreck.unsent, ["contacts.write"])):
        first, *further = attempts_of(house, killed.key)
        assert first.outcome is None
        assert [attempt.outcome for attempt in further] == [AnswerClass.ACCEPTED] * len(then)
        rows = _requests(house, killed.record_id)[len(killed.before) :]
        assert rows[0]["operation"] == "contacts.read"
        assert [row["operation"] for row in rows if row["operation"] != "contacts.read"] == then
        lapsed = first.send_before + parse_policy(quick_policy()).targets["hubspot"].quiescence
        assert datetime.fromisoformat(rows[0]["at"]) > lapsed
        assert house.mutation(killed.key).status is Status.OBSERVED
        assert applied(house, house.mutation(killed.key)) == 1


def _requests(house: House, record_id: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = house.control.get("/requests", provider="hubspot")
    return [row for row in rows if row["path"].partition("?")[0].endswith(f"/{record_id}")]


async def test_5_an_event_that_comes_again_20_hours_later_is_still_known(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 5 of the replay-safety article: the event is delivered again after 20 hours.

    To a starter whose clock stands 20 hours later, and when Temporal has forgotten the run: the ledger still holds the
    key, nothing is started, and the witness has the one write.
    """
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    await forget(house, key)
    with monkeypatch.context() as patched:
        patched.setattr("starter.serve.SystemClock", _Later)
        later = load({**house.environment, "LEADPROOF_STARTER_PORT": str(free_port())}, dotenv=None)
        async with serving(later) as address, httpx.AsyncClient(base_url=address, trust_env=False) as http:
            body = json.dumps([house.creation(record_id)]).encode()
            stamp = int((time.time() + LATER.total_seconds()) * 1000)
            uri = f"{PUBLIC}/webhooks/hubspot"
            headers = hubspot_headers(body, secret=SECRET, url=uri, milliseconds=stamp)
            answer = await http.post("/webhooks/hubspot", content=body, headers=headers)
    assert (answer.json()["started"], answer.json()["duplicate"]) == (0, 1)
    lead = await house.outcome(key, Outcome.DONE)
    assert lead.last_seen_at - lead.first_seen_at >= LATER
    assert len(house.writes(record_id)) == 1
