"""The stack as `leadproof up` starts it, every part a process of its own, with a data directory of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from console import hubspot_signature, recorded
from leadproof.domain import keys

ROOT = Path(__file__).parent.parent
TENANT, ENVIRONMENT = "local", "dev"
WEBHOOK = "/webhooks/hubspot"
_COMPANIES = ("Acme", "Globex", "Initech", "Umbrella")


class NotAsExpected(Exception):
    """What was to be measured did not happen as it should; a number of it would mean nothing."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One signed request."""

    body: bytes
    headers: dict[str, str]


class Deployment:
    """A running stack, and its sandbox as the witness.

    Args:
        told: what `leadproof up --json` printed.
    """

    def __init__(self, told: dict[str, Any], witness: httpx.Client) -> None:
        self.temporal: str = told["temporal"]
        self.namespace: str = told["namespace"]
        self.starter: str = told["starter"]
        self.sandbox: str = told["sandbox"]
        self.ledger = Path(str(told["ledger"]).removeprefix("sqlite:///"))
        self.worker_pid: int = told["worker_pids"][0]
        self.api_token: str = told["secrets"]["api_token"]
        self._secret: str = told["secrets"]["hubspot"]
        self._salesforce_path: str = told["secrets"]["salesforce_path"]
        self._witness = witness
        self._people = 0

    # -- the source --------------------------------------------------------------------------------------------------
    def contact(self, **more: str) -> str:
        """A contact that a person made, with values of its own and `more`; its id."""
        self._people += 1
        properties = {
            "email": f"person{self._people}@lead.example",
            "firstname": f"Given{self._people}",
            "lastname": f"Family{self._people}",
            "company": _COMPANIES[self._people % len(_COMPANIES)],
            "country": "US",
            **more,
        }
        asked = {"provider": "hubspot", "object": "contacts", "user": "9001", "properties": properties}
        answer = self._witness.put("/_sandbox/records", json=asked).raise_for_status()
        return str(answer.json()["id"])

    def salesforce_lead(self, email: str) -> str:
        """A lead that a person made in Salesforce, of which its outbound message tells the starter; its id."""
        target = f"{self.starter}/webhooks/salesforce/outbound-message/{self._salesforce_path}"
        self._switch_outbound_messages(target=target, on=True)
        return self._salesforce_lead(email)

    def untold_salesforce_lead(self) -> str:
        """A lead of a competitor that a person made in Salesforce, of which nobody is told; its id."""
        self._switch_outbound_messages(on=False)
        self._people += 1
        return self._salesforce_lead(f"person{self._people}@competitor.example")

    def _salesforce_lead(self, email: str) -> str:
        properties = {"LastName": "Quill", "Company": "Rival", "Email": email}
        asked = {"provider": "salesforce", "object": "leads", "user": "", "properties": properties}
        answer = self._witness.put("/_sandbox/records", json=asked).raise_for_status()
        return str(answer.json()["id"])

    def _switch_outbound_messages(self, **asked: Any) -> None:
        self._witness.post("/_sandbox/webhooks", json={"provider": "salesforce", **asked}).raise_for_status()

    def contacts(self, number: int) -> list[str]:
        return [self.contact() for _ in range(number)]

    def creation(self, record_id: str, recording: str = "contact-creation") -> Delivery:
        """The recorded delivery of a contact's creation, signed."""
        body = recorded.delivery(recording, record_id)
        return Delivery(body, hubspot_signature.headers(self._secret, f"{self.starter}{WEBHOOK}", body))

    @staticmethod
    def event_key(record_id: str) -> str:
        return keys.event_key(
            tenant=TENANT,
            environment=ENVIRONMENT,
            source_system="hubspot",
            source_record_id=record_id,
            event_kind="contact.creation",
            occurrence=None,
        )

    # -- the witness -------------------------------------------------------------------------------------------------
    def requests(self, operation: str | None = None, *, provider: str = "hubspot") -> list[dict[str, Any]]:
        """What the sandbox received from the deployment, in order."""
        query = {"provider": provider, **({"operation": operation} if operation else {})}
        rows: list[dict[str, Any]] = self._witness.get("/_sandbox/requests", params=query).raise_for_status().json()
        return rows

    def records(self) -> list[dict[str, Any]]:
        query = {"provider": "hubspot", "object": "contacts"}
        rows: list[dict[str, Any]] = self._witness.get("/_sandbox/records", params=query).raise_for_status().json()
        return rows

    # -- the ledger, looked at from outside --------------------------------------------------------------------------
    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What the ledger's file holds, read by a connection that can't write."""
        connection = sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def outcomes(self, record_ids: Iterable[str]) -> dict[str, int]:
        """How many of the records' leads have which outcome."""
        wanted = set(record_ids)
        counts: dict[str, int] = {}
        for record_id, outcome in self.rows("SELECT source_record_id, outcome FROM lead_event"):
            if record_id in wanted:
                counts[outcome] = counts.get(outcome, 0) + 1
        return counts


@contextmanager
def deployment(folder: Path, *options: str) -> Iterator[Deployment]:
    """Start the stack in a folder, and stop it.

    Args:
        options: further options of `leadproof up`.

    Raises:
        NotAsExpected: it did not start.
    """
    ports = [f"--{name}-port=0" for name in ("temporal", "starter", "sandbox")]
    process = subprocess.Popen(
        [sys.executable, "-m", "console", "up", "--json", "--data-dir", str(folder), *ports, *options],
        cwd=folder,  # no .env of whoever runs this
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise NotAsExpected(process.stderr.read().strip() if process.stderr else "the stack did not start")
        told = json.loads(line)
        with httpx.Client(base_url=told["sandbox"], timeout=30, trust_env=False) as witness:
            # deliveries are made here, one by one, and not by the sandbox itself
            for provider in ("hubspot", "salesforce"):
                witness.post("/_sandbox/webhooks", json={"provider": provider, "on": False}).raise_for_status()
            yield Deployment(told, witness)
    finally:
        stop(process)


def environment() -> dict[str, str]:
    """The environment of processes of ours: without settings that are meant for another deployment.

    Modules keep their bytecode, as those of an installed package do: Temporal's sandbox imports the workflow's module
    for every run, and without bytecode compiles it every time.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LEADPROOF_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    path = os.pathsep.join(filter(None, (str(ROOT), inherited.get("PYTHONPATH"))))
    return {**inherited, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def stop(process: subprocess.Popen[str]) -> None:
    """Ask a process to stop, and wait."""
    process.terminate()
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
