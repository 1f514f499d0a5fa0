"""The directory in which an embedded stack keeps what outlives it: ledger, Temporal's database, secrets, logs."""

from __future__ import annotations

import base64
import json
import os
import secrets
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from console.child import Child
from console.leaving import CommandRefused
from console.process_identity import our_own, runs
from leadproof.domain.errors import ConfigurationRefused

_PATIENCE_SECONDS = 10.0


class DataDir:
    """One stack's directory, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.ledger = self.path / "ledger.db"
        self.temporal = self.path / "temporal.db"
        self.variables = self.path / "stack.env"
        self._lock = self.path / "stack.lock"
        self._processes = self.path / "processes.json"
        self._secrets = self.path / "secrets.json"
        self._logs = self.path / "logs"
        self._held: int | None = None

    def take(self) -> None:
        """Hold the directory for this process, and end what an earlier one left running.

        Raises:
            CommandRefused: another process holds it.
            ConfigurationRefused: it cannot be written.
        """
        import fcntl

        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._logs.mkdir(mode=0o700, exist_ok=True)
            held = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigurationRefused(
                f"the data directory {self.path} cannot be written: {error.strerror}; choose another with --data-dir"
            ) from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(held)
            holder = _read_json(self._processes).get("up", {}).get("pid", "unknown")
            raise CommandRefused(
                f"a stack already runs on {self.path} (process {holder}); stop it, or choose another with --data-dir"
            ) from None
        self._held = held
        self._end_leftovers()

    def empty(self) -> None:
        """Forget every lead: the ledger and Temporal's database go, secrets stay."""
        for database in (self.ledger, self.temporal):
            for file in self.path.glob(f"{database.name}*"):
                file.unlink()

    def release(self) -> None:
        """Say that nothing of the stack runs any more."""
        self._processes.unlink(missing_ok=True)
        self.variables.unlink(missing_ok=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def record(self, children: Sequence[Child]) -> None:
        """Remember who runs, for the next process that takes this directory after this one was killed."""
        _write(
            self._processes,
            json.dumps(
                {
                    "up": {"pid": os.getpid(), "identity": our_own()},
                    "children": [
                        {"name": child.name, "pid": child.pid, "identity": child.identity} for child in children
                    ],
                }
            ),
        )

    def kept_secret(self, name: str, prefix: str = "") -> str:
        """A secret that was made up once and stays the same for this directory."""
        kept = _read_json(self._secrets)
        if name not in kept:
            kept[name] = prefix + base64.b64encode(secrets.token_bytes(24)).decode().translate(_URL_SAFE)
            _write(self._secrets, json.dumps(kept))
        return str(kept[name])

    def write_variables(self, variables: Mapping[str, str], remarks: Sequence[str] = ()) -> None:
        """Write the stack's variables for commands in another terminal, remarks first."""
        lines = [f"# {remark}\n" for remark in remarks]
        lines += (f"{name}={shlex.quote(value)}\n" for name, value in sorted(variables.items()))
        _write(self.variables, "".join(lines))

    def write(self, name: str, text: str) -> Path:
        """Keep a text under a name; its path."""
        _write(self.path / name, text)
        return self.path / name

    def log_of(self, name: str) -> Path:
        """A new log file; the one of the run before is kept beside it."""
        log = self._logs / f"{name}.log"
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        return log

    def _end_leftovers(self) -> None:
        left = [
            (int(child["pid"]), str(child["identity"]))
            for child in _read_json(self._processes).get("children", [])
            if child["identity"] and runs(int(child["pid"]), str(child["identity"]))
        ]
        for signum in (signal.SIGTERM, signal.SIGKILL):
            for pid, identity in left:
                with suppress(ProcessLookupError):
                    if runs(pid, identity):
                        os.kill(pid, signum)
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while any(runs(*one) for one in left) and time.monotonic() < deadline:
                time.sleep(0.02)
        self._processes.unlink(missing_ok=True)


_URL_SAFE = str.maketrans("+/", "AB")
"""Base64 without its two odd letters: still base64 for whoever decodes it, and plain in a URL, a shell and a list."""


def _read_json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        raise ConfigurationRefused(f"{path} is damaged; remove it, and what it held is made anew") from None
    return read if isinstance(read, dict) else {}


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read; whole, or not at all."""
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
