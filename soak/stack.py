"""The stack of a soak, as `leadproof up` runs it, with processes that are killed under it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.deployment import NotAsExpected, environment, stop
from soak import policy
from soak.schedule import Process

_SETTINGS = {"LEADPROOF_SWEEP_SECONDS": "5", "LEADPROOF_SWEEP_AGE_SECONDS": "10"}


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that answers."""

    starter: str
    sandbox: str
    ledger: Path
    hubspot_secret: str
    salesforce_path: str
    api_token: str
    processes: Path

    @classmethod
    def told(cls, said: dict[str, Any], data_dir: Path) -> Stack:
        """By the line of `leadproof up --json`."""
        secrets = said["secrets"]
        return cls(
            starter=said["starter"],
            sandbox=said["sandbox"],
            ledger=Path(str(said["ledger"]).removeprefix("sqlite:///")),
            hubspot_secret=secrets["hubspot"],
            salesforce_path=secrets["salesforce_path"],
            api_token=secrets["api_token"],
            processes=data_dir / "processes.json",
        )

    def kill(self, process: Process) -> bool:
        """End a process at once; `up` starts it again. Whether it ran."""
        children = json.loads(self.processes.read_text(encoding="utf-8"))["children"]
        pid = next(int(child["pid"]) for child in children if child["name"] == process)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """What the ledger's file holds, read by a connection that can't write."""
        connection = sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True, timeout=30)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(query, values)]
        finally:
            connection.close()


@contextmanager
def running(folder: Path) -> Iterator[Stack]:
    """Start the stack on a folder, and stop it.

    Raises:
        NotAsExpected: it did not start.
    """
    written = folder / "soak-policy.toml"
    written.write_text(policy.text(), encoding="utf-8")
    settings = {"LEADPROOF_POLICY": str(written), **_SETTINGS}
    data_dir = folder / "data"
    ports = [f"--{name}-port=0" for name in ("temporal", "starter", "sandbox")]
    with (folder / "up.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "console", "up", "--json", "--data-dir", str(data_dir), *ports],
            cwd=folder,  # no .env of whoever runs this
            env={**environment(), **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise NotAsExpected((folder / "up.log").read_text(encoding="utf-8").strip())
        yield Stack.told(json.loads(line), data_dir)
    finally:
        stop(process)
