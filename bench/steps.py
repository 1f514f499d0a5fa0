"""The steps of one lead in this process, over the real ports, each call of which is timed and counted."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.messages import Book, LookCommand, PlanCommand, Reading, WriteCommand
from bench.deployment import Deployment, NotAsExpected
from console.embedded import APP_ID, ORGANIZATION_ID, PORTAL_ID
from leadproof.domain import keys
from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.steps import Arrival
from leadproof.ledger.schema import upgrade
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Crm
from leadproof.settings import load
from workers.compose import compose, crms_of, open_ledger

TENANT, ENVIRONMENT = "protections", "dev"
PROVIDERS = ("hubspot", "salesforce")


class Watch:
    """Seconds, and calls of the providers, of each call of a port, under the step that makes it."""

    def __init__(self, house: Deployment) -> None:
        self._house = house
        self.step = ""
        self.counts = False
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.calls: defaultdict[str, int] = defaultdict(int)

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        before = self._received() if self.counts else 0
        began = time.perf_counter()
        answer = call()
        self.seconds[f"{self.step} {name}"].append(time.perf_counter() - began)
        if self.counts:
            self.calls[f"{self.step} {name}"] += self._received() - before
        return answer

    def _received(self) -> int:
        """Everything but signing in and what an org or a portal says of itself."""
        rows = [row for provider in PROVIDERS for row in self._house.requests(provider=provider)]
        return sum(str(row["operation"]).partition(".")[0] in {"contacts", "leads"} for row in rows)


class _Timed:
    """A port, watched."""

    def __init__(self, port: Any, name: str, watch: Watch) -> None:
        self._port = port
        self._name = name
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value
        return lambda *arguments, **named: self._watch(f"{self._name}.{name}", lambda: value(*arguments, **named))


class Steps:
    """A worker's activities over a ledger of their own and the deployment's sandbox, without Temporal around them."""

    def __init__(
        self, ledger: SqlLedger, activities: dict[str, Callable[..., Any]], version: str, watch: Watch
    ) -> None:
        self.ledger = ledger
        self.watch = watch
        self._activities = activities
        self._version = version
        self._environment = ActivityEnvironment()

    def lead(self, source: str, kind: str, record_id: str, **fields: str) -> str:
        """Take one lead from its arrival to its outcome, undisturbed; its mutation's key.

        Raises:
            NotAsExpected: it is not done by one write and one read-back.
        """
        event = self._event(source, kind, record_id, fields)
        self.watch.step = "admit"
        cast(SqlLedger, _Timed(self.ledger, "ledger", self.watch)).admit([Arrival(event=event)])
        reading: Reading = self._run("read_source", event.event_key)
        book: Book = self._run("plan", PlanCommand(event_key=event.event_key, snapshot=reading.snapshot))
        (view,) = book.views
        key = view.mutation_key
        self._run("write", WriteCommand(mutation_key=key, version=view.version, number=1, alone=True))
        book = self._run("reconcile", LookCommand(mutation_key=key, alone=True))
        if book.outcome is not Outcome.DONE:
            raise NotAsExpected(f"a lead of {source} should be done after one read-back, and is {book.outcome}")
        return key

    def _run(self, activity: str, command: object) -> Any:
        self.watch.step = activity
        return self._environment.run(self._activities[activity], command)

    def _event(self, source: str, kind: str, record_id: str, fields: dict[str, str]) -> LeadEvent:
        key = keys.event_key(
            tenant=TENANT,
            environment=ENVIRONMENT,
            source_system=source,
            source_record_id=record_id,
            event_kind=kind,
            occurrence=None,
        )
        return LeadEvent(
            event_key=key,
            tenant=TENANT,
            environment=ENVIRONMENT,
            source_system=source,
            source_record_id=record_id,
            event_kind=kind,
            occurrence=None,
            occurred_at=datetime.now(UTC),
            fingerprint=keys.event_fingerprint(event_kind=kind, occurrence=None, lead=fields, specs=CATALOG),
            lead={"lead": fields, "extra": {}},
            policy_version=self._version,
        )


@contextmanager
def steps(house: Deployment, client: Client, folder: Path, policy: str) -> Iterator[Steps]:
    """Compose the activities as a worker does, over watched ports.

    Args:
        policy: the text of one; its version names the ledger's file.
    """
    read = parse_policy(policy)
    settings = load(
        {
            "LEADPROOF_TENANT": TENANT,
            "LEADPROOF_ENVIRONMENT": ENVIRONMENT,
            "LEADPROOF_LEDGER_URL": f"sqlite:///{folder / f'{read.version}.db'}",
            "LEADPROOF_HUBSPOT_TOKEN": "bench",
            "LEADPROOF_HUBSPOT_BASE_URL": f"{house.sandbox}/hubspot",
            "LEADPROOF_HUBSPOT_PORTAL_ID": PORTAL_ID,
            "LEADPROOF_HUBSPOT_APP_ID": APP_ID,
            "LEADPROOF_SALESFORCE_URL": house.sandbox,
            "LEADPROOF_SALESFORCE_ORG_ID": ORGANIZATION_ID,
            "LEADPROOF_SALESFORCE_CLIENT_ID": "bench",
            "LEADPROOF_SALESFORCE_CLIENT_SECRET": "bench",
        },
        dotenv=None,
    )
    upgrade(settings.ledger_url)
    ledger, watch = open_ledger(settings), Watch(house)
    around = {name: cast(Crm, _Timed(crm, "crm", watch)) for name, crm in crms_of(settings, read).items()}
    composed = compose(settings, client, cast(SqlLedger, _Timed(ledger, "ledger", watch)), read, around)
    activities = {activity.__name__: activity for activity in composed.activities}
    try:
        yield Steps(ledger, activities, read.version, watch)
    finally:
        ledger.close()
