"""Which saves of the org's records send an outbound message, set up through the control plane."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.sandbox.control import Control, eventually
from tests.sandbox.receiver import Receiver, receiving
from tests.sandbox.salesforce.test_outbound import ACK

WHICH = {"provider": "salesforce", "object": "leads"}

Subscribe = Callable[..., None]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        started.reply = ACK
        yield started


@pytest.fixture
def subscribe(control: Control, receiver: Receiver) -> Iterator[Subscribe]:
    def subscribe(**options: Any) -> None:
        control.post("/webhooks", {"provider": "salesforce", "target": receiver.target, "on": True, **options})

    yield subscribe
    control.post("/reset")


def put(control: Control, record: str | None = None, kind: str = "leads", **fields: Any) -> str:
    asked = {"provider": "salesforce", "object": kind, "id": record, "properties": fields}
    answer: str = control.put("/records", asked)["id"]
    return answer


def settled(control: Control) -> dict[str, Any]:
    def ended() -> dict[str, Any]:
        shown: dict[str, Any] = control.get("/webhooks", provider="salesforce")
        return shown if shown["waiting"] == 0 else {}

    shown: dict[str, Any] = eventually(ended)
    return shown


def told(receiver: Receiver, name: str = "Id") -> list[str]:
    every = "".join(delivery.body.decode() for delivery in receiver.deliveries)
    return re.findall(f"<sf:{name}>(.*)</sf:{name}>", every)


def test_each_creation_and_each_change_is_told_once(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(object="leads")
    ann = put(control, LastName="Ann", Company="Acme")
    bo = put(control, LastName="Bo", Company="Acme")
    put(control, ann, City="Cork")
    put(control, kind="contacts", LastName="Cy")
    settled(control)
    assert sorted(told(receiver)) == sorted([ann, bo, ann])
    bodies = "".join(delivery.body.decode() for delivery in receiver.deliveries)
    ids = re.findall(r"<Notification>\s*<Id>(04lxx\w{13})</Id>", bodies)
    assert len(set(ids)) == 3
    assert "<OrganizationId>00Dxx0000001gPLEAY</OrganizationId>" in bodies


def test_values_are_the_records(control: Control, receiver: Receiver, subscribe: Subscribe) -> None:
    subscribe(fields=["LastName", "NumberOfEmployees", "AnnualRevenue", "IsConverted", "CreatedDate", "City"])
    put(control, LastName="Ann", Company="Acme", NumberOfEmployees=120, AnnualRevenue=5e6)
    settled(control)
    assert told(receiver, "NumberOfEmployees") == ["120"]
    assert told(receiver, "AnnualRevenue") == ["5000000.0"]
    assert told(receiver, "IsConverted") == ["false"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z", told(receiver, "CreatedDate")[0])
    assert told(receiver, "City") == told(receiver, "Company") == []


def test_a_conversion_is_a_change_of_the_lead_and_makes_a_contact(
    control: Control, receiver: Receiver, subscribe: Subscribe
) -> None:
    lead = put(control, LastName="Ann", Company="Acme")
    subscribe()
    control.post("/convert", {**WHICH, "id": lead})
    settled(control)
    [contact] = told(receiver, "ConvertedContactId")
    assert sorted(told(receiver)) == sorted([lead, contact])


def test_a_merge_is_told_of_the_winner_and_a_deletion_of_nobody(
    control: Control, receiver: Receiver, subscribe: Subscribe
) -> None:
    winner, loser = (put(control, LastName=name, Company="Acme") for name in ("Ann", "Bo"))
    subscribe()
    control.post("/merge", {**WHICH, "winner": winner, "loser": loser})
    control.delete("/records", {**WHICH, "id": winner})
    control.put("/records", {**WHICH, "id": winner, "archived": False})
    settled(control)
    assert set(told(receiver)) == {winner}


def test_settings_of_each_provider_are_its_own(control: Control, http: httpx.Client, receiver: Receiver) -> None:
    def refused(**asked: Any) -> str:
        answer = http.post("/_sandbox/webhooks", json={"provider": "salesforce", "target": "http://x", **asked})
        assert answer.status_code == 422
        error: str = answer.json()["error"]
        return error

    assert refused(secret="s") == "unknown: secret"
    assert refused(fields=["Nope"]) == "no field Nope"
    assert refused(object="users") == "object is one of leads, contacts"
    assert "is none of hubspot, salesforce" in refused(provider="anthropic")
    control.post("/webhooks", {"provider": "salesforce", "target": receiver.target, "on": True})
    assert control.get("/webhooks", provider="salesforce")["on"] is True
    assert control.get("/webhooks")["on"] is False
    control.post("/reset")
    assert control.get("/webhooks", provider="salesforce")["on"] is False
