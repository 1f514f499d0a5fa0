"""Runs the migrations on the connection that `leadproof.ledger.schema` hands over, inside its transaction."""

from alembic import context

from leadproof.ledger.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite alters a table only by copying it
)
with context.begin_transaction():
    context.run_migrations()
