"""A database like the ledger's, with the same pragmas and one row a commit."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

_ROW = "x" * 1000
"""About what a step of a lead writes."""


class Commits:
    """One writing connection behind a lock, as the ledger has."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        for pragma in ("busy_timeout = 30000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {pragma}").close()
        self._connection.execute("CREATE TABLE IF NOT EXISTS step (record TEXT, name TEXT, body TEXT)").close()

    def commit(self, record_id: str, name: str) -> None:
        """Insert one row in a transaction of its own."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE").close()
            self._connection.execute("INSERT INTO step VALUES (?, ?, ?)", (record_id, name, _ROW)).close()
            self._connection.execute("COMMIT").close()

    def close(self) -> None:
        self._connection.close()
