"""Outbound messages as they arrive, and what becomes of those that are not acknowledged."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.clock import Clock
from sandbox.salesforce import outbound
from sandbox.salesforce.outbound import Rule, Sender
from sandbox.salesforce.outbound_envelope import acknowledged
from sandbox.salesforce.soql_ids import numbered
from tests.sandbox.receiver import Receiver, receiving

Value = TypeVar("Value")

ORGANIZATION, LEAD, CONTACT = "00Dxx0000001gPLEAY", "00Qxx0000004C92EAE", "003xx000004TmiQAAS"
FIELDS = {"Id", "Email", "Company", "Status", "IsConverted", "NumberOfEmployees", "LastModifiedDate"}
ACK = (
    b'<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
    b'<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>'
    b"</soapenv:Body></soapenv:Envelope>"
)
NO_ACKNOWLEDGEMENTS = (
    b"",
    b"<html><body>OK</body></html>",
    b"true",
    ACK.replace(b"true", b"false"),
    ACK.replace(b"2005/09/outbound", b"2005/09/inbound"),
    ACK.replace(b"Body>", b"body>"),
    ACK.replace(b"<Ack>true</Ack>", b""),
    ACK.replace(b"<Ack>true</Ack>", b"<Ack>true</Ack><Ack>false</Ack>"),
    b'<!DOCTYPE x [<!ENTITY t "true">]>' + ACK.replace(b"true", b"&t;"),
    ACK[:-1],
)
MESSAGE = """<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema"\
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>00Dxx0000001gPLEAY</OrganizationId>
   <ActionId>04kxx0000000001AAA</ActionId>
   <SessionId xsi:nil="true"/>
   <EnterpriseUrl>https://acme.my.salesforce.com/services/Soap/c/60.0/00Dxx0000001gPL</EnterpriseUrl>
   <PartnerUrl>https://acme.my.salesforce.com/services/Soap/u/60.0/00Dxx0000001gPL</PartnerUrl>
   <Notification>
    <Id>04lxx0000000001AAA</Id>
    <sObject xsi:type="sf:Lead" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>00Qxx0000004C92EAE</sf:Id>
     <sf:Company>O&amp;H &lt;Söhne&gt;</sf:Company>
     <sf:Email>lead@example.com</sf:Email>
     <sf:IsConverted>false</sf:IsConverted>
     <sf:LastModifiedDate>2026-11-30T01:37:04.000Z</sf:LastModifiedDate>
     <sf:NumberOfEmployees>120000.0</sf:NumberOfEmployees>
    </sObject>
   </Notification>
  </notifications>
 </soapenv:Body>
</soapenv:Envelope>
"""


class Org:
    """Two records, and a sender that is told when they are saved."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.clock = Clock()
        self.records: dict[tuple[str, str], dict[str, Any]] = {
            ("Lead", LEAD): {
                "Id": LEAD,
                "Email": "lead@example.com",
                "Company": "O&H <Söhne>",
                "Status": None,
                "IsConverted": False,
                "NumberOfEmployees": 120_000.0,
                "LastModifiedDate": datetime(2026, 11, 30, 1, 37, 4, tzinfo=UTC),
            },
            ("Contact", CONTACT): {"Id": CONTACT, "Email": "contact@example.com"},
        }
        self.told_at: list[float] = []
        """By the sandbox's clock, when it was asked what a record is: when saved, and at each attempt."""
        self._ids = 0
        self.sender = Sender(
            self.clock,
            organization=ORGANIZATION,
            new_id=self._new_id,
            current=self._current,
            fields=lambda _: FIELDS,
        )

    def _current(self, kind: str, record: str) -> dict[str, Any] | None:
        self.told_at.append(self.clock.now() / 1000)
        return self.records.get((kind, record))

    def _new_id(self) -> str:
        self._ids += 1
        return numbered("04lxx0000", self._ids)

    def rule(self, **settings: Any) -> None:
        self.sender.set({"target": self.target, **settings})

    def save(self, times: int = 1, **fields: Any) -> None:
        self.records["Lead", LEAD].update(fields)
        for _ in range(times):
            self.sender.saved("Lead", LEAD)

    async def until(self, **counts: int) -> dict[str, Any]:
        def reached() -> dict[str, Any]:
            shown = self.sender.shown()
            return shown if counts.items() <= shown.items() else {}

        return await _until(reached)

    async def settled(self) -> dict[str, Any]:
        return await self.until(waiting=0)

    async def again(self, receiver: Receiver, seconds: float = 0) -> None:
        """Until one more delivery has come; the clock goes forward if it has to."""
        seen = len(receiver.deliveries)
        self.clock.advance(seconds)
        await _until(lambda: len(receiver.deliveries) > seen)


