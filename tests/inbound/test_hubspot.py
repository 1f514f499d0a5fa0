from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain import keys
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.inbound import hubspot
from leadproof.inbound.reading import Ignored, Reading, Unusable, Usable

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hubspot"


def fixture(name: str) -> bytes:
    (path,) = FIXTURES.glob(f"{name}-*.json")
    return path.read_bytes()


def events(readings: Sequence[Reading]) -> list[SourceEvent]:
    return [reading.event for reading in readings if isinstance(reading, Usable)]


def one(event: dict[str, Any]) -> Reading:
    (reading,) = hubspot.parse(json.dumps([event]).encode())
    return reading


CREATION = {
    "eventId": 1,
    "subscriptionId": 2,
    "portalId": 62515,
    "appId": 3,
    "occurredAt": 1564113600000,
    "subscriptionType": "contact.creation",
    "attemptNumber": 0,
    "objectId": 123,
    "changeSource": "CRM",
    "changeFlag": "NEW",
}
CHANGE = {
    **CREATION,
    "subscriptionType": "contact.propertyChange",
    "propertyName": "lifecyclestage",
    "propertyValue": "lead",
}


def test_a_contact_creation_as_documented() -> None:
    (reading,) = hubspot.parse(fixture("01"))
    assert isinstance(reading, Usable)
    event = reading.event
    assert event.source_system == "hubspot"
    assert event.account == "48807704"
    assert event.source_record_id == "138017612137"
    assert event.event_kind == "contact.creation"
    assert event.occurrence == '["contact.creation",null,"1752613920733"]'
    assert event.occurred_at == datetime(2025, 7, 15, 21, 12, 0, 733000, UTC)
    assert event.changed_field is None
    assert event.changed_value is None
    assert event.by_person is True
    assert event.lead == {}
    assert event.extra["eventId"] == 531833541
    assert reading.body == json.loads(fixture("01"))[0]


def test_the_key_of_a_documented_delivery_never_moves() -> None:
    (event,) = events(hubspot.parse(fixture("01")))
    assert (
        keys.event_key(
            tenant="acme",
            environment="prod",
            source_system=event.source_system,
            source_record_id=event.source_record_id,
            event_kind=event.event_kind,
            occurrence=event.occurrence,
        )
        == "fd83773c51146e829f4d074de7452093cc9a024d2bf952773047585b03b122bf"
    )


def test_what_a_retry_may_change_is_in_no_key() -> None:
    first = one(CREATION)
    again = one({**CREATION, "eventId": 9, "subscriptionId": 9, "attemptNumber": 4, "appId": 9})
    assert isinstance(first, Usable)
    assert isinstance(again, Usable)
    same = {"extra"}
    assert first.event.model_dump(exclude=same) == again.event.model_dump(exclude=same)


def test_the_test_button_sends_one_event_id_twice() -> None:
    creation, change = events(hubspot.parse(fixture("10")))
    assert creation.extra["eventId"] == change.extra["eventId"] == 100
    assert creation.event_kind == "contact.creation"
    assert change.event_kind == "contact.propertyChange"
    assert change.occurrence == '["contact.propertyChange","message","1731612210994"]'
    assert (change.changed_field, change.changed_value) == ("message", "sample-value")
    assert creation.by_person is change.by_person is None


def test_the_older_name_of_the_subscription_type_is_read() -> None:
    change, creation = events(hubspot.parse(fixture("11")))
    assert change.event_kind == "contact.propertyChange"
    assert creation.event_kind == "contact.creation"
    assert creation.account == "33"
    assert creation.occurred_at == change.occurred_at


def test_a_redacted_value_is_no_value() -> None:
    (event,) = events(hubspot.parse(fixture("12")))
    assert event.changed_field == "passport_number"
    assert event.changed_value is None
    (event,) = events([one({**CHANGE, "isSensitive": True})])
    assert event.changed_value is None


def test_other_objects_than_contacts_are_left_alone() -> None:
    assert hubspot.parse(fixture("03")) == [Ignored(json.loads(fixture("03"))[0], "deal.creation")]
    assert [type(reading) for reading in hubspot.parse(fixture("05"))] == [Ignored]
    kinds = [reading.kind for reading in hubspot.parse(fixture("14")) if isinstance(reading, Ignored)]
    assert kinds == [*["2-143000111.propertyChange"] * 5, "2-143000111.creation", *["2-143000111.propertyChange"] * 2]


