"""A catch-up at the starter's door: what a delivery brought is a duplicate, what none brought is started, once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client

from leadproof.crm.hubspot_candidates import HubSpotCandidates
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_patience import PatientQuestions
from leadproof.domain.candidates import Candidate
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.ports import Candidates
from sandbox.server import running
from starter.admission import source_fields
from starter.catch_up import Admit, Report, admitting, catch_up_hubspot, foretelling
from starter.intake import Intake
from starter.start import TemporalUnavailable
from tests.sandbox.control import Control, eventually
from tests.sandbox.receiver import Receiver, receiving
from tests.starter.door import POLICY, PORTAL, Door, a_door
from tests.support.ledgers import HandClock
from workers.plugin import leads_plugin

SINCE = datetime(2020, 1, 1, tzinfo=UTC)
PROPERTIES = ("email", "company", "country")
ORDINARY = POLICY.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Source:
    """A HubSpot account, and the deliveries that it made but that did not reach us."""

    control: Control
    receiver: Receiver
    candidates: HubSpotCandidates

    def deliveries(self) -> list[bytes]:
        eventually(lambda: self.control.get("/webhooks")["waiting"] == 0)
        return [one.body for one in self.receiver.deliveries]

    def person(self, **properties: str) -> str:
        return str(self.control.person(**properties)["id"])


@pytest.fixture(scope="module")
def _running() -> Iterator[Source]:
    with running() as address, receiving() as receiver, httpx.Client(base_url=address, trust_env=False) as http:
        client = HubSpotClient(token=lambda: "any", base_url=f"{address}/hubspot", connect_timeout=2)
        candidates = HubSpotCandidates(PatientQuestions(client, call_timeout=5, search_spacing=0))
        yield Source(Control(http), receiver, candidates)
        candidates.close()


@pytest.fixture
def source(_running: Source) -> Source:
    """Two contacts, one of them edited: six events that the ordinary policy acts on, and that the index knows of."""
    control = _running.control
    control.post("/reset")
    control.post("/webhooks", {"target": _running.receiver.target, "secret": "any", "on": True})
    _running.receiver.deliveries.clear()
    ana = _running.person(email="ana@lead.example", company="Acme")
    _running.person(company="Bolt", firstname="Bo")
    control.person(record=ana, company="Acme Ltd")
    control.advance(5)
    assert _running.deliveries()
    return _running


EVENTS = 6


class Room:
    """The door and a catch-up that goes through the same ledger."""

    def __init__(self, door: Door, policy: Policy) -> None:
        self.door = door
        self._policy = policy

    def admit(self, client: Client | None = None, pauses: Sequence[float] = ()) -> Admit:
        intake = Intake(
            settings=self.door.settings,
            ledger=self.door.ledger,
            client=client or self.door.client,
            policy=self._policy,
            clock=self.door.clock,
            fields=source_fields(self._policy),
        )
        return admitting(intake, source="hubspot", pauses=pauses)

    def foretell(self) -> Admit:
        return foretelling(
            ledger=self.door.ledger,
            policy=self._policy,
            settings=self.door.settings,
            fields=source_fields(self._policy),
            clock=self.door.clock,
        )

    async def caught_up(
        self, candidates: Candidates, admit: Admit | None = None, report: Report | None = None
    ) -> dict[str, int]:
        """The counts of one catch-up, without those that are zero."""
        report = report or Report()
        await catch_up_hubspot(
            candidates,
            admit or self.admit(),
            account=str(PORTAL),
            properties=PROPERTIES,
            since=SINCE,
            until=None,
            report=report,
        )
        return {name: count for name, count in report.counts().items() if count}

    async def delivered(self, source: Source) -> dict[str, int]:
        counts: dict[str, int] = {}
        for body in source.deliveries():
            answer = await self.door.send(body)
            assert answer.status_code == 200, answer.text
            for name, count in answer.json().items():
                counts[name] = counts.get(name, 0) + count
        return {name: count for name, count in counts.items() if count}

    def deliveries(self) -> int:
        """How often the first event, the creation of the contact that was not edited, has come to its row."""
        lead = self.door.ledger.lead(self.door.key(102))
        return lead.deliveries if lead is not None else 0

    def rows(self) -> int:
        return sum(self.door.ledger.counts().leads.values())


@asynccontextmanager
async def a_room(client: Client, folder: Path, policy: str = ORDINARY) -> AsyncIterator[Room]:
    async with a_door(client, folder, policy=policy, clock=HandClock(datetime.now(UTC))) as door:
        read = parse_policy(policy)
        door.ledger.load_policy(read)
        yield Room(door, read)


@pytest.fixture
async def room(unworked: Client, tmp_path: Path) -> AsyncIterator[Room]:
    async with a_room(unworked, tmp_path) as opened:
        yield opened


async def test_what_no_delivery_brought_is_started_once(room: Room, source: Source) -> None:
    assert await room.caught_up(source.candidates) == {"records": 2, "seen": EVENTS, "started": EVENTS}
    assert room.rows() == EVENTS
    assert await room.door.run(f"lead:{room.door.key(101)}") is not None
    assert await room.caught_up(source.candidates) == {"records": 2, "seen": EVENTS, "duplicate": EVENTS}
    assert room.rows() == EVENTS


async def test_what_was_delivered_before_is_a_duplicate(room: Room, source: Source) -> None:
    delivered = await room.delivered(source)
    assert delivered["started"] == EVENTS
    assert await room.caught_up(source.candidates) == {"records": 2, "seen": EVENTS, "duplicate": EVENTS}
    assert room.rows() == EVENTS


async def test_what_is_delivered_later_is_a_duplicate(room: Room, source: Source) -> None:
    await room.caught_up(source.candidates)
    delivered = await room.delivered(source)
    assert delivered["duplicate"] == EVENTS
    assert "started" not in delivered
    assert "conflict" not in delivered
    assert room.rows() == EVENTS


async def test_a_foretelling_is_what_then_happens_and_changes_nothing(room: Room, source: Source) -> None:
    foretold = await room.caught_up(source.candidates, room.foretell())
    assert room.rows() == 0
    assert await room.door.run(f"lead:{room.door.key(101)}") is None
    assert foretold == await room.caught_up(source.candidates)
    assert await room.caught_up(source.candidates, room.foretell()) == await room.caught_up(source.candidates)


async def test_what_lies_ahead_of_our_clock_is_kept_aside(room: Room, source: Source) -> None:
    room.door.clock.forward(-3600)
    expected = {"records": 2, "seen": EVENTS, "quarantined": EVENTS}
    assert await room.caught_up(source.candidates, room.foretell()) == expected
    assert await room.caught_up(source.candidates) == expected
    assert room.rows() == 0
    kept, _ = room.door.ledger.quarantined()
    assert {entry.reason for entry in kept} == {"future"}


async def test_events_that_a_policy_counts_once_per_record_are_foretold_as_one(
    unworked: Client, tmp_path: Path, source: Source
) -> None:
    changes = re.compile(r'(kind = "contact.propertyChange"\n.*\nscopes = .*scope = )"event"')
    per_record, changed = changes.subn(r'\1"record"', ORDINARY)
    assert changed == 1
    async with a_room(unworked, tmp_path, per_record) as room:
        foretold = await room.caught_up(source.candidates, room.foretell())
        assert foretold == {"records": 2, "seen": EVENTS, "started": 4, "duplicate": EVENTS - 4}
        assert await room.caught_up(source.candidates) == foretold


async def test_what_the_policy_does_not_name_is_ignored(unworked: Client, tmp_path: Path, source: Source) -> None:
    without = ORDINARY.replace('kind = "contact.creation"', 'kind = "contact.restore"')
    async with a_room(unworked, tmp_path, without) as room:
        counts = {"records": 2, "seen": EVENTS, "started": EVENTS - 2, "ignored": 2}
        assert await room.caught_up(source.candidates, room.foretell()) == counts
        assert await room.caught_up(source.candidates) == counts


async def test_another_payload_under_a_key_is_a_conflict_that_is_kept_once(room: Room, source: Source) -> None:
    created = next(event for event in source.receiver.events if event["subscriptionType"] == "contact.propertyChange")
    await room.door.deliver(created | {"propertyValue": "something else"})
    for _ in range(2):
        assert (await room.caught_up(source.candidates, room.foretell()))["conflict"] == 1
        assert (await room.caught_up(source.candidates))["conflict"] == 1
    held, _ = room.door.ledger.quarantined(state="held", limit=10, cursor=None)
    assert [entry.reason for entry in held] == ["conflict"]


class Vanishing:
    """The same contacts, the first of which a person archives between the search and its read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._archived = False

    def account(self) -> str:
        return self._source.candidates.account()

    def changed_since(self, since: datetime) -> Iterator[str]:
        return self._source.candidates.changed_since(since)

    def read(self, record_id: str, properties: Sequence[str]) -> Candidate | None:
        if not self._archived:
            self._archived = True
            gone = {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"}
            self._source.control.delete("/records", gone)
        return self._source.candidates.read(record_id, properties)

    def close(self) -> None:
        self._source.candidates.close()


async def test_what_is_gone_when_it_is_read_is_counted_and_skipped(room: Room, source: Source) -> None:
    counts = await room.caught_up(Vanishing(source))
    assert (counts["records"], counts["gone"]) == (2, 1)
    assert 0 < counts["started"] == counts["seen"] < EVENTS


class Line:
    """A line to Temporal that can be cut and mended."""

    def __init__(self, client: Client) -> None:
        self._behind = client
        self._port = 0
        self._server: asyncio.Server | None = None
        self._ends: list[asyncio.StreamWriter] = []

    async def client(self) -> Client:
        """A client that is connected through the line."""
        await self.mend()
        return await Client.connect(
            f"127.0.0.1:{self._port}", namespace=self._behind.namespace, plugins=[leads_plugin()]
        )

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self._behind.service_client.config.target_host.rpartition(":")
        behind, to_behind = await asyncio.open_connection(host, int(port))
        self._ends += [writer, to_behind]
        await asyncio.gather(_pipe(reader, to_behind), _pipe(behind, writer), return_exceptions=True)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65_536):
        writer.write(chunk)
        await writer.drain()
    writer.close()