async def _until(condition: Callable[[], Value]) -> Value:
    """What `condition` gives, as soon as that is true."""
    async with asyncio.timeout(5):
        while True:
            value = condition()
            if value:
                return value
            await asyncio.sleep(0.01)


def notification_ids(receiver: Receiver, delivery: int = -1) -> list[str]:
    return re.findall(r"<Notification>\s*<Id>(\w+)</Id>", receiver.deliveries[delivery].body.decode())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        started.reply = ACK
        yield started


@pytest.fixture
async def org(receiver: Receiver) -> AsyncIterator[Org]:
    made = Org(receiver.target)
    yield made
    receiver.release.set()
    made.clock.reset()
    await made.sender.close()


async def test_a_saved_record_is_told_to_the_letter(org: Org, receiver: Receiver) -> None:
    org.rule()
    org.save()
    shown = await org.settled()
    [delivery] = receiver.deliveries
    assert delivery.body.decode() == MESSAGE
    assert delivery.header("Content-Type") == "text/xml; charset=utf-8"
    assert delivery.header("SOAPAction") == '""'
    assert delivery.header("User-Agent") == "Jakarta Commons-HttpClient/3.1"
    assert shown == {
        "target": receiver.target,
        "on": True,
        "copies": 1,
        "reorder": False,
        "object": None,
        "fields": None,
        "session_id": False,
        "waiting": 0,
        "delivered": 1,
        "failed": 0,
        "given_up": 0,
    }


async def test_chosen_fields_and_never_what_is_null(org: Org, receiver: Receiver) -> None:
    org.rule(fields=["Status", "Email"])
    org.save()
    await org.settled()
    assert re.findall(r"<sf:(\w+)>", receiver.deliveries[0].body.decode()) == ["Id", "Email"]


async def test_what_xml_cannot_hold_is_left_out(org: Org, receiver: Receiver) -> None:
    org.rule(fields=["Company"])
    org.save(Company="a\x00b\x1b\r\n\ud800\uffff]]>c")
    await org.settled()
    assert b"<sf:Company>ab&#13;\n]]&gt;c</sf:Company>" in receiver.deliveries[0].body


async def test_a_session_id_looks_like_a_token(org: Org, receiver: Receiver) -> None:
    org.rule(session_id=True)
    org.save()
    await org.settled()
    assert re.search(rb"<SessionId>00Dxx0000001gPL!AQ0AQ[\w.]{92}</SessionId>", receiver.deliveries[0].body)


async def test_each_object_has_a_message_of_its_own(org: Org, receiver: Receiver) -> None:
    org.rule()
    org.save()
    org.sender.saved("Contact", CONTACT)
    await org.settled()
    told = {
        (re.findall("<ActionId>(.*)</ActionId>", text)[0], re.findall('xsi:type="sf:(.*?)"', text)[0])
        for text in (delivery.body.decode() for delivery in receiver.deliveries)
    }
    assert told == {("04kxx0000000001AAA", "Lead"), ("04kxx0000000002AAA", "Contact")}


@pytest.mark.parametrize(("chosen", "told"), [("leads", LEAD), ("contacts", CONTACT)])
async def test_one_object_alone(org: Org, receiver: Receiver, chosen: str, told: str) -> None:
    org.rule(object=chosen)
    org.save()
    org.sender.saved("Contact", CONTACT)
    await org.settled()
    [delivery] = receiver.deliveries
    assert re.findall("<sf:Id>(.*)</sf:Id>", delivery.body.decode()) == [told]


async def test_a_hundred_notifications_in_a_message(org: Org, receiver: Receiver) -> None:
    org.rule()
    org.save(times=130)
    await org.settled()
    numbers = [notification_ids(receiver, place) for place in range(2)]
    assert sorted(len(ids) for ids in numbers) == [30, 100]
    assert len({each for ids in numbers for each in ids}) == 130


async def test_copies_and_order(org: Org, receiver: Receiver) -> None:
    org.rule(copies=3, reorder=True)
    org.save(times=10)
    await org.settled()
    first, second, third = (delivery.body for delivery in receiver.deliveries)
    assert first == second == third
    ids = notification_ids(receiver)
    assert ids != sorted(ids)
    assert len(set(ids)) == 10


async def test_without_the_acknowledgement_a_message_comes_again_as_a_whole(org: Org, receiver: Receiver) -> None:
    receiver.replies = list(NO_ACKNOWLEDGEMENTS)
    org.rule()
    org.save(times=2)
    for seen in range(1, len(NO_ACKNOWLEDGEMENTS) + 1):
        await org.until(failed=seen)
        await org.again(receiver, 7_200)
    assert (await org.settled())["delivered"] == 1
    ids = [notification_ids(receiver, place) for place in range(len(NO_ACKNOWLEDGEMENTS) + 1)]
    assert ids == [["04lxx0000000001AAA", "04lxx0000000002AAA"]] * len(ids)


