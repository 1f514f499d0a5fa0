"""The ledger's tables. They validate nothing: what is read leaves this package as a type of the domain."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, MetaData, Table, text
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from leadproof.ledger.types import Json, UtcTime, Words

_NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
}

HOLDS = text("status IN ('submitted', 'uncertain', 'divergent')")
"""Where a mutation keeps its record to itself; the condition of both one-record indexes."""

OPEN = text("state = 'open'")


class LedgerTable(SQLModel, registry=registry(metadata=MetaData(naming_convention=_NAMES))):
    """Base of the tables, with metadata of its own."""


class PolicyTable(LedgerTable, table=True):
    __tablename__ = "policy"

    version: str = Field(primary_key=True)
    digest: str
    body: str
    loaded_at: datetime = Field(sa_type=UtcTime)


class LeadEventTable(LedgerTable, table=True):
    __tablename__ = "lead_event"
    __table_args__ = (
        Index("ix_lead_event_outcome", "outcome"),
        Index("ix_lead_event_first_seen_at", "first_seen_at", "event_key"),
        Index("ix_lead_event_echo_of", "echo_of"),
    )

    event_key: str = Field(primary_key=True)
    tenant: str
    environment: str
    source_system: str
    source_record_id: str
    event_kind: str
    occurrence: str | None = None
    occurred_at: datetime = Field(sa_type=UtcTime)
    fingerprint: str
    lead: dict[str, Any] | None = Field(default=None, sa_type=Json)
    policy_version: str
    outcome: str
    echo_of: str | None = None
    run: int
    workflow_id: str
    deliveries: int
    conflicts: int
    first_seen_at: datetime = Field(sa_type=UtcTime)
    last_seen_at: datetime = Field(sa_type=UtcTime)


class TargetTable(LedgerTable, table=True):
    __tablename__ = "target"

    target_system: str = Field(primary_key=True)
    state: str
    reason: str | None = Field(default=None, sa_type=Words)
    since: datetime = Field(sa_type=UtcTime)
    checked_at: datetime = Field(sa_type=UtcTime)


class LeadPlanTable(LedgerTable, table=True):
    __tablename__ = "lead_plan"

    event_key: str = Field(primary_key=True, foreign_key="lead_event.event_key")
    policy_version: str = Field(primary_key=True)
    snapshot: dict[str, Any] | None = Field(default=None, sa_type=Json)
    plan: dict[str, Any] | None = Field(default=None, sa_type=Json)
    planner: dict[str, Any] = Field(sa_type=Json)
    planned_at: datetime = Field(sa_type=UtcTime)


class MutationTable(LedgerTable, table=True):
    __tablename__ = "mutation"
    __table_args__ = (
        Index(
            "uq_mutation_record_held",
            "tenant",
            "environment",
            "target_system",
            "target_object",
            "target_record",
            unique=True,
            sqlite_where=HOLDS,
            postgresql_where=HOLDS,
        ),
        Index(
            "uq_mutation_provider_record_held",
            "tenant",
            "environment",
            "target_system",
            "target_object",
            "provider_record_id",
            unique=True,
            sqlite_where=HOLDS,
            postgresql_where=HOLDS,
        ),
        Index("ix_mutation_event_key", "event_key"),
        Index("ix_mutation_status", "status"),
        Index("ix_mutation_source_record_id", "source_record_id"),
        Index("ix_mutation_target_record", "target_record"),
        Index("ix_mutation_provider_record_id", "provider_record_id"),
        Index("ix_mutation_created_at", "created_at", "mutation_key"),
    )

    mutation_key: str = Field(primary_key=True)
    event_key: str = Field(foreign_key="lead_event.event_key")
    parent_key: str | None = Field(default=None, foreign_key="mutation.mutation_key")
    ordinal: int
    depends_on: list[str] = Field(sa_type=Json)
    tenant: str
    environment: str
    source_system: str
    source_record_id: str
    policy_version: str
    action_kind: str
    target_system: str
    target_object: str
    target_record: str
    discriminator: str | None = None
    fingerprint: str
    base_state: dict[str, Any] | None = Field(default=None, sa_type=Json)
    intended_state: dict[str, Any] | None = Field(default=None, sa_type=Json)
    status: str
    reason: str | None = None
    provider_record_id: str | None = Field(default=None, sa_type=Words)
    acceptance_receipt: dict[str, Any] | None = Field(default=None, sa_type=Json)
    observed_state: dict[str, Any] | None = Field(default=None, sa_type=Json)
    differences: list[dict[str, Any]] | None = Field(default=None, sa_type=Json)
    version: int
    created_at: datetime = Field(sa_type=UtcTime)
    updated_at: datetime = Field(sa_type=UtcTime)


class AttemptTable(LedgerTable, table=True):
    __tablename__ = "mutation_attempt"

    mutation_key: str = Field(primary_key=True, foreign_key="mutation.mutation_key")
    number: int = Field(primary_key=True)
    send_before: datetime = Field(sa_type=UtcTime)
    started_at: datetime = Field(sa_type=UtcTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcTime)
    outcome: str | None = None
    http_status: int | None = None
    correlation_id: str | None = Field(default=None, sa_type=Words)
    request_digest: str | None = None
    answer: dict[str, Any] | None = Field(default=None, sa_type=Json)


class ObservationTable(LedgerTable, table=True):
    __tablename__ = "mutation_observation"

    mutation_key: str = Field(primary_key=True, foreign_key="mutation.mutation_key")
    number: int = Field(primary_key=True)
    read_at: datetime = Field(sa_type=UtcTime)
    identity: str = Field(sa_type=Words)
    verdict: str
    state: dict[str, Any] | None = Field(default=None, sa_type=Json)
    differences: list[dict[str, Any]] | None = Field(default=None, sa_type=Json)


class ReviewItemTable(LedgerTable, table=True):
    __tablename__ = "review_item"
    __table_args__ = (
        Index("uq_review_item_open_subject", "subject", unique=True, sqlite_where=OPEN, postgresql_where=OPEN),
        Index("ix_review_item_subject", "subject"),
        Index("ix_review_item_event_key", "event_key"),
        Index("ix_review_item_state", "state", "due_at"),
    )

    review_id: str = Field(primary_key=True)
    subject: str
    event_key: str = Field(foreign_key="lead_event.event_key")
    mutation_key: str | None = Field(default=None, foreign_key="mutation.mutation_key")
    round: int
    reason: str
    queue: str
    state: str
    opened_at: datetime = Field(sa_type=UtcTime)
    due_at: datetime = Field(sa_type=UtcTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcTime)
    why: str | None = Field(default=None, sa_type=Words)
    closed_at: datetime | None = Field(default=None, sa_type=UtcTime)
    version: int


class ReviewDecisionTable(LedgerTable, table=True):
    __tablename__ = "review_decision"
    __table_args__ = (Index("ix_review_decision_review_id", "review_id"),)

    decision_id: str = Field(primary_key=True, sa_type=Words)
    review_id: str | None = Field(default=None, sa_type=Words)
    review_version: int | None = None
    decision: str | None = None
    reviewer: str = Field(sa_type=Words)
    via: str = Field(sa_type=Words)
    reason: str | None = Field(default=None, sa_type=Words)
    shown_digest: str | None = Field(default=None, sa_type=Words)
    verdict: str
    decided_at: datetime = Field(sa_type=UtcTime)


class QuarantineTable(LedgerTable, table=True):
    __tablename__ = "quarantine"
    __table_args__ = (Index("ix_quarantine_received_at", "state", "received_at"),)

    delivery_digest: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    source_system: str = Field(sa_type=Words)
    reason: str = Field(sa_type=Words)
    body: str | None = Field(default=None, sa_type=Words)
    state: str
    received_at: datetime = Field(sa_type=UtcTime)


class SpentLinkTable(LedgerTable, table=True):
    __tablename__ = "spent_link"

    digest: str = Field(primary_key=True)
    expires_at: datetime = Field(sa_type=UtcTime)


METADATA = LedgerTable.metadata


def _table(name: str) -> Table:
    return METADATA.tables[name]


POLICY = _table("policy")
LEAD_EVENT = _table("lead_event")
TARGET = _table("target")
LEAD_PLAN = _table("lead_plan")
MUTATION = _table("mutation")
ATTEMPT = _table("mutation_attempt")
OBSERVATION = _table("mutation_observation")
REVIEW_ITEM = _table("review_item")
REVIEW_DECISION = _table("review_decision")
QUARANTINE = _table("quarantine")
SPENT_LINK = _table("spent_link")

__all__ = [
    "ATTEMPT",
    "LEAD_EVENT",
    "LEAD_PLAN",
    "METADATA",
    "MUTATION",
    "OBSERVATION",
    "POLICY",
    "QUARANTINE",
    "REVIEW_DECISION",
    "REVIEW_ITEM",
    "SPENT_LINK",
    "TARGET",
]
