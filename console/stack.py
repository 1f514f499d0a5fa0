"""Supervises the processes of an embedded stack: Temporal, the sandbox, a worker, the starter. Imports none of them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import console
from console import embedded, free_ports, temporal_server
from console.child import Child
from console.data_dir import DataDir
from console.embedded import Addresses, Ports, Secrets
from console.embedded_policy import Planning, policy_path
from console.leaving import CONFIGURATION
from console.tables import warn
from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings

START_SECONDS = 90.0
_LOOK_SECONDS = 0.05
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_STEADY_SECONDS = 60.0

WORKER_READY = "worker ready"
"""The line that a worker prints once it polls."""


class StoppedEarly(Exception):
    """Told to stop before everything answered."""


class Stack:
    """An embedded stack on one data directory.

    Args:
        settings: the environment's; what they leave open is decided by `console.embedded`.
        ports: as wanted; 0 takes any free one.
        fresh: forget what an earlier stack left on the directory.
        any_port: take any free port instead of one that is taken.
        planning: who plans, where the settings name no policy.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: Path,
        ports: Ports,
        *,
        fresh: bool = False,
        any_port: bool = False,
        planning: Planning = "rules",
    ) -> None:
        self._settings = settings
        self._wanted = ports
        self._fresh = fresh
        self._any_port = any_port
        self._planning = planning
        self._data_dir = DataDir(data_dir)
        self._children: list[Child] = []
        self._signals = 0
        self._stop = threading.Event()
        self.addresses: Addresses
        self.secrets: Secrets
        self.variables: dict[str, str]

    # -- life --------------------------------------------------------------------------------------------------------
    @contextmanager
    def running(self) -> Iterator[None]:
        """Start everything, and stop everything in order whatever happens.

        Raises:
            CommandRefused: a stack runs on the directory.
            ConfigurationRefused: something did not come up, in one sentence.
            StoppedEarly: told to stop before everything answered.
        """
        self._data_dir.take()
        try:
            with self._told_to_stop():
                try:
                    self._start()
                    yield
                finally:
                    self._stop_children()
        finally:
            self._data_dir.release()

    def wait(self) -> None:
        """Look after the processes until told to stop.

        Raises:
            ConfigurationRefused: Temporal or the sandbox ended, or a process refuses its configuration.
        """
        while not self._stop.wait(_LOOK_SECONDS * 4):
            self.look_after()

    def look_after(self) -> None:
        """Start a worker or starter again that has ended; one look, for callers that wait for something else."""
        for child in self._children:
            if child.status is not None:
                self._ended(child)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def pause(self, seconds: float) -> None:
        """Wait, but not when told to stop.

        Raises:
            StoppedEarly: told to stop.
        """
        if self._stop.wait(seconds):
            raise StoppedEarly

    def switch_webhooks(self, *, on: bool) -> None:
        """Let the sandbox deliver what changes in it to the starter, or keep it to itself."""
        starter = self.addresses.starter
        hubspot = {"provider": "hubspot", "target": f"{starter}/webhooks/hubspot", "secret": self.secrets.hubspot}
        path = f"/webhooks/salesforce/outbound-message/{self.secrets.salesforce_path}"
        salesforce = {"provider": "salesforce", "target": starter + path}
        for asked in (hubspot, salesforce):
            httpx.post(
                f"{self.addresses.sandbox}/_sandbox/webhooks", json={**asked, "on": on}, timeout=5, trust_env=False
            ).raise_for_status()

    def review_link(self) -> str:
        """A new one-time link to the review page; its bare address where our token may make none."""
        starter, token = self.addresses.starter, self.secrets.api_token
        with suppress(httpx.HTTPError):  # a starter that has just ended is started again
            authorization = {"Authorization": f"Bearer {token}"}
            made = httpx.post(f"{starter}/v1/reviews/links", headers=authorization, timeout=15, trust_env=False)
            if made.is_success:
                return str(made.json()["url"])
        return f"{starter}/review"

    def as_json(self) -> dict[str, Any]:
        workers = [self._child("worker").pid]
        return embedded.as_json(self.addresses, self.secrets, workers, review=self.review_link())

    @property
    def variables_file(self) -> Path:
        return self._data_dir.variables

    # -- start -------------------------------------------------------------------------------------------------------
    def _start(self) -> None:
        if self._fresh:
            self._data_dir.empty()
        ports = self._claimed()
        self.addresses = Addresses.of(ports, self._data_dir, self._settings)
        self.secrets = embedded.secrets_of(self._settings, self._data_dir)
        policy = policy_path(self._planning, self._data_dir)
        self.variables = embedded.variables(self._settings, self.addresses, ports, self.secrets, policy=policy)
        command = temporal_server.start_command(
            self._settings, database=self._data_dir.temporal, port=ports.temporal, ui_port=ports.ui
        )
        deadline = time.monotonic() + START_SECONDS
        self._spawn("temporal", command, grace=10)
        if ports.sandbox is not None:
            self._spawn("sandbox", [sys.executable, "-m", "sandbox", "--port", str(ports.sandbox)], grace=5)
        migration = self._spawn("ledger", [sys.executable, "-m", "console", "ledger", "upgrade"], grace=5)
        self._until(
            lambda: temporal_server.prepare(self._settings, address=self.addresses.temporal), "Temporal", deadline
        )
        self._until(lambda: migration.status == 0, "the ledger's migration", deadline)
        self._children.remove(migration)
        with httpx.Client(timeout=2, trust_env=False) as client:
            if self.addresses.sandbox:
                health = f"{self.addresses.sandbox}/_sandbox/health"
                self._until(lambda: _answers(client, health), "the sandbox", deadline)
                self.switch_webhooks(on=True)
            grace = self._settings.shutdown_seconds + 5
            worker = self._spawn("worker", [sys.executable, "-m", "console", "worker"], grace=grace)
            self._spawn("starter", [sys.executable, "-m", "console", "starter"], grace=10)
            ready = f"{self.addresses.starter}/readyz"
            self._until(lambda: _answers(client, ready), "the starter", deadline)
            self._until(lambda: worker.says(WORKER_READY), "the worker", deadline)
        self._data_dir.write_variables(*embedded.for_shells(self.variables, self.addresses))

    def _claimed(self) -> Ports:
        taken: set[int] = set()
        claim = partial(free_ports.claim, taken=taken, any_port=self._any_port)
        wanted, sandbox = self._wanted, self._wanted.sandbox
        return Ports(
            temporal=claim(wanted.temporal, what="Temporal", option="--temporal-port"),
            ui=claim(wanted.ui, what="Temporal's UI", option="--temporal-port (the UI is 1000 above)"),
            starter=claim(wanted.starter, what="the starter", option="--starter-port"),
            sandbox=None if sandbox is None else claim(sandbox, what="the sandbox", option="--sandbox-port"),
        )

    def _spawn(self, name: str, command: list[str], *, grace: float) -> Child:
        child = Child(name, command, self._environment(), self._data_dir.log_of(name), grace)
        child.start()
        self._children.append(child)
        self._data_dir.record(self._children)
        return child

    def _environment(self) -> dict[str, str]:
        root = str(Path(console.__file__).parent.parent)
        inherited = temporal_server.without_temporal_variables(os.environ)
        path = os.pathsep.join(filter(None, (root, inherited.get("PYTHONPATH"))))
        return {**inherited, **self.variables, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}

    def _until(self, holds: Callable[[], bool], what: str, deadline: float) -> None:
        while not holds():
            for child in self._children:
                if child.status:
                    raise ConfigurationRefused(f"the {child.name} did not start: {child.last_words()}")
            if time.monotonic() > deadline:
                raise ConfigurationRefused(f"{what} did not answer within {START_SECONDS:.0f} s")
            self.pause(_LOOK_SECONDS)

    # -- afterwards --------------------------------------------------------------------------------------------------
    def _ended(self, child: Child) -> None:
        says = f"the {child.name} {child.how_it_ended()}"
        if child.name not in {"worker", "starter"}:
            raise ConfigurationRefused(f"{says}; without it nothing goes on")
        if child.status == CONFIGURATION:
            raise ConfigurationRefused(f"the {child.name} refused its configuration: {child.last_words()}")
        pause = child.next_pause(first=_FIRST_PAUSE, longest=_LONGEST_PAUSE, steady=_STEADY_SECONDS)
        warn(f"{says}; it is started again in {pause:g} s")
        if self._stop.wait(pause):
            return
        child.start()
        self._data_dir.record(self._children)

    def _stop_children(self) -> None:
        order = {"ledger": 0, "starter": 1, "worker": 2, "sandbox": 3, "temporal": 4}
        for child in sorted(self._children, key=lambda child: order[child.name]):
            if not child.stop(hurry=lambda: self._signals > 1):
                warn(f"the {child.name} did not stop in time and was killed")
        self._children.clear()

    def _child(self, name: str) -> Child:
        return next(child for child in self._children if child.name == name)

    @contextmanager
    def _told_to_stop(self) -> Iterator[None]:
        def note(_signal: int, _frame: FrameType | None) -> None:
            self._signals += 1
            self._stop.set()

        wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in wanted}
        before = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}  # nohup stays so
        for number in before:
            signal.signal(number, note)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _answers(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).status_code == 200
    except httpx.HTTPError:
        return False
