"""Why a person is asked, where only the run knows it: a planner that declined, a run that could not go on.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("review_item") as batch:
        batch.add_column(sa.Column("why", sa.String, nullable=True))
