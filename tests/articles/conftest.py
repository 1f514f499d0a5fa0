"""The house that the articles' checklists are tried in: a starter on a socket, a wire to HubSpot that can be cut."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx
import pytest

from leadproof.domain.events import Outcome
from sandbox.server import running
from tests.articles.witness import log_of
from tests.conftest import a_server
from tests.crash.processes import one_that_stops, stopped_at
from tests.crash.stopping import Point
from tests.starter.wire import Wire, a_wire
from tests.support.house import House, a_house, quick_policy
from tests.support.serving import free_port, serving

_SHORT = {
    "call_timeout_seconds = 4": "call_timeout_seconds = 1.5",
    "observation_window_seconds = 20": "observation_window_seconds = 2.5",
    "patience_seconds = 60": "patience_seconds = 1.5",
}
"""Several tests wait for one of these times to pass."""

_BY_CLAUDE = """
[[event]]
source = "website"
kind = "chat.requested"
planner = "claude"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]

[claude]
call_timeout_seconds = 3
"""
"""One kind of event that a model plans; the rules plan the others."""


@pytest.fixture(scope="session")
async def _built(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[House, Wire]]:
    policy = quick_policy(**_SHORT) + _BY_CLAUDE
    folder = tmp_path_factory.mktemp("articles")
    with running() as sandbox:
        async with await a_server() as server, a_wire(sandbox.removeprefix("http://")) as wire:
            more = {
                "LEADPROOF_HUBSPOT_BASE_URL": f"http://{wire.address}/hubspot",
                "LEADPROOF_STARTER_PORT": str(free_port()),
                "LEADPROOF_LOG_LEVEL": "warning",
            }
            async with (
                a_house(server.client, folder, policy=policy, sandbox=sandbox, more=more) as house,
                serving(house.settings) as address,
                httpx.AsyncClient(base_url=address, timeout=20, trust_env=False) as http,
            ):
                house.http = http
                yield house, wire


@pytest.fixture
def house(_built: tuple[House, Wire]) -> Iterator[House]:
    """The house of all articles, without faults; records are a test's own."""
    house, network = _built
    yield house
    network.mend()
    house.control.delete("/faults")
    house.control.delete("/anthropic")


@pytest.fixture
def network(_built: tuple[House, Wire]) -> Wire:
    """The wire between the worker and HubSpot; the witness is asked past it."""
    return _built[1]


@dataclass(frozen=True)
class Killed:
    """A lead whose worker was killed with SIGKILL in the middle of its write, and which another one took to its end.

    Attributes:
        before: the operations on its record that the witness had logged when the worker was dead.
        counts: what the starter said of the same delivery after that.
    """

    key: str
    record_id: str
    before: list[str]
    counts: dict[str, int]


@dataclass(frozen=True)
class Wreck:
    """What a killed worker left.

    Attributes:
        unsent: it had reserved the effect, and had sent nothing.
        unheard: its write had landed, and nobody heard the answer.
    """

    house: House
    unsent: Killed
    unheard: Killed


@pytest.fixture(scope="session")
async def wreck(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wreck]:
    """One worker process is killed for two articles: to start one takes seconds."""
    folder = tmp_path_factory.mktemp("wreck")
    async with await a_server() as server, a_house(server.client, folder, worker=False) as house:
        records = {"unsent": house.contact(), "unheard": house.contact()}
        keys = {name: house.key_of(record_id) for name, record_id in records.items()}
        events = {name: house.creation(record_id) for name, record_id in records.items()}
        points = {keys["unsent"]: Point("after", "ledger.claim"), keys["unheard"]: Point("after", "crm.write")}
        await house.deliver(*events.values())
        async with one_that_stops("worker", house, folder, points) as victim:
            await stopped_at(victim, points)
            victim.kill()
            await victim.wait()
        before = {name: log_of(house, record_id) for name, record_id in records.items()}
        counts = {name: await house.deliver(event) for name, event in events.items()}
        same = {name: house.environment[name] for name in ("LEADPROOF_TENANT", "LEADPROOF_LEDGER_URL")}
        sandbox = house.environment["LEADPROOF_SALESFORCE_URL"]
        async with a_house(server.client, folder, sandbox=sandbox, more=same):  # whose worker goes on with the leads
            for key in keys.values():
                await house.outcome(key, Outcome.DONE, within=40)
        killed = {name: Killed(keys[name], records[name], before[name], counts[name]) for name in records}
        yield Wreck(house, **killed)
