from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leadproof.domain import keys
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.inbound import salesforce
from leadproof.inbound.reading import Ignored, Reading, Unusable, Usable

FIXTURES = Path(__file__).parents[1] / "fixtures" / "salesforce-outbound"
ORGANIZATION = "00Dxx0000001gPLEAY"
LEAD = "00Qxx0000004C92EAE"
NOTIFICATION = "04lxx000000TzMKAA0"
SESSION = "00Dxx0000001gPL!AQ0AQStandIn"
SAVED = "<sf:LastModifiedDate>2026-03-02T08:59:50.000Z</sf:LastModifiedDate>"


def fixture(name: str) -> bytes:
    (path,) = FIXTURES.glob(f"{name}-*.xml")
    return path.read_bytes()


def notification(
    fields: str = SAVED, *, id_: str = NOTIFICATION, record: str = LEAD, type_: str = 'xsi:type="sf:Lead"'
) -> str:
    return (
        f'<Notification><Id>{id_}</Id><sObject {type_} xmlns:sf="urn:sobject.enterprise.soap.sforce.com">'
        f"<sf:Id>{record}</sf:Id>{fields}</sObject></Notification>"
    )


def message(*notifications: str, organization: str | None = ORGANIZATION, before: str = "") -> str:
    named = f"<OrganizationId>{organization}</OrganizationId>" if organization is not None else ""
    return (
        f"{before}"
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>'
        f'<notifications xmlns="http://soap.sforce.com/2005/09/outbound">{named}'
        f"<ActionId>04kxx0000000001AAA</ActionId><SessionId>{SESSION}</SessionId>{''.join(notifications)}"
        "</notifications></soapenv:Body></soapenv:Envelope>"
    )


def read(text: str) -> Sequence[Reading]:
    return salesforce.parse(text.encode())


def events(readings: Sequence[Reading]) -> list[SourceEvent]:
    return [reading.event for reading in readings if isinstance(reading, Usable)]


def one(fields: str = SAVED, **changes: str) -> Reading:
    (reading,) = read(message(notification(fields, **changes)))
    return reading


# -- what is kept of a notification ------------------------------------------------------------------------------------
def test_a_saved_contact() -> None:
    (reading,) = salesforce.parse(fixture("04"))
    assert isinstance(reading, Usable)
    event = reading.event
    assert (event.source_system, event.account) == ("salesforce", ORGANIZATION)
    assert (event.event_kind, event.source_record_id) == ("contact.saved", "003xx000004TmiQAAS")
    assert event.occurrence == f'["{ORGANIZATION}","04lxx000000TzMkAAK"]'
    assert event.occurred_at == datetime(2026, 3, 2, 8, 59, 20, tzinfo=UTC)
    assert (event.lead, event.changed_field, event.by_person) == ({}, None, None)
    assert {name: event.extra[name] for name in ("organizationId", "actionId", "notificationId", "objectType")} == {
        "organizationId": ORGANIZATION,
        "actionId": "04kxx0000000001AAA",
        "notificationId": "04lxx000000TzMkAAK",
        "objectType": "Contact",
    }
    assert event.extra["sentFields"][:3] == ["Id", "Active__c", "CreatedDate"]


@pytest.mark.parametrize("name", ["04", "10", "13", "19"])
def test_neither_session_nor_values_are_kept(name: str) -> None:
    told = repr(salesforce.parse(fixture(name)))
    for kept_nowhere in ("StandIn", "Soap", "mira@example.com", "Sample", "Exampleton", "Work"):
        assert kept_nowhere not in told


def test_golden_keys() -> None:
    """A parser that moves a key fails here."""
    (event,) = events(salesforce.parse(fixture("04")))
    golden = {
        None: "8b8c3976ad47f4ff99743eaee9f3de8be985ba196b65f616e4fa76da574437b9",
        event.occurrence: "48ed7258f3fec056aee2e6b1f05b0f5d67e2b40f13d52d57cf684c252bbd42e6",
    }
    for occurrence, key in golden.items():
        assert key == keys.event_key(
            tenant="acme",
            environment="live",
            source_system="salesforce",
            source_record_id=event.source_record_id,
            event_kind=event.event_kind,
            occurrence=occurrence,
        )


# -- one identity, in whatever form it comes ---------------------------------------------------------------------------
def test_ids_of_15_and_of_18_characters_are_one_event_and_a_foreign_suffix_is_none() -> None:
    readings = salesforce.parse(fixture("13"))
    first, second = events(readings)
    assert first.account == ORGANIZATION
    assert (first.source_record_id, first.occurrence) == (second.source_record_id, second.occurrence)
    assert first.source_record_id == LEAD
    assert isinstance(readings[2], Unusable)
    assert readings[2].why == "the notification's Id is missing or no id that begins with 04l"


