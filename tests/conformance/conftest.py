from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from leadproof.ledger.engine import Engine, connect
from leadproof.ledger.store import SqlLedger
from sandbox.server import running
from tests.conformance.clocks import Skipping
from tests.conformance.policies import BASE_AGE
from tests.conformance.sandboxed import SandboxHands
from tests.conformance.stage import Stage
from tests.conformance.systems import System
from tests.sandbox.control import Control
from tests.support.ledgers import HandClock, sqlite_ledger

_MEMORY = Path("/dev/shm")  # noqa: S108  no power fails here

PATIENT, IMPATIENT = 30.0, 1.0

MakeStage = Callable[[System], Stage]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture(scope="session")
def engine_of() -> Iterator[Callable[[System], Engine]]:
    """One file for all cases of a system, each of which is a tenant of its own; its statements are built once."""
    with (
        tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder,
        ExitStack() as engines,
    ):

        @functools.cache
        def made(system: System) -> Engine:
            path = Path(folder) / f"{system.name}.db"
            sqlite_ledger(path, HandClock()).close()
            engine = connect(f"sqlite:///{path}")
            engines.callback(engine.dispose)
            return engine

        yield made


@pytest.fixture(scope="session")
def make_stage(address: str, engine_of: Callable[[System], Engine]) -> Iterator[MakeStage]:
    numbers = itertools.count(1)
    with httpx.Client(base_url=address, trust_env=False) as browser, ExitStack() as adapters:

        def make(system: System) -> Stage:
            adapters.close()
            patient, impatient = (
                adapters.enter_context(closing(system.adapter(address, min(5.0, deadline), deadline)))
                for deadline in (PATIENT, IMPATIENT)
            )
            control = Control(browser)
            control.post("/reset")
            clock = Skipping(control.advance)
            own = SqlLedger(engine_of(system), clock)
            own.mark_target(system.name, up=True, reason=None)
            return Stage(
                system,
                crm=patient,
                impatient=impatient,
                hands=SandboxHands(system, control),
                ledger=own,
                clock=clock,
                tenant=f"case{next(numbers)}",
                base_age=BASE_AGE,
            )

        yield make
