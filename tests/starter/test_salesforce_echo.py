"""A lead of Salesforce, from the save that a person made to the save that our write made of it: through every part."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain import keys
from leadproof.domain.events import Outcome
from sandbox.server import running
from starter.webhooks import ACK
from tests.sandbox.receiver import Receiver, receiving
from tests.starter.salesforce import ORGANIZATION, POLICY, SALESFORCE, SECRET
from tests.support.house import House, a_house, eventually

PERSON, OWNER = "005xx000001Sv6CAAS", "005xx000001Sv6BAAS"
TIMES = """apply_lag_seconds = 0.4
connect_timeout_seconds = 0.4
call_timeout_seconds = 2.5
send_within_seconds = 1
clock_margin_seconds = 0.1
observation_window_seconds = 4
read_spacing_seconds = 0.1
"""
RULE = """name = "everyone"
action = "qualify"
target = "salesforce"
object = "lead"
fields = { owner = "mira" }
"""
QUALIFYING = (
    POLICY.replace("apply_lag_seconds = 20\n", TIMES)
    .replace('name = "everyone"\naction = "none"\n', RULE)
    .replace('version = "salesforce-1"', 'version = "salesforce-echo-1"')
)


class Org:
    """An org whose outbound messages a test hands on to the starter one by one."""

    def __init__(self, house: House, receiver: Receiver) -> None:
        self.house = house
        self._receiver = receiver
        self._handed_on = 0

    def save(self, record: str | None = None, **fields: str) -> str:
        asked = {"provider": "salesforce", "object": "leads", "id": record, "user": PERSON, "properties": fields}
        return str(self.house.control.put("/records", asked)["id"])

    async def told(self, record: str) -> list[str]:
        """Hand the next message on; the keys of its events."""
        number = self._handed_on
        body = await eventually(lambda: self._receiver.deliveries[number:] or None)
        self._handed_on += 1
        notified = re.findall(rb"<Notification>\s*<Id>(\w+)</Id>", body[0].body)
        path = f"/webhooks/salesforce/outbound-message/{SECRET}"
        answer = await self.house.http.post(path, content=body[0].body, headers={"content-type": "text/xml"})
        assert answer.text == ACK
        settings = self.house.settings
        return [
            keys.event_key(
                tenant=settings.tenant,
                environment=settings.environment,
                source_system="salesforce",
                source_record_id=record,
                event_kind="lead.saved",
                occurrence=keys.occurrence([ORGANIZATION, notification.decode()]),
            )
            for notification in notified
        ]

    def messages(self) -> int:
        return len(self._receiver.deliveries)

    def writes(self) -> int:
        asked = self.house.control.get("/requests", provider="salesforce", operation="leads.write")
        return len(asked)

    def record(self, record: str) -> dict[str, Any]:
        rows = self.house.control.get("/records", provider="salesforce", object="leads")
        found: dict[str, Any] = next(row for row in rows if row["id"] == record)["properties"]
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        opened.reply = ACK.encode()
        yield opened


@pytest.fixture
async def org(temporal: WorkflowEnvironment, tmp_path: Path, receiver: Receiver) -> AsyncIterator[Org]:
    with running() as address:
        more = SALESFORCE | {"LEADPROOF_ENVIRONMENT": "salesforce-echo"}
        async with a_house(temporal.client, tmp_path, policy=QUALIFYING, sandbox=address, more=more) as house:
            house.control.post("/webhooks", {"provider": "salesforce", "target": receiver.target, "on": True})
            yield Org(house, receiver)


async def test_our_own_write_comes_back_as_an_echo_and_a_persons_save_does_not(org: Org) -> None:
    record = org.save(LastName="Sample", Company="Example", Email="mira@lead.example")
    (first,) = await org.told(record)
    await org.house.outcome(first, Outcome.DONE)
    (mutation,) = org.house.mutations(first)
    assert org.record(record)["OwnerId"] == OWNER
    assert org.writes() == 1

    (second,) = await org.told(record)
    lead = await org.house.outcome(second, Outcome.ECHO)
    assert lead.echo_of == mutation.mutation_key

    org.save(record, Company="Example & Daughters")
    (third,) = await org.told(record)
    # within one second of the first save, either event may answer the other
    again = await org.house.outcome(third, Outcome.DONE, Outcome.SUPERSEDED)
    assert again.echo_of is None
    assert org.writes() == 1  # it was found already so


async def test_a_persons_save_that_is_told_after_our_write_is_planned(org: Org) -> None:
    """By then its message has our write's time, and Salesforce says that we changed the record last."""
    edit = {"fields": {"Company": "Example & Daughters"}, "user": PERSON, "moment": "before_write"}
    fault = {"provider": "salesforce", "operation": "leads.write", "kind": "human_edit", "times": 1, "args": edit}
    org.house.control.post("/faults", fault)
    record = org.save(LastName="Sample", Company="Example", Email="mira@lead.example")
    (first,) = await org.told(record)
    await org.house.outcome(first, Outcome.DONE)
    assert (org.record(record)["OwnerId"], org.record(record)["Company"]) == (OWNER, "Example & Daughters")
    written = org.writes()

    told = await org.told(record)
    while len(told) < 2:  # the person's save and ours, in one message or in two
        told += await org.told(record)
    for key in told:
        # of two in one second one may answer the other
        later = await org.house.outcome(key, Outcome.DONE, Outcome.SUPERSEDED, Outcome.ECHO)
        assert later.echo_of is None
        plan = org.house.ledger.plan_of(key, later.policy_version)
        assert plan is not None
        assert plan.snapshot is not None
        assert plan.snapshot["fields"]["company"] == "Example & Daughters"
    assert org.writes() == written


async def test_a_flow_that_changes_another_field_with_each_write_of_ours_is_planned_once_more_and_no_further(
    org: Org,
) -> None:
    """Its change is told with ours, and is no echo; what is then planned stands already, and makes no further save."""
    rewrite = {"fields": {"Company": "Changed by a flow"}}
    fault = {"provider": "salesforce", "operation": "leads.write", "kind": "rewrite", "times": 100, "args": rewrite}
    org.house.control.post("/faults", fault)
    record = org.save(LastName="Sample", Company="Example", Email="mira@lead.example")
    (first,) = await org.told(record)
    await org.house.outcome(first, Outcome.DONE)
    (second,) = await org.told(record)
    # within one second of the first save, either event may answer the other
    again = await org.house.outcome(second, Outcome.DONE, Outcome.SUPERSEDED)
    assert again.echo_of is None
    assert (org.record(record)["OwnerId"], org.record(record)["Company"]) == (OWNER, "Changed by a flow")
    assert org.writes() == 1
    assert org.messages() == 2
