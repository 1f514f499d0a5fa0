"""The end of a question's window, when the policy decides what nobody has decided.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    with op.batch_alter_table("review_item") as batch:
        batch.add_column(sa.Column("expires_at", MOMENT, nullable=True))