def test_a_late_delivery_with_other_values_is_the_same_event() -> None:
    (early,) = events([one()])
    (late,) = events(
        [one("<sf:Status>Closed</sf:Status><sf:LastModifiedDate>2026-03-03T10:00:00Z</sf:LastModifiedDate>")]
    )
    assert (early.occurrence, early.lead) == (late.occurrence, late.lead)
    assert early.occurred_at < late.occurred_at


PLAIN = message(notification())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PLAIN.encode("utf-8-sig"), id="byte-order-mark"),
        pytest.param(b"\r\n\n" + b'<?xml version="1.0" encoding="UTF-8"?>' + PLAIN.encode(), id="line-breaks-before"),
        pytest.param(('<?xml version="1.0" encoding="utf-16"?>' + PLAIN).encode("utf-16"), id="utf-16"),
        pytest.param("\ufeff\n".encode("utf-16-be") + PLAIN.encode("utf-16-be"), id="utf-16-big-endian"),
        pytest.param(b"<?xml version=\"1.0\" encoding='us-ascii'?>" + PLAIN.encode(), id="us-ascii"),
        pytest.param(PLAIN.replace("soapenv:", "S:").replace(":soapenv", ":S").encode(), id="another-soap-prefix"),
        pytest.param(
            PLAIN.replace('"sf:Lead"', '" q:Lead "').replace(":sf=", ":q=").replace("sf:", "q:").encode(),
            id="another-record-prefix",
        ),
        pytest.param(
            PLAIN.replace("<sf:", "<")
            .replace("</sf:", "</")
            .replace('"sf:Lead" xmlns:sf', '"Lead" xmlns')
            .replace("<sObject", '<o:sObject xmlns:o="http://soap.sforce.com/2005/09/outbound"')
            .replace("</sObject", "</o:sObject")
            .encode(),
            id="no-record-prefix",
        ),
        pytest.param(
            PLAIN.replace("<notifications xmlns=", "<notifications xmlns:sf='urn:other' xmlns=").encode(),
            id="a-prefix-that-means-something-else-outside",
        ),
        pytest.param(PLAIN.replace(LEAD, f"\n {LEAD}\t").encode(), id="white-space-around-a-value"),
        pytest.param(
            PLAIN.replace("<soapenv:Body>", "<soapenv:Header/><!-- --><soapenv:Body>").encode(), id="a-header"
        ),
    ],
)
def test_the_same_message_in_other_words(body: bytes) -> None:
    (event,), (plain,) = events(salesforce.parse(body)), events(salesforce.parse(PLAIN.encode()))
    assert event == plain


# -- time --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sent", "hour"),
    [
        (("LastModifiedDate", "SystemModstamp", "CreatedDate"), 1),
        (("CreatedDate", "SystemModstamp"), 2),
        (("CreatedDate",), 3),
    ],
)
def test_the_time_is_the_latest_that_says_who_saved(sent: tuple[str, ...], hour: int) -> None:
    hours = {"LastModifiedDate": 1, "SystemModstamp": 2, "CreatedDate": 3}
    (event,) = events([one("".join(f"<sf:{n}>2026-03-02T0{hours[n]}:00:00.000Z</sf:{n}>" for n in sent))])
    assert event.occurred_at == datetime(2026, 3, 2, hour, tzinfo=UTC)


def test_a_time_that_is_nil_is_not_there() -> None:
    (event,) = events(salesforce.parse(fixture("19")))
    assert event.occurred_at == datetime(2026, 3, 2, 8, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("", "no time: add LastModifiedDate to the fields that the outbound message sends"),
        ("<sf:LastModifiedDate>yesterday</sf:LastModifiedDate>", "LastModifiedDate is no time"),
        ("<sf:LastModifiedDate>2026-02-30T00:00:00Z</sf:LastModifiedDate>", "LastModifiedDate is no time"),
        ("<sf:LastModifiedDate>9999-12-31T23:59:59-05:00</sf:LastModifiedDate>", "LastModifiedDate is no time"),
        (SAVED + SAVED, "a field of the record is there twice"),
        (f"{SAVED}<sf:Id>{LEAD}</sf:Id>", "a field of the record is there twice"),
    ],
)
def test_what_has_no_time_or_two_meanings_is_told_what_to_do(fields: str, why: str) -> None:
    reading = one(fields)
    assert isinstance(reading, Unusable)
    assert reading.why == why


