"""The first schema.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "lead_event",
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("source_system", sa.String(), nullable=False),
        sa.Column("source_record_id", sa.String(), nullable=False),
        sa.Column("event_kind", sa.String(), nullable=False),
        sa.Column("occurrence", sa.String(), nullable=True),
        sa.Column("occurred_at", MOMENT, nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("lead", JSON, nullable=True),
        sa.Column("policy_version", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("echo_of", sa.String(), nullable=True),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("deliveries", sa.Integer(), nullable=False),
        sa.Column("conflicts", sa.Integer(), nullable=False),
        sa.Column("first_seen_at", MOMENT, nullable=False),
        sa.Column("last_seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("event_key", name=op.f("pk_lead_event")),
    )
    op.create_index("ix_lead_event_echo_of", "lead_event", ["echo_of"], unique=False)
    op.create_index("ix_lead_event_first_seen_at", "lead_event", ["first_seen_at", "event_key"], unique=False)
    op.create_index("ix_lead_event_outcome", "lead_event", ["outcome"], unique=False)
    op.create_table(
        "policy",
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("loaded_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_policy")),
    )
    op.create_table(
        "quarantine",
        sa.Column("delivery_digest", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source_system", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("delivery_digest", "position", name=op.f("pk_quarantine")),
    )
    op.create_index("ix_quarantine_received_at", "quarantine", ["state", "received_at"], unique=False)
    op.create_table(
        "review_decision",
        sa.Column("decision_id", sa.String(), nullable=False),
        sa.Column("review_id", sa.String(), nullable=True),
        sa.Column("review_version", sa.Integer(), nullable=True),
        sa.Column("decision", sa.String(), nullable=True),
        sa.Column("reviewer", sa.String(), nullable=False),
        sa.Column("via", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("shown_digest", sa.String(), nullable=True),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("decided_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_review_decision")),
    )
    op.create_index("ix_review_decision_review_id", "review_decision", ["review_id"], unique=False)
    op.create_table(
        "target",
        sa.Column("target_system", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("checked_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("target_system", name=op.f("pk_target")),
    )
    op.create_table(
        "lead_plan",
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("policy_version", sa.String(), nullable=False),
        sa.Column("snapshot", JSON, nullable=True),
        sa.Column("plan", JSON, nullable=True),
        sa.Column("planner", JSON, nullable=False),
        sa.Column("planned_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["event_key"], ["lead_event.event_key"], name=op.f("fk_lead_plan_event_key")),
        sa.PrimaryKeyConstraint("event_key", "policy_version", name=op.f("pk_lead_plan")),
    )
    op.create_table(
        "mutation",
        sa.Column("mutation_key", sa.String(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("parent_key", sa.String(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("depends_on", JSON, nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("source_system", sa.String(), nullable=False),
        sa.Column("source_record_id", sa.String(), nullable=False),
        sa.Column("policy_version", sa.String(), nullable=False),
        sa.Column("action_kind", sa.String(), nullable=False),
        sa.Column("target_system", sa.String(), nullable=False),
        sa.Column("target_object", sa.String(), nullable=False),
        sa.Column("target_record", sa.String(), nullable=False),
        sa.Column("discriminator", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("base_state", JSON, nullable=True),
        sa.Column("intended_state", JSON, nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("provider_record_id", sa.String(), nullable=True),
        sa.Column("acceptance_receipt", JSON, nullable=True),
        sa.Column("observed_state", JSON, nullable=True),
        sa.Column("differences", JSON, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["event_key"], ["lead_event.event_key"], name=op.f("fk_mutation_event_key")),
        sa.ForeignKeyConstraint(["parent_key"], ["mutation.mutation_key"], name=op.f("fk_mutation_parent_key")),
        sa.PrimaryKeyConstraint("mutation_key", name=op.f("pk_mutation")),
    )
    op.create_index("ix_mutation_created_at", "mutation", ["created_at", "mutation_key"], unique=False)
    op.create_index("ix_mutation_event_key", "mutation", ["event_key"], unique=False)
    op.create_index("ix_mutation_provider_record_id", "mutation", ["provider_record_id"], unique=False)
    op.create_index("ix_mutation_source_record_id", "mutation", ["source_record_id"], unique=False)
    op.create_index("ix_mutation_status", "mutation", ["status"], unique=False)
    op.create_index("ix_mutation_target_record", "mutation", ["target_record"], unique=False)
    op.create_index(
        "uq_mutation_provider_record_held",
        "mutation",
        ["tenant", "environment", "target_system", "target_object", "provider_record_id"],
        unique=True,
        sqlite_where=sa.text("status IN ('submitted', 'uncertain', 'divergent')"),
        postgresql_where=sa.text("status IN ('submitted', 'uncertain', 'divergent')"),
    )
    op.create_index(
        "uq_mutation_record_held",
        "mutation",
        ["tenant", "environment", "target_system", "target_object", "target_record"],
        unique=True,
        sqlite_where=sa.text("status IN ('submitted', 'uncertain', 'divergent')"),
        postgresql_where=sa.text("status IN ('submitted', 'uncertain', 'divergent')"),
    )
    op.create_table(
        "mutation_attempt",
        sa.Column("mutation_key", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("send_before", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("correlation_id", sa.String(), nullable=True),
        sa.Column("request_digest", sa.String(), nullable=True),
        sa.Column("answer", JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["mutation_key"], ["mutation.mutation_key"], name=op.f("fk_mutation_attempt_mutation_key")
        ),
        sa.PrimaryKeyConstraint("mutation_key", "number", name=op.f("pk_mutation_attempt")),
    )
    op.create_table(
        "mutation_observation",
        sa.Column("mutation_key", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("read_at", MOMENT, nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("state", JSON, nullable=True),
        sa.Column("differences", JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["mutation_key"], ["mutation.mutation_key"], name=op.f("fk_mutation_observation_mutation_key")
        ),
        sa.PrimaryKeyConstraint("mutation_key", "number", name=op.f("pk_mutation_observation")),
    )
    op.create_table(
        "review_item",
        sa.Column("review_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("event_key", sa.String(), nullable=False),
        sa.Column("mutation_key", sa.String(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("opened_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("closed_at", MOMENT, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["event_key"], ["lead_event.event_key"], name=op.f("fk_review_item_event_key")),
        sa.ForeignKeyConstraint(["mutation_key"], ["mutation.mutation_key"], name=op.f("fk_review_item_mutation_key")),
        sa.PrimaryKeyConstraint("review_id", name=op.f("pk_review_item")),
    )
    op.create_index("ix_review_item_event_key", "review_item", ["event_key"], unique=False)
    op.create_index("ix_review_item_state", "review_item", ["state", "due_at"], unique=False)
    op.create_index("ix_review_item_subject", "review_item", ["subject"], unique=False)
    op.create_index(
        "uq_review_item_open_subject",
        "review_item",
        ["subject"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
