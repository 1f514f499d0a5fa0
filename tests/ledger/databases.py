"""A database that tests have to themselves, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from leadproof.ledger.engine import Engine


@dataclass(frozen=True)
class Database:
    """A migrated database, and the session's engine on it, which no single test closes."""

    url: str
    engine: Engine