# -- one bad notification among good ones ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(notification(id_="04l"), id="no-notification-id"),
        pytest.param(notification(id_="003xx000004TmiQAAS"), id="an-id-of-something-else"),
        pytest.param(notification(record="00Q"), id="no-record-id"),
        pytest.param(notification(record="003xx000004TmiQAAS"), id="the-id-of-a-contact"),
        pytest.param(notification(type_='xsi:type="Lead"'), id="a-type-of-no-namespace"),
        pytest.param(notification(type_='xsi:type="xsi:Lead"'), id="a-type-of-another-namespace"),
        pytest.param(notification(type_='type="sf:Lead"'), id="no-type"),
        pytest.param(f"<Notification><Id>{NOTIFICATION}</Id></Notification>", id="no-record"),
        pytest.param("<Notification/>", id="nothing"),
    ],
)
def test_a_notification_that_is_none_leaves_its_neighbours_alone(bad: str) -> None:
    readings = read(message(notification(), bad, notification(type_='xsi:type="sf:Campaign"')))
    assert [type(reading) for reading in readings] == [Usable, Unusable, Ignored]
    assert readings[1].body["organizationId"] == ORGANIZATION


def test_a_prefix_means_what_it_means_where_it_stands() -> None:
    far = notification(type_='xsi:type="q:Lead"')
    near = far.replace("<Notification>", '<Notification xmlns:q="urn:other">')
    known = '<notifications xmlns:q="urn:sobject.enterprise.soap.sforce.com" '
    outer = message(near, far).replace("<notifications ", known)
    assert [type(reading) for reading in read(outer)] == [Unusable, Usable]


def test_other_objects_are_left_alone() -> None:
    readings = [*salesforce.parse(fixture("10")), *salesforce.parse(fixture("19"))]
    assert [reading.kind for reading in readings if isinstance(reading, Ignored)] == [
        "price_rule__c.saved",
        "account.saved",
    ]


def test_an_entry_of_the_quarantine_is_read_as_its_notification_was() -> None:
    bad = notification(record="nobody@example.com")
    for reading in read(message(notification(), bad, notification(""), "<Notification/>")):
        again = salesforce.parse_event(json.loads(json.dumps(reading.body)))
        assert again == reading


# -- bodies that are unusable as a whole -------------------------------------------------------------------------------
ENTITY = '<!DOCTYPE x [<!ENTITY e "04l">]>'
EXTERNAL = '<!DOCTYPE x SYSTEM "file:///etc/passwd">'


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (fixture("01"), "OrganizationId is missing or no id that begins with 00D"),
        (fixture("02"), "OrganizationId is missing, or there twice"),
        (message(notification(), organization=None).encode(), "OrganizationId is missing, or there twice"),
        (message(notification()).replace("<ActionId>", "<OrganizationId/><ActionId>").encode(), "OrganizationId"),
        (message(notification(), organization=LEAD).encode(), "OrganizationId is missing or no id"),
        (message().encode(), "1 to 100 notifications, this one has 0"),
        (message(*[notification()] * 101).encode(), "1 to 100 notifications, this one has 101"),
        (message(notification()).replace("2005/09", "2006/09").encode(), "no outbound message"),
        (message(notification()).replace("soap/envelope/", "soap/other/").encode(), "no SOAP envelope"),
        (message(notification(), before=ENTITY).encode(), "a document type or entities of its own"),
        (message(notification(), before=EXTERNAL).encode(), "a document type or entities of its own"),
        (message(notification("&nbsp;")).encode(), "no XML"),
        (message("<a>" * 30 + "</a>" * 30).encode(), "nested deeper than 20 levels"),
        (b"<a>" * 200_000 + b"</a>" * 200_000, "nested deeper than 20 levels"),
        (b"", "no XML: it goes wrong in line 1"),
        (b"{}", "no XML: it goes wrong in line 1"),
        (message("\x00").encode(), "a NUL character"),
        (message(notification()).encode("utf-16-le"), "a NUL character"),
        (message("é").encode("latin-1"), "neither UTF-8 nor UTF-16"),
        (b"\xff\xfe<", "neither UTF-8 nor UTF-16"),
        (message(before='<?xml version="1.0" encoding="UTF-16"?>').encode(), "declares another encoding"),
        (message(before='<?xml version="1.0" encoding="UTF-8"?>').encode("utf-16"), "declares another encoding"),
        (message(before='<?xml version="1.0" encoding="hex"?>').encode(), "declares another encoding"),
    ],
)
def test_a_body_that_is_no_message_is_refused_without_its_values(body: bytes, why: str) -> None:
    with pytest.raises(MalformedDelivery) as refused:
        salesforce.parse(body)
    assert why in str(refused.value)
    assert "StandIn" not in str(refused.value)
