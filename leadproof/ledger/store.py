"""The ledger as the business asks it: `leadproof.ports.Ledger`, and what starter and console list beside it."""

from __future__ import annotations

from leadproof.ledger.admission import Admissions
from leadproof.ledger.claims import Claims
from leadproof.ledger.plans import Plans
from leadproof.ledger.reading import Reading
from leadproof.ledger.settling import Settling


class SqlLedger(Admissions, Plans, Claims, Settling, Reading):
    """The ledger on SQLite or PostgreSQL; every method is one transaction.

    Args:
        engine: from `leadproof.ledger.engine.connect`; whoever opened it disposes of it.
        clock: what the ledger's times come from.
        parse: reads a stored policy's text; the domain's own parser where it is left out.
    """
