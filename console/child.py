"""One process that the stack supervises."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console import tether
from console.process_identity import identity

_LOOK_SECONDS = 0.1


@dataclass
class Child:
    """A process of the stack, with its log file; it dies when this process dies.

    Attributes:
        command: absolute path and arguments.
        grace_seconds: how long it may take to stop before it is killed.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    grace_seconds: float
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _identity: str = field(default="", init=False)
    _read_from: int = field(default=0, init=False)
    _started_at: float = field(default=0.0, init=False)
    _pause: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Start it; only ever from the main thread, since a child dies with the *thread* that started it."""
        with self.log.open("ab") as log:
            self._read_from = log.tell()
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *self.command],
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in a terminal is ours to pass on, in order
            )
        self._identity = identity(self._process.pid) or ""
        self._started_at = time.monotonic()

    def next_pause(self, *, first: float, longest: float, steady: float) -> float:
        """How long to wait before it is started again: doubled each time, until it has run steadily."""
        ran = time.monotonic() - self._started_at
        self._pause = first if ran > steady or not self._pause else min(self._pause * 2, longest)
        return self._pause

    @property
    def pid(self) -> int:
        return self._started().pid

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def status(self) -> int | None:
        """Its exit status; `None` while it runs."""
        return self._started().poll()

    def says(self, line: str) -> bool:
        """Whether it has printed this line since it was started."""
        return line in self._said().splitlines()

    def last_words(self) -> str:
        """The last line that it printed."""
        lines = [line.strip() for line in self._said().splitlines() if line.strip()]
        return lines[-1].removeprefix("leadproof: ") if lines else f"it printed nothing, see {self.log}"

    def how_it_ended(self) -> str:
        """Its end in words; its last words only where it failed by itself, since one that was killed did not know."""
        status = self.status
        if status is not None and status < 0:
            return f"was ended by signal {-status} (its log: {self.log})"
        return f"ended with status {status}" + (f": {self.last_words()}" if status else f" (its log: {self.log})")

    def ask_to_stop(self) -> None:
        if self.status is None:
            self._started().terminate()

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> bool:
        """Ask it to stop and wait; `False` where it had to be killed.

        Args:
            hurry: asked again and again whether to wait no longer.
        """
        if self._process is None:
            return True
        self.ask_to_stop()
        deadline = time.monotonic() + self.grace_seconds
        while not hurry() and time.monotonic() < deadline:
            try:
                self._process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            return True
        if self.status is not None:
            return True
        self._process.kill()
        self._process.wait()
        return False

    def _said(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self._read_from)
            return log.read().decode("utf-8", "replace")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process