@pytest.fixture
async def line(unworked: Client, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Line]:
    monkeypatch.setattr("starter.start.PATIENCE_SECONDS", 0.3)
    opened = Line(unworked)
    yield opened
    opened.cut()


async def test_where_temporal_is_away_the_same_again_completes_it(room: Room, source: Source, line: Line) -> None:
    client, report = await line.client(), Report()
    line.cut()
    with pytest.raises(TemporalUnavailable):
        await room.caught_up(source.candidates, room.admit(client, pauses=(0.01,)), report)
    assert (report.counts()["records"], report.counts()["seen"]) == (1, 0)
    assert room.rows() == 1  # its row is there, and its run is not
    await line.mend()
    assert await room.caught_up(source.candidates) == {"records": 2, "seen": EVENTS, "started": EVENTS}


async def test_a_moment_without_temporal_is_waited_for(room: Room, source: Source, line: Line) -> None:
    client = await line.client()
    line.cut()
    done = asyncio.create_task(room.caught_up(source.candidates, room.admit(client, pauses=(0.1,) * 50)))
    while room.deliveries() < 2 and not done.done():  # noqa: ASYNC110 - until the first event is tried again
        await asyncio.sleep(0.02)
    await line.mend()
    assert await done == {"records": 2, "seen": EVENTS, "started": EVENTS}
