"""Webhooks as they arrive: shapes, signatures, copies, order and retries."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.hubspot import signatures
from tests.sandbox.control import Control, eventually
from tests.sandbox.receiver import Delivery, Receiver, receiving

SECRET = "a secret of this test"
COMMON = {
    "eventId",
    "subscriptionId",
    "portalId",
    "appId",
    "occurredAt",
    "subscriptionType",
    "attemptNumber",
    "objectId",
    "changeSource",
    "sourceId",
}

Subscribe = Callable[..., None]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


@pytest.fixture
def subscribe(control: Control, receiver: Receiver) -> Iterator[Subscribe]:
    def subscribe(**options: Any) -> None:
        control.post("/webhooks", {"target": receiver.target, "secret": SECRET, "on": True, **options})

    yield subscribe
    receiver.release.set()
    control.post("/reset")


def settled(control: Control) -> dict[str, Any]:
    def ended() -> dict[str, Any]:
        shown: dict[str, Any] = control.get("/webhooks")
        return shown if shown["waiting"] == 0 else {}

    shown: dict[str, Any] = eventually(ended)
    return shown


def test_person_creates_a_contact(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe()
    record = control.person("9002", email="ann@example.com", city="Cork")
    settled(control)
    assert receiver.kinds() == [
        ("contact.creation", None),
        ("contact.propertyChange", "email"),
        ("contact.propertyChange", "city"),
    ]
    creation, change, _ = receiver.events
    assert creation.keys() == COMMON | {"changeFlag"}
    assert change.keys() == COMMON | {"propertyName", "propertyValue"}
    assert (creation["portalId"], creation["appId"], creation["objectId"]) == (62515, 54321, int(record["id"]))
    assert (creation["changeSource"], creation["sourceId"]) == ("CRM_UI", "userId:9002")
    assert (creation["changeFlag"], creation["attemptNumber"]) == ("CREATED", 0)
    assert creation["occurredAt"] == change["occurredAt"]
    assert change["propertyValue"] == "ann@example.com"


def test_our_own_write_comes_back_as_an_echo(
    contacts: Any, control: Control, receiver: Receiver, subscribe: Subscribe
) -> None:
    record = control.person(email="ann@example.com")["id"]
    subscribe()
    contacts.update(record, {"properties": {"city": "Cork"}})
    settled(control)
    [event] = receiver.events
    assert (event["changeSource"], event["sourceId"], event["propertyValue"]) == ("INTEGRATION", "54321", "Cork")


def test_archive_restore_and_merge(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    winner, loser = (control.person(email=f"{name}@example.com")["id"] for name in ("ann", "bo"))
    subscribe(subscriptions=["contact.deletion", "contact.restore", "contact.merge"])
    which = {"provider": "hubspot", "object": "contacts", "id": winner}
    control.delete("/records", which)
    control.put("/records", {**which, "archived": False})
    control.post("/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": loser})
    settled(control)
    deletion, restore, merge = receiver.events
    assert (deletion["subscriptionType"], deletion["changeFlag"]) == ("contact.deletion", "DELETED")
    assert restore["subscriptionType"] == "contact.restore"
    assert restore.keys() == COMMON
    assert (merge["primaryObjectId"], merge["mergedObjectIds"]) == (int(winner), [int(loser)])
    assert merge["newObjectId"] == int(winner)
    assert merge["numberOfPropertiesMoved"] == 0


def test_only_what_is_subscribed_to(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(subscriptions=["contact.propertyChange"], properties=["city"])
    control.person(email="ann@example.com", city="Cork", phone="1")
    settled(control)
    assert receiver.kinds() == [("contact.propertyChange", "city")]


def test_headers_and_both_signatures(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(subscriptions=["contact.creation"])
    control.person(email="ann@example.com", firstname="Ånn")
    settled(control)
    [delivery] = receiver.deliveries
    names = [name for name, _ in delivery.headers]
    assert {
        "X-HubSpot-Signature",
        "X-HubSpot-Signature-Version",
        "X-HubSpot-Signature-v3",
        "X-HubSpot-Request-Timestamp",
        "X-HubSpot-Timeout-Millis",
    } <= set(names)
    assert delivery.header("X-HubSpot-Signature-Version") == "v1"
    assert delivery.header("X-HubSpot-Timeout-Millis") == "10000"
    assert delivery.header("Content-Type") == "application/json"
    assert delivery.header("User-Agent").startswith("HubSpot Connect 2.0")
    assert _signed(delivery, receiver.target)


def _signed(delivery: Delivery, target: str) -> bool:
    timestamp = int(delivery.header("X-HubSpot-Request-Timestamp"))
    assert abs(timestamp / 1000 - time.time()) < 60
    v3 = signatures.v3(SECRET, "POST", target, delivery.body, timestamp)
    v1 = signatures.v1(SECRET, delivery.body)
    return (delivery.header("X-HubSpot-Signature-v3"), delivery.header("X-HubSpot-Signature")) == (v3, v1)


def test_copies_and_order(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(copies=3, reorder=True)
    control.person(email="ann@example.com", city="Cork", phone="1", firstname="Ann", lastname="Lee", state="x")
    settled(control)
    first, second, third = receiver.deliveries
    assert first.body == second.body == third.body
    assert first.events[0]["subscriptionType"] != "contact.creation"
    assert len(first.events) == 7


def test_at_most_a_hundred_events_in_a_request(
    batches: Any, control: Control, receiver: Receiver, subscribe: Subscribe
) -> None:
    subscribe()
    rows = [{"properties": {"email": f"{number}@example.com", "city": "Cork"}} for number in range(40)]
    batches.create({"inputs": rows})
    settled(control)
    assert sorted(len(delivery.events) for delivery in receiver.deliveries) == [20, 100]


@pytest.mark.parametrize("status", [401, 503])
def test_refused_delivery_is_tried_again(
    control: Control, receiver: Receiver, subscribe: Subscribe, status: int
) -> None:
    receiver.statuses = [status, status]
    subscribe(subscriptions=["contact.creation"])
    control.person(email="ann@example.com")
    for seen in (1, 2):
        _next_attempt(control, receiver, seen)
    assert settled(control)["delivered"] == 1
    assert [event["attemptNumber"] for event in receiver.events] == [0, 1, 2]
    assert len({event["occurredAt"] for event in receiver.events}) == 1
    assert all(_signed(delivery, receiver.target) for delivery in receiver.deliveries)


def test_given_up_after_ten_retries(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    receiver.statuses = [500] * 20
    subscribe(subscriptions=["contact.creation"])
    control.person(email="ann@example.com")
    for seen in range(1, 11):
        _next_attempt(control, receiver, seen)
    assert settled(control)["given_up"] == 1
    assert [event["attemptNumber"] for event in receiver.events] == list(range(11))


def _next_attempt(control: Control, receiver: Receiver, seen: int) -> None:
    def arrived() -> bool:
        control.advance(60)
        return len(receiver.deliveries) > seen

    eventually(arrived)


def test_nobody_listens(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(subscriptions=["contact.creation"])
    control.post("/webhooks", {"target": "http://127.0.0.1:9/", "secret": SECRET, "on": True})
    control.person(email="ann@example.com")
    eventually(lambda: control.get("/webhooks")["failed"])
    subscribe(subscriptions=["contact.creation"])
    _next_attempt(control, receiver, 0)
    assert receiver.events[0]["attemptNumber"] > 0


def test_slow_receiver_is_not_waited_for(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    from sandbox.hubspot import webhooks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webhooks, "TIMEOUT", 0.1)
        receiver.hold = True
        subscribe(subscriptions=["contact.creation"])
        control.person(email="ann@example.com")
        _next_attempt(control, receiver, 1)
    receiver.hold = False
    receiver.release.set()


def test_documented_patience() -> None:
    from sandbox.hubspot import webhooks

    assert (webhooks.TIMEOUT, webhooks.MAX_ATTEMPTS, webhooks.MAX_EVENTS) == (5.0, 11, 100)


def test_off_is_off(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe()
    control.post("/webhooks", {"on": False})
    control.person(email="ann@example.com")
    assert control.get("/webhooks")["waiting"] == 0
    assert receiver.deliveries == []
