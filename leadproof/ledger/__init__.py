"""The ledger: what was already done, in SQLite or PostgreSQL. Table classes never leave this package."""