async def test_no_other_status_is_an_acknowledgement(org: Org, receiver: Receiver) -> None:
    receiver.statuses = [202, 302, 401, 503]
    org.rule()
    org.save()
    for seen in range(1, 5):
        await org.until(failed=seen)
        await org.again(receiver, 4)
    assert (await org.settled())["delivered"] == 1


async def test_a_late_message_tells_of_the_record_as_it_is_then(org: Org, receiver: Receiver) -> None:
    receiver.statuses = [503, 503]
    org.rule(fields=["Email"])
    org.save()
    await org.until(failed=1)
    org.records["Lead", LEAD]["Email"] = "other@example.com"
    await org.again(receiver, 0.5)
    await org.until(failed=2)
    del org.records["Lead", LEAD]
    await org.again(receiver, 1)
    await org.settled()
    told = [re.findall("<sf:(.*)>(.*)</sf", delivery.body.decode()) for delivery in receiver.deliveries]
    assert told == [
        [("Id", LEAD), ("Email", "lead@example.com")],
        [("Id", LEAD), ("Email", "other@example.com")],
        [("Id", LEAD)],
    ]


async def test_a_deletion_meets_no_rule(org: Org) -> None:
    org.rule()
    del org.records["Lead", LEAD]
    org.sender.saved("Lead", LEAD)
    assert org.sender.shown()["waiting"] == 0


async def test_the_interval_grows_to_two_hours_and_a_day_is_the_end(org: Org, receiver: Receiver) -> None:
    receiver.statuses = [503] * 50
    org.rule()
    org.save()
    pauses = [min(0.5 * 2**exponent, 7_200) for exponent in range(24)]
    for seen, pause in enumerate(pauses, start=1):
        await org.until(failed=seen)
        org.clock.advance(pause * 0.75)
        await asyncio.sleep(0)  # what is due already is sent before the clock goes on
        org.clock.advance(pause * 0.25)
    await org.until(failed=len(pauses) + 1)
    org.clock.advance(7_200)
    assert (await org.settled())["given_up"] == 1
    taken = [later - earlier for earlier, later in pairwise(org.told_at[1:])]
    assert all(seconds >= pause for seconds, pause in zip(taken[5:], pauses[5:], strict=True))
    assert len(receiver.deliveries) == len(pauses) + 1


async def test_nobody_listens(org: Org, receiver: Receiver) -> None:
    org.sender.set({"target": "http://127.0.0.1:9/"})
    org.save()
    await org.until(failed=1)
    org.rule()
    await org.again(receiver, 0.5)
    assert (await org.settled())["delivered"] == 1


async def test_a_slow_listener_is_not_waited_for(org: Org, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "TIMEOUT", 0.1)
    receiver.hold = True
    org.rule()
    org.save()
    await org.until(failed=1)
    receiver.hold = False
    receiver.release.set()
    await org.again(receiver, 0.5)
    assert (await org.settled())["delivered"] == 1


async def test_off_is_off(org: Org, receiver: Receiver) -> None:
    receiver.statuses = [503]
    org.rule()
    org.save()
    await org.until(failed=1)
    org.sender.set({"on": False})
    org.save()
    org.clock.advance(0.5)
    assert (await org.settled())["given_up"] == 1
    assert len(receiver.deliveries) == 1


async def test_after_a_reset_nothing_is_on_its_way(org: Org, receiver: Receiver) -> None:
    org.rule()
    org.save()
    await org.sender.reset()
    shown = org.sender.shown()
    assert (shown["on"], shown["waiting"]) == (False, 0)
    org.rule()
    org.save()
    await org.settled()
    assert len(receiver.deliveries) == 1


def test_documented_numbers() -> None:
    numbers = (outbound.TIMEOUT, outbound.MAX_NOTIFICATIONS, outbound.LONGEST_DELAY, outbound.KEPT)
    assert numbers == (60, 100, 2 * 3600, 24 * 3600)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on": True}, "target is needed"),
        ({"target": "http://127.0.0.1:9/", "copies": 0}, "copies is at least 1"),
        ({"target": "http://127.0.0.1:9/", "object": "users"}, "object is one of leads, contacts"),
    ],
)
def test_a_rule_that_makes_no_sense(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rule(**settings)


async def test_a_field_that_is_not_there_cannot_be_chosen(org: Org) -> None:
    with pytest.raises(ValueError, match="no field Nope"):
        org.rule(fields=["Email", "Nope"])


def test_an_acknowledgement_may_be_written_in_other_ways() -> None:
    other = b'<?xml version="1.0"?>\n' + ACK.replace(b"soapenv", b"S").replace(b"true", b" true\n")
    assert acknowledged(other)


@given(st.binary() | st.text().map(str.encode) | st.binary().map(lambda more: ACK[:200] + more + ACK[200:]))
def test_no_answer_makes_it_raise(body: bytes) -> None:
    acknowledged(body)
