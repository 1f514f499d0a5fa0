"""The ledger as the business asks it: `leadproof.ports.Ledger`, and what starter and console ask beside it."""

from __future__ import annotations

from sqlalchemy import select

from leadproof.ledger.admission import Admissions
from leadproof.ledger.claims import Claims
from leadproof.ledger.leads import Leads
from leadproof.ledger.links import Links
from leadproof.ledger.listings import Listings
from leadproof.ledger.many import Many
from leadproof.ledger.plans import Plans
from leadproof.ledger.policies import Policies
from leadproof.ledger.quarantine import Quarantine
from leadproof.ledger.queue import ReviewQueue
from leadproof.ledger.reading import Reading
from leadproof.ledger.reviews import Reviews
from leadproof.ledger.settling import Settling
from leadproof.ledger.stories import Stories
from leadproof.ledger.targets import Targets


class SqlLedger(
    Admissions,
    Plans,
    Claims,
    Settling,
    Reviews,
    Many,
    Leads,
    Targets,
    Policies,
    Quarantine,
    Links,
    Listings,
    ReviewQueue,
    Reading,
    Stories,
):
    """The ledger on SQLite or PostgreSQL; every method is one transaction.

    Args:
        engine: from `leadproof.ledger.engine.connect`.
        clock: what the ledger's times come from.
        parse: reads a stored policy's text; the domain's own parser where it is left out.
    """

    def ping(self) -> None:
        """Ask whether the database answers.

        Raises:
            LedgerUnavailable: it does not.
        """
        self._read(lambda tx: tx.value(select(1)))

    def close(self) -> None:
        """Close every connection of the ledger's engine."""
        self._engine.dispose()
