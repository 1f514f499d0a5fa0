"""The way of a delivery: every event into the ledger first, then its run, and only then an answer."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from temporalio.client import Client

from leadproof import strict_json
from leadproof.domain.events import LeadEvent, SourceEvent
from leadproof.domain.policy import Policy
from leadproof.domain.steps import Admission, AdmissionKind, Arrival, QuarantineEntry
from leadproof.inbound.reading import Reading
from leadproof.ports import Clock, Ledger
from leadproof.settings import Settings
from starter.admission import (
    CONFLICT,
    FOREIGN_ACCOUNT,
    FUTURE,
    MALFORMED,
    HeldBack,
    LeftAlone,
    SourceFields,
    echo_question,
    judge_reading,
)
from starter.off_loop import off_loop
from starter.start import Started, TemporalUnavailable, start_lead

DELIVERY_SECONDS: Final = 4.0
"""The one deadline of a delivery, for its rows (2 s of it) and all its starts; HubSpot gives up after 5 s."""

_STARTS_AT_ONCE: Final = 20
_LONGEST_REASON: Final = 300

KEPT: Final = frozenset({MALFORMED, FOREIGN_ACCOUNT, FUTURE, CONFLICT})
"""Why an event is put into quarantine, unless a caller says otherwise."""

_log = logging.getLogger(__name__)


class Result(StrEnum):
    """What became of one event of a delivery."""

    STARTED = "started"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    IGNORED = "ignored"
    ECHO = "echo"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Taken:
    """One event, taken in.

    Attributes:
        why: one sentence, where it was ignored or quarantined.
        reason: the name of why it is held back.
    """

    result: Result
    event_key: str | None = None
    workflow_id: str | None = None
    why: str | None = None
    reason: str | None = None


def tally(taken: Sequence[Taken]) -> dict[str, int]:
    """The counts of a delivery; `received` is the sum of the others."""
    counts = Counter(one.result for one in taken)
    return {"received": len(taken), **{result.value: counts[result] for result in Result}}


@dataclass(slots=True)
class _Fold:
    """The events of one delivery that are the same: one key, one fingerprint."""

    event: LeadEvent
    source_event: SourceEvent
    positions: list[int] = field(default_factory=list)


class Intake:
    """Takes deliveries in.

    Args:
        fields: per source system that is a target too, its names of our fields.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        ledger: Ledger,
        client: Client,
        policy: Policy,
        clock: Clock,
        fields: Mapping[str, SourceFields],
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._client = client
        self._policy = policy
        self._clock = clock
        self._fields = fields

    async def take(
        self,
        readings: Sequence[Reading],
        *,
        source: str,
        digest: str,
        keep: Collection[str] = KEPT,
    ) -> list[Taken]:
        """Store every event and start its run; nothing is acknowledged before both are done.

        Whatever fails in between, the same delivery again completes it.

        Args:
            readings: the events of the delivery, in its order.
            source: source system of the delivery.
            digest: SHA-256 of the delivery's bytes, for the quarantine.
            keep: the reasons for which an event goes into quarantine; without its reason there where its sender is
                told instead, or where the event comes from there.

        Returns:
            One per event, in order.

        Raises:
            LedgerUnavailable, TemporalUnavailable: the source is to deliver again.
        """
        taken: dict[int, Taken] = {}
        folds: dict[tuple[str, str], _Fold] = {}
        held: dict[int, str] = {}
        now = self._clock.now()
        for position, reading in enumerate(readings):
            verdict = judge_reading(reading, policy=self._policy, settings=self._settings, fields=self._fields, now=now)
            if isinstance(verdict, LeftAlone):
                taken[position] = Taken(Result.IGNORED, why=verdict.why)
            elif isinstance(verdict, HeldBack):
                taken[position] = Taken(Result.QUARANTINED, why=verdict.why, reason=verdict.reason)
                if verdict.reason in keep:
                    held[position] = _reason(verdict)
            else:
                event, source_event = verdict
                fold = folds.setdefault((event.event_key, event.fingerprint), _Fold(event, source_event))
                fold.positions.append(position)

        def entry(position: int, reason: str) -> QuarantineEntry:
            return QuarantineEntry(
                delivery_digest=digest,
                position=position,
                source_system=source,
                reason=reason,
                body=strict_json.text_of(readings[position].body),
                received_at=now,
            )

        def store() -> list[tuple[_Fold, Admission]]:
            admitted = self._admit(list(folds.values()))
            kept = dict(held)
            for fold, admission in admitted:
                if CONFLICT in keep and admission.kind is AdmissionKind.CONFLICT:
                    kept.update(dict.fromkeys(fold.positions, CONFLICT))
            if kept:
                self._ledger.quarantine([entry(position, reason) for position, reason in sorted(kept.items())])
            return admitted

        if folds or held:
            try:
                async with asyncio.timeout(DELIVERY_SECONDS):
                    started = await self._started(await off_loop(store))
            except TimeoutError:
                raise TemporalUnavailable(
                    f"the delivery's runs were not all started within {DELIVERY_SECONDS:g} s"
                ) from None
            for one in started:
                taken.update(one)
        return [taken[position] for position in range(len(readings))]

    def _admit(self, folds: Sequence[_Fold]) -> list[tuple[_Fold, Admission]]:
        """Admit every fold; a statement takes a key once, so another payload of the same key is a further one."""
        admitted: list[tuple[_Fold, Admission]] = []
        waiting = list(folds)
        while waiting:
            now: dict[str, _Fold] = {}
            later = [fold for fold in waiting if now.setdefault(fold.event.event_key, fold) is not fold]
            admissions = self._ledger.admit([self._arrival(fold) for fold in now.values()])
            admitted += [(fold, admissions[key]) for key, fold in now.items()]
            waiting = later
        return admitted

    def _arrival(self, fold: _Fold) -> Arrival:
        echo = echo_question(fold.source_event, policy=self._policy, fields=self._fields)
        return Arrival(event=fold.event, deliveries=len(fold.positions), echo=echo)

    async def _started(self, admitted: Sequence[tuple[_Fold, Admission]]) -> list[dict[int, Taken]]:
        """Start the runs; the first that Temporal does not start ends the others, which a redelivery starts."""
        slots = asyncio.Semaphore(_STARTS_AT_ONCE)

        async def one(fold: _Fold, admission: Admission) -> dict[int, Taken]:
            async with slots:
                first = await self._result(fold.event, admission)
            further = Result.DUPLICATE if first is Result.STARTED else first
            return {
                position: Taken(first if position == fold.positions[0] else further, *_names(admission))
                for position in fold.positions
            }

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(*pair)) for pair in admitted]
        except BaseExceptionGroup as errors:
            first = errors.exceptions[0]
            if isinstance(first, TemporalUnavailable):
                _log.warning("a run was not started: %s", first)
            raise first from None
        return [task.result() for task in tasks]

    async def _result(self, event: LeadEvent, admission: Admission) -> Result:
        match admission.kind:
            case AdmissionKind.CLOSED:
                return Result.DUPLICATE
            case AdmissionKind.CONFLICT:
                return Result.CONFLICT
            case AdmissionKind.ECHO:
                return Result.ECHO
            case AdmissionKind.NEW | AdmissionKind.KNOWN:
                answer = await start_lead(
                    self._client,
                    event_key=event.event_key,
                    workflow_id=admission.workflow_id,
                    source=event.source_system,
                    event_kind=event.event_kind,
                    tenant=event.tenant,
                    environment=event.environment,
                )
                return Result.STARTED if isinstance(answer, Started) else Result.DUPLICATE


def _names(admission: Admission) -> tuple[str, str]:
    return admission.event_key, admission.workflow_id


def _reason(held: HeldBack) -> str:
    return held.reason if held.reason != MALFORMED else f"{MALFORMED}: {held.why}"[:_LONGEST_REASON]
