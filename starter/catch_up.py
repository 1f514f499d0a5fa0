"""Admitting what a source shows and no delivery brought: by the same door, under the same keys."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from leadproof import strict_json
from leadproof.domain.candidates import Candidate
from leadproof.domain.errors import LedgerUnavailable
from leadproof.domain.policy import Policy
from leadproof.inbound import hubspot_catch_up, salesforce_catch_up
from leadproof.inbound.reading import Reading
from leadproof.ledger.admission import ERASED
from leadproof.ports import Candidates, Clock, Ledger
from leadproof.settings import Settings
from starter.admission import HeldBack, LeftAlone, SourceFields, echo_at_the_door, judge_reading
from starter.intake import Intake, Result
from starter.off_loop import off_loop
from starter.start import TemporalUnavailable

PAUSES: Final = (1.0, 2.0, 4.0)
"""Seconds before an event is admitted again where the ledger or Temporal did not answer; admitting twice is admitting
once."""

Admit = Callable[[Reading], Awaitable[Result]]


@dataclass(slots=True)
class Report:
    """What a catch-up has done so far.

    Attributes:
        records: that were found and read.
        gone: of these, archived or merged away between search and read.
        results: what became of the events that the others told of.
    """

    records: int = 0
    gone: int = 0
    results: Counter[Result] = field(default_factory=Counter)

    def counts(self) -> dict[str, int]:
        """By name; `seen` is the number of events, the sum of what follows it."""
        events = {result.value: self.results[result] for result in Result}
        return {"records": self.records, "gone": self.gone, "seen": self.results.total(), **events}


Seen = Callable[[Reading, datetime], Awaitable[bool]]


async def catch_up_hubspot(
    candidates: Candidates,
    admit: Admit,
    *,
    account: str,
    properties: Sequence[str],
    since: datetime,
    until: datetime | None,
    report: Report,
) -> None:
    """Find what changed, read each record, and admit the creation and the changes that its history tells of.

    Args:
        admit: takes one event in, or foretells what would become of it.
        account: the portal id, as a delivery would name it.
        properties: HubSpot's names of the properties whose changes count.
        since, until: when an event occurred, both inclusive; without `until` up to now.
        report: counts as it goes, so that what is done is known wherever it ends.

    Raises:
        ConfigurationRefused: HubSpot cannot be reached or refuses us.
        LedgerUnavailable, TemporalUnavailable: what was admitted stays admitted; the same again completes it.
    """
    async for candidate in _changed(candidates, properties, since=since, report=report):
        for reading in hubspot_catch_up.readings(candidate, account=account, since=since, until=until):
            report.results[await admit(reading)] += 1


async def catch_up_salesforce(
    candidates: Candidates,
    admit: Admit,
    seen: Seen,
    *,
    account: str,
    since: datetime,
    until: datetime | None,
    report: Report,
) -> None:
    """Find what moved, read each record, and admit that it was saved, unless the ledger knows it.

    Args:
        admit: takes one event in, or foretells what would become of it.
        seen: whether the ledger has what happened to a record, whatever the event is called.
        account: the organization's id, as a notification would name it.
        since, until: when a record last moved, both inclusive; without `until` up to now.
        report: counts as it goes, so that what is done is known wherever it ends.

    Raises:
        ConfigurationRefused: Salesforce cannot be reached or refuses us.
        LedgerUnavailable, TemporalUnavailable: what was admitted stays admitted; the same again completes it.
    """
    async for candidate in _changed(candidates, (), since=since, report=report):
        for reading in salesforce_catch_up.readings(candidate, account=account, since=since, until=until):
            known = await seen(reading, salesforce_catch_up.touched_at(candidate))
            report.results[Result.DUPLICATE if known else await admit(reading)] += 1


async def _changed(
    candidates: Candidates, properties: Sequence[str], *, since: datetime, report: Report
) -> AsyncIterator[Candidate]:
    """What changed and can be read, record by record."""
    found = candidates.changed_since(since)
    while (record_id := await asyncio.to_thread(next, found, None)) is not None:
        candidate = await asyncio.to_thread(candidates.read, record_id, properties)
        report.records += 1
        if candidate is None:
            report.gone += 1
        else:
            yield candidate


def seeing(
    *, ledger: Ledger, policy: Policy, settings: Settings, fields: Mapping[str, SourceFields], clock: Clock
) -> Seen:
    """Whether the ledger has an event that stands for a record as it is now.

    Where a kind counts once per event, a record does not tell the name of the event that a delivery brought. But the
    run of an event that was first delivered after the record last moved reads the record as it is. This trusts that the
    clocks of source and ledger agree, which `leadproof doctor` compares; where it errs to one side, a record is
    admitted a second time and found already so. An event that stands under the key it has here is admitted again, which
    starts its run if that was not done.
    """

    def ask(reading: Reading, moved: datetime) -> bool:
        judged = judge_reading(reading, policy=policy, settings=settings, fields=fields, now=clock.now())
        if isinstance(judged, LeftAlone | HeldBack):
            return False
        event, _ = judged
        return ledger.lead(event.event_key) is None and ledger.seen_since(event, moved)

    async def seen(reading: Reading, moved: datetime) -> bool:
        return await off_loop(lambda: ask(reading, moved), patience_seconds=30)

    return seen


def admitting(intake: Intake, *, source: str, pauses: Sequence[float] = PAUSES) -> Admit:
    """Admission by the starter's own intake: the row first, then its run.

    Args:
        source: source system of what is admitted.
        pauses: seconds before each further try where ledger or Temporal did not answer.
    """

    async def admit(reading: Reading) -> Result:
        # an event that is held back has the same place in the quarantine however often it is found
        digest = hashlib.sha256(strict_json.text_of(reading.body).encode("utf-8")).hexdigest()
        for pause in (*pauses, None):
            try:
                (taken,) = await intake.take([reading], source=source, digest=digest)
            except (LedgerUnavailable, TemporalUnavailable):
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return taken.result
        raise AssertionError("the last try returns or raises")

    return admit


def foretelling(
    *, ledger: Ledger, policy: Policy, settings: Settings, fields: Mapping[str, SourceFields], clock: Clock
) -> Admit:
    """What `admitting` would make of an event, by the ledger alone: nothing is stored and nothing is started."""
    foretold: dict[str, str] = {}

    def ask(reading: Reading) -> Result:
        judged = judge_reading(reading, policy=policy, settings=settings, fields=fields, now=clock.now())
        if isinstance(judged, LeftAlone):
            return Result.IGNORED
        if isinstance(judged, HeldBack):
            return Result.QUARANTINED
        event, source_event = judged
        row = ledger.lead(event.event_key)
        standing = row.fingerprint if row is not None else foretold.get(event.event_key)
        if standing is not None:
            return Result.DUPLICATE if standing in {event.fingerprint, ERASED} else Result.CONFLICT
        foretold[event.event_key] = event.fingerprint
        echo_of = echo_at_the_door(source_event, ledger=ledger, policy=policy, fields=fields)
        return Result.STARTED if echo_of is None else Result.ECHO

    async def foretell(reading: Reading) -> Result:
        return await off_loop(lambda: ask(reading), patience_seconds=30)

    return foretell