def test_a_creation_may_come_after_its_own_changes() -> None:
    kinds = [event.event_kind for event in events(hubspot.parse(fixture("20")))]
    assert kinds == [*["contact.propertyChange"] * 3, "contact.creation", "contact.propertyChange"]
    occurrences = {event.occurrence for event in events(hubspot.parse(fixture("20")))}
    assert len(occurrences) == 5


def test_the_order_of_a_delivery_is_not_the_order_of_time() -> None:
    first, second = events(hubspot.parse(fixture("21")))
    assert second.occurred_at < first.occurred_at
    assert first.by_person is True


def test_a_change_by_software_is_told_apart() -> None:
    (event,) = events(hubspot.parse(fixture("28")))
    assert event.by_person is False
    assert event.extra["attemptNumber"] == 6


def test_an_association_change_without_an_object_id_is_left_alone() -> None:
    body = json.loads(fixture("37"))
    assert one(body) == Ignored(body, "deal.associationChange")
    assert one({**body, "subscriptionType": "contact.associationChange"}) == Ignored(
        {**body, "subscriptionType": "contact.associationChange"}, "contact.associationChange"
    )


def test_signed_batches() -> None:
    form, ui = events(hubspot.parse(fixture("49")))
    assert (form.source_record_id, ui.source_record_id) == ("7001", "7002")
    assert (form.by_person, ui.by_person) == (None, None)
    (event,) = events(hubspot.parse(fixture("50")))
    assert event.event_kind == "contact.creation"
    assert event.occurrence == '["contact.creation",null,"1791000002000"]'
    assert event.extra["remark"] == "Søren – crème brûlée ☂"


def test_the_generic_form_of_a_contact_event_has_the_key_of_the_specific_one() -> None:
    (specific,) = events([one(CREATION)])
    (generic,) = events([one({**CREATION, "subscriptionType": "object.creation", "objectTypeId": "0-1"})])
    assert generic.occurrence == specific.occurrence
    assert generic.event_kind == specific.event_kind


def test_ids_may_be_numbers_or_texts() -> None:
    (numbers,) = events([one(CREATION)])
    (texts,) = events([one({**CREATION, "objectId": "123", "portalId": "62515", "occurredAt": "1564113600000"})])
    assert texts.model_dump(exclude={"extra"}) == numbers.model_dump(exclude={"extra"})


@pytest.mark.parametrize(
    ("merge", "survivor"),
    [
        ({"objectId": 7, "primaryObjectId": 8, "mergedObjectIds": [9], "newObjectId": 10}, "10"),
        ({"objectId": 7, "primaryObjectId": 8, "mergedObjectIds": [9], "newObjectId": 0}, "8"),
        ({"objectId": 7, "primaryObjectId": "8", "mergedObjectIds": [9]}, "8"),
        ({"objectId": 7}, "7"),
    ],
)
def test_a_merge_is_about_the_record_that_lives_on(merge: dict[str, Any], survivor: str) -> None:
    (event,) = events([one({**CREATION, "subscriptionType": "contact.merge", **merge})])
    assert event.source_record_id == survivor
    assert event.extra["objectId"] == 7


@pytest.mark.parametrize(
    ("source", "source_id", "by_person"),
    [
        ("CRM_UI", "userId:1", True),
        ("CRM_UI_BULK_ACTION", "userId:1", True),
        ("MOBILE_IOS", "userId:1", True),
        ("CRM_UI", None, None),
        ("INTEGRATION", "10457515", False),
        ("API", None, False),
        ("AUTOMATION_PLATFORM", "x", False),
        ("CRM", "userId:1", None),
        ("FORM", None, None),
        ("IMPORT", "userId:1", None),
        (None, "userId:1", None),
        (7, 7, None),
    ],
)
def test_who_made_the_change(source: object, source_id: object, by_person: bool | None) -> None:
    (event,) = events([one({**CREATION, "changeSource": source, "sourceId": source_id})])
    assert event.by_person is by_person


