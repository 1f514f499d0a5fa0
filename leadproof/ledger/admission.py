"""The door: events admitted or counted, and echoes told from what people do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import RowMapping, case, func, or_, select
from sqlalchemy.sql.dml import ReturningInsert

from leadproof.domain.events import Outcome, workflow_id
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.steps import Admission, AdmissionKind, Arrival, EchoQuestion
from leadproof.ledger.tables import ATTEMPT, LEAD_EVENT, MUTATION
from leadproof.ledger.transaction import Store, Transaction, insert_into

ERASED = ""
"""The fingerprint of a key whose payload was erased; it is no conflict with any other."""


class Admissions(Store):
    """What the starter asks before it starts anything."""

    def admit(self, arrivals: Sequence[Arrival]) -> dict[str, Admission]:
        """Insert each event or count it; see `leadproof.ports.Ledger.admit`."""
        if not arrivals:
            return {}
        return self._write(lambda tx: _admit(tx, arrivals))

    def echo_of(self, question: EchoQuestion, *, occurred_at: datetime) -> str | None:
        """The mutation that an event echoes; see `leadproof.ports.Ledger.echo_of`.

        Narrow on purpose: whatever is let in is looked at again in the run, from the record.
        """
        return self._read(lambda tx: _echo_of(tx, question, occurred_at))


def _admit(tx: Transaction, arrivals: Sequence[Arrival]) -> dict[str, Admission]:
    # sorted: two batches that meet the same rows lock them in the same order
    batch = sorted(arrivals, key=lambda arrival: arrival.event.event_key)
    echoes = _echoes(tx, batch)
    admitted = tx.rows(_upsert(tx.dialect), [_values(arrival, echoes, tx.now) for arrival in batch])
    rows = {row["event_key"]: row for row in admitted}
    return {arrival.event.event_key: _admission(arrival, rows[arrival.event.event_key]) for arrival in batch}


def _echoes(tx: Transaction, batch: Sequence[Arrival]) -> dict[str, str]:
    """Per event key the mutation that the event echoes: decided here, so that of two at once, and of two in one
    delivery, an attempt absorbs one."""
    asked = [(arrival.event, arrival.echo) for arrival in batch if arrival.echo is not None]
    if tx.dialect == "postgresql":
        found = {_echo_of(tx, question, event.occurred_at) for event, question in asked}
        for locked in sorted(key for key in found if key is not None):
            tx.run(select(func.pg_advisory_xact_lock(func.hashtextextended(locked, 0))))
    echoes: dict[str, str] = {}
    taken: list[_Taken] = []
    for event, question in asked:
        key = _echo_of(tx, question, event.occurred_at, taken)
        if key is not None:
            echoes[event.event_key] = key
            taken.append(_Taken(key, question.field, event.occurred_at))
    return echoes


@cache
def _upsert(dialect: str) -> ReturningInsert[Any]:
    statement = insert_into(LEAD_EVENT, dialect)
    new = statement.excluded
    conflict = (LEAD_EVENT.c.fingerprint != new.fingerprint) & (LEAD_EVENT.c.fingerprint != ERASED)
    return statement.on_conflict_do_update(
        index_elements=[LEAD_EVENT.c.event_key],
        set_={
            "deliveries": LEAD_EVENT.c.deliveries + case((conflict, 0), else_=new.deliveries),
            "conflicts": LEAD_EVENT.c.conflicts + case((conflict, new.deliveries), else_=0),
            "last_seen_at": new.last_seen_at,
        },
    ).returning(
        LEAD_EVENT.c.event_key,
        LEAD_EVENT.c.fingerprint,
        LEAD_EVENT.c.outcome,
        LEAD_EVENT.c.run,
        LEAD_EVENT.c.workflow_id,
        LEAD_EVENT.c.deliveries,
        LEAD_EVENT.c.conflicts,
    )


def _values(arrival: Arrival, echoes: Mapping[str, str], now: datetime) -> dict[str, Any]:
    echo_of = echoes.get(arrival.event.event_key)
    return arrival.event.model_dump() | {
        "outcome": Outcome.WORKING if echo_of is None else Outcome.ECHO,
        "echo_of": echo_of,
        "run": 0,
        "workflow_id": workflow_id(arrival.event.event_key, 0),
        "deliveries": arrival.deliveries,
        "conflicts": 0,
        "first_seen_at": now,
        "last_seen_at": now,
    }


def _admission(arrival: Arrival, row: RowMapping) -> Admission:
    return Admission(event_key=row["event_key"], kind=_kind(arrival, row), workflow_id=row["workflow_id"])


def _kind(arrival: Arrival, row: RowMapping) -> AdmissionKind:
    # a row that stood before has been delivered before, so it counts more than came with this batch
    if row["deliveries"] + row["conflicts"] == arrival.deliveries:
        return AdmissionKind.ECHO if row["outcome"] == Outcome.ECHO else AdmissionKind.NEW
    if row["fingerprint"] not in {arrival.event.fingerprint, ERASED}:
        return AdmissionKind.CONFLICT
    if Outcome(row["outcome"]).final or row["run"] > 0:
        return AdmissionKind.CLOSED
    return AdmissionKind.KNOWN


class _Taken(NamedTuple):
    """An event of the same delivery that is dropped as an echo."""

    mutation_key: str
    field: str
    occurred_at: datetime


def _echo_of(
    tx: Transaction, question: EchoQuestion, occurred_at: datetime, taken: Sequence[_Taken] = ()
) -> str | None:
    field, quiescence = question.field, question.quiescence
    attempts = tx.rows(
        select(ATTEMPT.c.mutation_key, ATTEMPT.c.started_at, ATTEMPT.c.send_before, MUTATION.c.intended_state)
        .join(MUTATION, MUTATION.c.mutation_key == ATTEMPT.c.mutation_key)
        .where(
            MUTATION.c.target_system == question.target_system,
            MUTATION.c.provider_record_id == question.record_id,
            or_(
                ATTEMPT.c.outcome.is_(None),
                ATTEMPT.c.outcome.in_([AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN]),
            ),
            ATTEMPT.c.started_at <= occurred_at,
            ATTEMPT.c.send_before >= occurred_at - quiescence,
        )
        .order_by(ATTEMPT.c.started_at.desc())
    )
    for attempt in attempts:
        fields = (attempt["intended_state"] or {}).get("fields", {})
        if field not in fields or fields[field] != question.value:
            continue
        key, since, until = str(attempt["mutation_key"]), attempt["started_at"], attempt["send_before"] + quiescence
        before = any((t.mutation_key, t.field) == (key, field) and since <= t.occurred_at <= until for t in taken)
        if not before and not _absorbed(tx, key, field, since, until):
            return key
    return None


def _absorbed(tx: Transaction, mutation_key: str, field: str, since: datetime, until: datetime) -> bool:
    """Whether an event of this attempt's time was dropped as the echo of this field.

    An event that does not say which field it was about counts for every one: the run then decides.
    """
    rows = tx.rows(
        select(LEAD_EVENT.c.lead).where(
            LEAD_EVENT.c.echo_of == mutation_key, LEAD_EVENT.c.occurred_at >= since, LEAD_EVENT.c.occurred_at <= until
        )
    )
    for row in rows:
        fields = (row["lead"] or {}).get("lead") or {}
        if not fields or field in fields:
            return True
    return False
