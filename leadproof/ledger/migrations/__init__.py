"""Alembic's environment of the ledger; run by `leadproof.ledger.schema`."""