@pytest.mark.parametrize("value", [17, True, None, ["a"], 1.5])
def test_a_new_value_that_is_no_text_is_read_as_json(value: object) -> None:
    (event,) = events([one({**CHANGE, "propertyValue": value})])
    assert event.changed_value == (None if value is None else json.dumps(value))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"objectId": None}, "objectId"),
        ({"objectId": True}, "objectId"),
        ({"objectId": -1}, "objectId"),
        ({"objectId": 0}, "objectId"),
        ({"objectId": 1.0}, "objectId"),
        ({"objectId": "0123"}, "objectId"),
        ({"objectId": "1 2"}, "objectId"),
        ({"objectId": "١٢٣"}, "objectId"),
        ({"objectId": [1]}, "objectId"),
        ({"objectId": 2**53}, "2\\^53"),
        ({"objectId": 10**900}, "2\\^53"),
        ({"portalId": None}, "portalId"),
        ({"occurredAt": None}, "occurredAt"),
        ({"occurredAt": "yesterday"}, "occurredAt"),
        ({"occurredAt": 253402300800000}, "occurredAt"),
        ({"subscriptionType": None}, "subscriptionType"),
        ({"subscriptionType": "contact"}, "subscriptionType"),
        ({"subscriptionType": "contact.creation.more"}, "subscriptionType"),
        ({"subscriptionType": ["contact.creation"]}, "subscriptionType"),
        ({"subscriptionType": "object.creation"}, "objectTypeId"),
        ({"subscriptionType": "contact.propertyChange"}, "propertyName"),
        ({"subscriptionType": "contact.propertyChange", "propertyName": ""}, "propertyName"),
        ({"subscriptionType": "contact.propertyChange", "propertyName": 5}, "propertyName"),
        ({"note": "a\x00b"}, "NUL"),
        ({"no\x00te": "a"}, "NUL"),
        ({"note": "\ud800"}, "surrogate"),
    ],
)
def test_one_bad_event_does_not_spoil_its_neighbours(change: dict[str, Any], why: str) -> None:
    before, bad, after = hubspot.parse(json.dumps([CREATION, {**CREATION, **change}, CHANGE]).encode())
    assert isinstance(before, Usable)
    assert isinstance(after, Usable)
    assert isinstance(bad, Unusable)
    assert why.replace("\\", "") in bad.why
    assert bad.body == {**CREATION, **change}


@pytest.mark.parametrize("event", [None, 1, "x", [], [CREATION], True])
def test_an_event_is_an_object(event: object) -> None:
    (reading,) = hubspot.parse(json.dumps([event]).encode())
    assert reading == Unusable(event, "an event is an object")


def test_a_batch_has_one_to_a_hundred_events() -> None:
    for count in (1, 100):
        assert len(events(hubspot.parse(json.dumps([CREATION] * count).encode()))) == count
    for count in (0, 101):
        with pytest.raises(MalformedDelivery, match="1 to 100"):
            hubspot.parse(json.dumps([CREATION] * count).encode())
    with pytest.raises(MalformedDelivery, match="1 to 100"):
        hubspot.parse(fixture("51"))


@pytest.mark.parametrize("body", [fixture("37"), b"{}", b"null", b"1", b'"[]"', b"", fixture("01")[:-2]])
def test_what_is_no_array_is_unusable_as_a_whole(body: bytes) -> None:
    with pytest.raises(MalformedDelivery):
        hubspot.parse(body)


def test_every_fixture_that_is_an_array_is_read_event_by_event() -> None:
    for path in sorted(FIXTURES.glob("*.json")):
        body = json.loads(path.read_bytes())
        if isinstance(body, list) and body:
            assert [reading.body for reading in hubspot.parse(path.read_bytes())] == body
            assert not any(isinstance(reading, Unusable) for reading in hubspot.parse(path.read_bytes())), path.name


_values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_names = st.sampled_from([*CHANGE, "eventType", "objectTypeId", "newObjectId", "primaryObjectId", "sourceId", "other"])


@given(st.dictionaries(_names, _values | st.lists(_values, max_size=2)))
def test_whatever_an_event_holds_it_is_one_of_three_things(change: dict[str, Any]) -> None:
    for event in (change, {**CHANGE, **change}):
        (reading,) = hubspot.parse(json.dumps([event]).encode())
        assert isinstance(reading, Usable | Ignored | Unusable)
        if isinstance(reading, Usable):
            keys.event_key(
                tenant="t",
                environment="e",
                source_system="hubspot",
                source_record_id=reading.event.source_record_id,
                event_kind=reading.event.event_kind,
                occurrence=reading.event.occurrence,
            )
