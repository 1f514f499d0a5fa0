"""Looks at a record, for the tests of what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import Answer, AnswerClass, Attempt, Intent, Mutation, RecordRef, Status
from leadproof.domain.observing import Look
from leadproof.domain.policy import Target
from leadproof.domain.reconciliation import Finding, find
from leadproof.domain.records import MARKER, Change, FoundRecord, LookUp, Presence

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY, OTHER_KEY = "a" * 64, "b" * 64
OURS, THEIRS = "external-id-of-ours", "external-id-of-another-lead"
TARGET = Target(
    apply_lag_seconds=20,
    apply_lag_source="made up",
    connect_timeout_seconds=5,
    clock_margin_seconds=5,
    send_within_seconds=10,
    observation_window_seconds=300,
    read_spacing_seconds=2,
    max_attempts=3,
    patience_seconds=600,
    probe_seconds=45,
)
"""Quiet 30 s after `send_before`."""
INTENT = {"owner": "501", "lead_status": "NEW"}
BASE = {"owner": None, "lead_status": None}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_mutation(
    *,
    creates: bool = False,
    fields: Mapping[str, Any] = INTENT,
    base: Mapping[str, Any] | None = BASE,
    compare_also: tuple[str, ...] = (),
    record_id: str | None = "601",
    **changes: Any,
) -> Mutation:
    """An update of record 601, or with `creates` a create, submitted."""
    record_id = None if creates and record_id == "601" else record_id
    values: dict[str, Any] = {
        "mutation_key": KEY,
        "event_key": "e" * 64,
        "ordinal": 0,
        "tenant": "acme",
        "environment": "test",
        "source_system": "website",
        "source_record_id": "7",
        "policy_version": "1",
        "action_kind": "create" if creates else "qualify",
        "target_system": "hubspot",
        "target_object": "contact",
        "target_record": OURS,
        "fingerprint": "f" * 64,
        "base_state": None if creates or base is None else dict(base),
        "intended_state": Intent(
            record=RecordRef(
                target_system="hubspot", target_object="contact", external_id=OURS, provider_record_id=record_id
            ),
            creates=creates,
            fields=dict(fields),
            compare_also=compare_also,
            reason="the rules say so",
            policy_version="1",
            mutation_key=KEY,
        ),
        "status": Status.SUBMITTED,
        "provider_record_id": record_id,
        "created_at": START,
        "updated_at": START,
    }
    return Mutation(**(values | changes))


def an_attempt(
    outcome: AnswerClass | None, number: int = 1, started: float = 0.0, took: float = 1.0, **answer: Any
) -> Attempt:
    """An attempt that was claimed `started` seconds after the start; one without an outcome is still open."""
    ended = None if outcome is None else at(started + took)
    return Attempt(
        mutation_key=KEY,
        number=number,
        send_before=at(started + TARGET.send_within_seconds),
        started_at=at(started),
        ended_at=ended,
        outcome=outcome,
        answer=Answer(outcome=outcome, **answer) if outcome is not None else None,
    )


def a_record(
    fields: Mapping[str, Any] = INTENT, *, marker: str | None = None, record_id: str = "601", **more: Any
) -> FoundRecord:
    return FoundRecord(**({"record_id": record_id, "marker": marker, "fields": dict(fields)} | more))


def one(record: FoundRecord) -> LookUp:
    return LookUp(presence=Presence.ONE, record=record, record_ids=(record.record_id,))


def written(
    seconds: float, fields: Mapping[str, Any] = INTENT, marker: str = KEY, by: str = "us"
) -> dict[str, tuple[Change, ...]]:
    """The history that one write leaves."""
    moment = at(seconds)
    return {name: (Change(value=value, at=moment, by=by),) for name, value in {**fields, MARKER: marker}.items()}


def before(history: Mapping[str, Sequence[Change]], name: str, value: Any, seconds: float, by: str) -> dict[str, Any]:
    """The same history with an older entry of one field."""
    return {**history, name: (*history.get(name, ()), Change(value=value, at=at(seconds), by=by))}


def finding(
    found: LookUp,
    *attempts: Attempt,
    mutation: Mutation | None = None,
    now: float = 2.0,
    looked: Sequence[float] | None = None,
    unseen: Sequence[float] = (),
    effects: Mapping[str, Mapping[str, Any]] | None = None,
    refused_since: float | None = None,
    target: Target = TARGET,
) -> Finding:
    """What a look says, `now` seconds after the start.

    Args:
        looked: seconds after the start of earlier looks that the target answered; without them it was looked at all
            along.
        unseen: of earlier looks that it did not answer.
    """
    looked_for = mutation or a_mutation()
    began = max((attempt.started_at for attempt in attempts), default=at(now))
    along = range(20, int((at(now) - START).total_seconds()) + 1, 20) if looked is None else looked
    seen = tuple(at(one) for one in along if looked is not None or began < at(one) < at(now))
    return find(
        Look(
            mutation=looked_for,
            attempts=attempts,
            found=found,
            asked_id=looked_for.provider_record_id,
            looked_at=tuple(sorted([*seen, *(at(one) for one in unseen)])),
            seen_at=seen,
            refused_since=at(refused_since) if refused_since is not None else None,
            now=at(now),
        ),
        target,
        CATALOG,
        effects,
    )
