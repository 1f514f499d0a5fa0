"""Outbound messages at the door: acknowledged as a whole, once every notification of it is durable."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest
from temporalio.client import Client

from leadproof.domain import keys
from leadproof.domain.salesforce_ids import salesforce_id
from tests.inbound.test_salesforce import SAVED, fixture
from tests.starter.door import settings_of
from tests.starter.salesforce import (
    LEAD,
    NEVER_TOLD,
    NOTIFICATION,
    OLD_SECRET,
    ORGANIZATION,
    POLICY,
    SALESFORCE,
    Org,
    an_org,
    message,
    notification,
)
from tests.starter.wire import a_wire
from workers.plugin import leads_plugin

CONTACT = "003xx000004TmiQAAS"
ACK = (
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
    '<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>'
    "</soapenv:Body></soapenv:Envelope>"
)
MEBIBYTE = 1024 * 1024


@pytest.fixture
async def org(unworked: Client, tmp_path: Path) -> AsyncIterator[Org]:
    async with an_org(unworked, tmp_path) as opened:
        yield opened


def lead_number(number: int) -> tuple[str, str]:
    """A lead's id and a notification's."""
    return salesforce_id(f"00Qxx00000{number:05}"), salesforce_id(f"04lxx00000{number:05}")


def notified(number: int) -> str:
    record, id_ = lead_number(number)
    return notification(record=record, id_=id_)


# -- acknowledged ------------------------------------------------------------------------------------------------------
async def test_a_notification_is_stored_and_its_run_started_before_it_is_acknowledged(org: Org) -> None:
    answer = await org.notify(notification("<sf:Email>mira@example.com</sf:Email>" + SAVED))
    assert (answer.status_code, answer.text) == (200, ACK)
    assert answer.headers["content-type"].startswith("text/xml")
    key = org.saved()
    lead = org.door.ledger.lead(key)
    assert lead is not None
    assert (lead.event_kind, lead.source_record_id) == ("lead.saved", LEAD)
    assert lead.occurrence == keys.occurrence([ORGANIZATION, NOTIFICATION])
    assert lead.occurred_at.isoformat() == "2026-03-02T08:59:50+00:00"
    assert lead.lead == {
        "lead": {},
        "extra": {
            "organizationId": ORGANIZATION,
            "actionId": "04kxx0000000001AAA",
            "notificationId": NOTIFICATION,
            "objectType": "Lead",
            "sentFields": ["Id", "Email", "LastModifiedDate"],
        },
    }
    assert await org.door.run(f"lead:{key}") is not None


async def test_a_redelivery_with_the_values_of_a_later_day_is_the_same_event(org: Org) -> None:
    later = SAVED.replace("08:59:50", "09:00:00") + "<sf:Status>Closed</sf:Status>"
    assert await org.acknowledged(notification()) == {"started": 1}
    assert await org.acknowledged(notification(later), notification(later, id_=NOTIFICATION[:15])) == {"duplicate": 2}
    lead = org.door.ledger.lead(org.saved())
    assert lead is not None
    assert (lead.deliveries, lead.conflicts, lead.occurred_at.second) == (3, 0, 50)


async def test_a_kind_that_counts_once_per_record_is_started_once(org: Org) -> None:
    contact = {"record": CONTACT, "type_": 'xsi:type="sf:Contact"'}
    assert await org.acknowledged(notification(**contact)) == {"started": 1}
    assert await org.acknowledged(notification(**contact, id_=lead_number(1)[1])) == {"duplicate": 1}
    lead = org.door.ledger.lead(org.key(CONTACT, "contact.saved"))
    assert lead is not None
    assert lead.lead is not None
    assert lead.lead["extra"]["sent_occurrence"] == keys.occurrence([ORGANIZATION, NOTIFICATION])


async def test_a_hundred_notifications_are_one_acknowledgement(org: Org) -> None:
    hundred = [notified(number) for number in range(100)]
    while (answer := await org.notify(*hundred)).status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        pass  # a busy machine
    assert answer.text == ACK
    assert sum(org.door.ledger.counts().leads.values()) == 100
    assert await org.acknowledged(*[notified(number) for number in range(95, 100)]) == {"duplicate": 5}
    assert await org.door.run(f"lead:{org.saved(*lead_number(99))}") is not None


@pytest.mark.parametrize("name", ["04", "10", "13", "15", "19"])
async def test_recorded_messages_are_acknowledged(org: Org, name: str) -> None:
    answer = await org.send(fixture(name))
    assert (answer.status_code, answer.text) == (200, ACK)


async def test_the_scope_of_a_key_is_the_one_at_the_time_of_the_save(unworked: Client, tmp_path: Path) -> None:
    """What is promised of a notification that lies on both sides of a `from`: two events, and no conflict."""
    once = 'kind = "lead.saved"\nscopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]'
    both = once.replace("}]", ', }, { from = 2026-03-02T08:59:55Z, scope = "record" }]').replace(" , ", " ")
    assert POLICY.count(once) == 1
    async with an_org(unworked, tmp_path, policy=POLICY.replace(once, both)) as org:
        later = SAVED.replace("08:59:50", "08:59:55")
        assert await org.acknowledged(notification()) == {"started": 1}
        assert await org.acknowledged(notification(later)) == {"started": 1}
        assert await org.acknowledged(notification(), notification(later)) == {"duplicate": 2}


# -- kept aside, and acknowledged all the same -------------------------------------------------------------------------
async def test_one_bad_notification_is_kept_aside_and_the_others_proceed(org: Org) -> None:
    counts = await org.acknowledged(
        notification(),
        notification(record="nobody@example.com"),
        notification("", id_=lead_number(2)[1]),
        notification(type_='xsi:type="sf:Case"'),
    )
    assert counts == {"started": 1, "quarantined": 2, "ignored": 1}
    entries = {entry["position"]: entry for entry in await org.entries()}
    assert {position: entry["reason"] for position, entry in entries.items()} == {
        1: "malformed: the record's Id is missing or no id that begins with 00Q",
        2: "malformed: no time: add LastModifiedDate to the fields that the outbound message sends",
    }
    assert "StandIn" not in str(entries)
    again = await org.acknowledged(notification(), notification(record="nobody@example.com"))
    assert again == {"duplicate": 1, "quarantined": 1}


async def test_another_organization_is_kept_aside_until_it_is_ours(unworked: Client, tmp_path: Path) -> None:
    ours = settings_of(**SALESFORCE)
    other = salesforce_id("00Dxx0000001zzz")
    async with an_org(unworked, tmp_path, settings=ours) as org:
        counts = await org.acknowledged(notification(SAVED + "<sf:City>Exampleton</sf:City>"), organization=other)
        assert counts == {"quarantined": 1}
        (entry,) = await org.entries()
        assert entry["reason"] == "foreign_account"
        assert "Exampleton" not in entry["body"]
        assert (await org.door.post(f"{entry['path']}/retry", by="decide")).status_code == 409
    theirs = ours.model_copy(update={"salesforce_org_id": other})
    async with an_org(unworked, tmp_path, settings=theirs) as org:
        answer = await org.door.post(f"{entry['path']}/retry", by="decide")
        key = org.key(occurrence=keys.occurrence([other, NOTIFICATION]))
        assert answer.json() == {"result": "started", "event_key": key, "workflow_id": f"lead:{key}"}
        assert await org.acknowledged(notification(), organization=other) == {"duplicate": 1}


async def test_a_save_ahead_of_our_clock_is_taken_in_when_its_time_has_come(org: Org) -> None:
    assert await org.acknowledged(notification(SAVED.replace("08:59:50", "10:00:00"))) == {"quarantined": 1}
    (entry,) = await org.entries()
    assert entry["reason"] == "future"
    org.door.clock.forward(timedelta(hours=1).total_seconds())
    assert (await org.door.post(f"{entry['path']}/retry", by="decide")).json()["event_key"] == org.saved()


# -- refused as a whole ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["01", "02"])
async def test_a_message_that_is_none_is_refused(org: Org, name: str) -> None:
    answer = await org.send(fixture(name))
    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:leadproof:problem:malformed"
    assert "Ack" not in answer.text


async def test_what_is_no_xml_by_its_headers_or_too_large_is_refused(org: Org) -> None:
    body = message(notification())
    for content_type in ("application/json", "application/soap+xml", "", "text/xml; charset=latin-1"):
        assert (await org.send(body, content_type=content_type)).status_code == 415
    assert (await org.send(body, headers={"content-encoding": "gzip"})).status_code == 415
    padded = body + " " * (MEBIBYTE - len(body))
    assert (await org.send(padded + " ")).status_code == 413
    assert (await org.send(padded)).status_code == 200


async def test_a_document_type_with_entities_is_refused(org: Org) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "04l"><!ENTITY b "&a;&a;&a;">]>'
    answer = await org.send(message(notification(id_="&b;"), before=bomb))
    assert answer.status_code == 422
    assert sum(org.door.ledger.counts().leads.values()) == 0


async def test_an_address_without_the_secret_is_none(org: Org, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = await org.door.http.post("/webhooks/nowhere")
    counter = 'leadproof_deliveries_total{source="salesforce",status="404"}'
    wrong = ["guessed", OLD_SECRET[:-1], OLD_SECRET + "x", OLD_SECRET.upper(), "%F0%9F%92%A9", "%00"]
    with caplog.at_level(logging.DEBUG, logger="starter"):
        for number, secret in enumerate(wrong, 1):
            answer = await org.send(b"no XML at all", secret=secret, content_type="application/json")
            assert (answer.status_code, answer.text) == (404, nowhere.text)
            assert await org.door.metric(counter) == number
    assert "guessed" not in caplog.text
    assert (await org.send(message(notification()), secret=OLD_SECRET)).status_code == 200


async def test_without_a_configured_secret_there_is_no_address(unworked: Client, tmp_path: Path) -> None:
    settings = settings_of(**{**SALESFORCE, "LEADPROOF_SALESFORCE_PATH_SECRETS": ""})
    async with an_org(unworked, tmp_path, settings=settings) as org:
        for secret in (OLD_SECRET, "x"):
            assert (await org.send(message(notification()), secret=secret)).status_code == 404
        assert sum(org.door.ledger.counts().leads.values()) == 0


async def test_neither_session_nor_secret_is_told(org: Org, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.DEBUG):
        for body in (message(notification(), notification("")), message(), message(notification("&x;"))):
            answer = await org.send(body)
            assert not any(secret in answer.text for secret in NEVER_TOLD)
    stored = (tmp_path / "ledger.db").read_bytes() + (tmp_path / "ledger.db-wal").read_bytes()
    for secret in NEVER_TOLD:
        assert secret not in "".join(record.getMessage() for record in caplog.records if record.name[0] != "h")
        assert secret.encode() not in stored


# -- not now -----------------------------------------------------------------------------------------------------------
async def test_without_temporal_nothing_is_acknowledged_and_the_same_again_completes_it(
    unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starter.start.PATIENCE_SECONDS", 0.5)
    async with a_wire(unworked.service_client.config.target_host) as wire:
        client = await Client.connect(wire.address, namespace=unworked.namespace, plugins=[leads_plugin()])
        async with an_org(client, tmp_path) as org:
            wire.cut()
            refused = await org.notify(notified(1), notified(2), notification(""))
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert "Ack" not in refused.text
            assert org.door.ledger.lead(org.saved(*lead_number(1))) is not None
            monkeypatch.undo()
            wire.mend()
            counts = await org.acknowledged(notified(1), notified(2), notification(""))
            assert counts == {"started": 2, "quarantined": 1}
            assert len(await org.entries()) == 1


async def test_without_the_ledger_nothing_is_acknowledged_not_even_what_is_only_kept_aside(
    unworked: Client, tmp_path: Path
) -> None:
    async with an_org(unworked, tmp_path, busy_seconds=0.2) as org:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for bad_or_good in (notification(), notification("")):
            refused = await org.notify(bad_or_good)
            assert (refused.status_code, "Ack" in refused.text) == (503, False)
        other.execute("ROLLBACK")
        other.close()
        assert await org.acknowledged(notification(), notification("")) == {"started": 1, "quarantined": 1}


async def test_at_once_from_many_sides_is_started_once(org: Org) -> None:
    answers = await asyncio.gather(*(org.notify(notification()) for _ in range(8)))
    assert {answer.text for answer in answers} == {ACK}
    assert {name: count for name, count in (await org.counts()).items() if count} == {"started": 1, "duplicate": 7}
