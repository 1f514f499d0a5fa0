from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from leadproof.domain.errors import LedgerUnavailable, NotFound
from leadproof.domain.events import Lead, Outcome, workflow_id
from leadproof.domain.steps import Arrival
from starter.off_loop import off_loop
from starter.start import Duplicate, Started, TemporalUnavailable, is_open, resume_lead, start_lead
from tests.starter.wire import a_wire
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, sqlite_ledger
from workers.plugin import leads_plugin
from workflows.contract import LEAD_WORKFLOW


async def start(client: Client, name: str) -> Started | Duplicate:
    return await start_lead(
        client,
        event_key=name,
        workflow_id=name,
        source="hubspot",
        event_kind="contact.creation",
        tenant="acme",
        environment="test",
    )


async def test_a_run_is_started_once_whether_it_is_open_or_closed(unworked: Client) -> None:
    name = uuid.uuid4().hex
    answers = await asyncio.gather(*(start(unworked, name) for _ in range(5)))
    (started,) = [answer for answer in answers if isinstance(answer, Started)]
    assert [answer for answer in answers if answer != started] == [Duplicate(started.run_id)] * 4
    await unworked.get_workflow_handle(name).terminate()
    assert await start(unworked, name) == Duplicate(started.run_id)
    assert not await is_open(unworked, name)
    assert not await is_open(unworked, uuid.uuid4().hex)


async def test_a_temporal_out_of_reach_is_said_in_time(unworked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starter.start.PATIENCE_SECONDS", 0.3)
    async with a_wire(unworked.service_client.config.target_host) as wire:
        client = await Client.connect(wire.address, namespace=unworked.namespace, plugins=[leads_plugin()])
        wire.cut()
        with pytest.raises(TemporalUnavailable):
            await start(client, uuid.uuid4().hex)
        with pytest.raises(TemporalUnavailable):
            await is_open(client, "ready")


async def test_a_namespace_that_is_not_there_is_said(unworked: Client) -> None:
    elsewhere = await Client.connect(
        unworked.service_client.config.target_host, namespace="nowhere", plugins=[leads_plugin()]
    )
    with pytest.raises(TemporalUnavailable, match="NOT_FOUND"):
        await start(elsewhere, "x")


def a_row(ledger: OwnedLedger, environment: str = "test") -> Lead:
    event = a_lead_event(event_key=uuid.uuid4().hex * 2, environment=environment)
    ledger.admit([Arrival(event=event)])
    return row_of(ledger, event.event_key)


def row_of(ledger: OwnedLedger, key: str) -> Lead:
    lead = ledger.lead(key)
    assert lead is not None
    return lead


@pytest.fixture
def ledger(tmp_path: Path) -> OwnedLedger:
    return sqlite_ledger(tmp_path / "ledger.db", HandClock())


async def test_a_row_without_a_run_is_started_under_its_own_id(unworked: Client, ledger: OwnedLedger) -> None:
    with ledger:
        lead = a_row(ledger)
        assert isinstance(await resume_lead(ledger, unworked, lead), Started)
        assert await is_open(unworked, lead.workflow_id)
        assert row_of(ledger, lead.event_key).run == 0


async def test_an_open_run_is_left_alone(unworked: Client, ledger: OwnedLedger) -> None:
    with ledger:
        lead = a_row(ledger)
        first = await resume_lead(ledger, unworked, lead)
        assert await resume_lead(ledger, unworked, lead) == Duplicate(first.run_id)
        assert row_of(ledger, lead.event_key).run == 0


async def test_a_closed_run_is_followed_by_one_elected_run(unworked: Client, ledger: OwnedLedger) -> None:
    with ledger:
        lead = a_row(ledger)
        await resume_lead(ledger, unworked, lead)
        await unworked.get_workflow_handle(lead.workflow_id).terminate()
        answers = await asyncio.gather(*(resume_lead(ledger, unworked, lead) for _ in range(4)))
        (started,) = [answer for answer in answers if isinstance(answer, Started)]
        assert {answer.run_id for answer in answers} == {started.run_id}
        resumed = row_of(ledger, lead.event_key)
        assert (resumed.run, resumed.workflow_id) == (1, workflow_id(lead.event_key, 1))
        described = await unworked.get_workflow_handle(resumed.workflow_id).describe()
        assert (described.run_id, described.workflow_type) == (started.run_id, LEAD_WORKFLOW)


async def test_a_lead_of_shadow_mode_goes_to_workers_of_shadow_mode_whoever_starts_it(
    unworked: Client, ledger: OwnedLedger
) -> None:
    with ledger:
        for environment, queue, says in (("test", "leads", False), ("test-shadow", "leads-shadow", True)):
            lead = a_row(ledger, environment=environment)
            await resume_lead(ledger, unworked, lead)
            described = await unworked.get_workflow_handle(lead.workflow_id).describe()
            assert described.task_queue == queue
            assert ("nothing is written" in str(await described.static_summary())) is says


async def test_a_lead_that_was_closed_meanwhile_is_not_resumed(unworked: Client, ledger: OwnedLedger) -> None:
    with ledger:
        lead = a_row(ledger)
        await resume_lead(ledger, unworked, lead)
        await unworked.get_workflow_handle(lead.workflow_id).terminate()
        ledger.close_event(lead.event_key, Outcome.GONE)
        assert isinstance(await resume_lead(ledger, unworked, lead), Duplicate)
        assert not await is_open(unworked, workflow_id(lead.event_key, 1))


async def test_a_lead_whose_row_is_gone_is_not_resumed(unworked: Client, ledger: OwnedLedger, tmp_path: Path) -> None:
    with ledger, sqlite_ledger(tmp_path / "other.db", HandClock()) as other:
        lead = a_row(ledger)
        await resume_lead(ledger, unworked, lead)
        await unworked.get_workflow_handle(lead.workflow_id).terminate()
        with pytest.raises(NotFound):
            await resume_lead(other, unworked, lead)


async def test_a_blocking_call_is_waited_for_only_so_long() -> None:
    released = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang() -> None:
        asyncio.run_coroutine_threadsafe(released.wait(), loop).result()

    with pytest.raises(LedgerUnavailable):
        await off_loop(hang, patience_seconds=timedelta(milliseconds=50).total_seconds())
    released.set()
    assert await off_loop(lambda: 5) == 5
