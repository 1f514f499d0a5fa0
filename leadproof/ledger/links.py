"""One-time links to the review page: each is spent once, whoever opens it and however many starters there are."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete

from leadproof.ledger.tables import SPENT_LINK
from leadproof.ledger.transaction import Store, Transaction, insert_into

_KEPT: Final = timedelta(days=1)
"""Past its end, so that a starter whose clock is behind does not take a link again that another one took."""


class Links(Store):
    """The links that were spent."""

    def spend_link(self, digest: str, *, expires_at: datetime) -> bool:
        """Spend a one-time link; `False` where it was spent before."""
        return self._write(lambda tx: _spend(tx, digest, expires_at))


def _spend(tx: Transaction, digest: str, expires_at: datetime) -> bool:
    tx.run(delete(SPENT_LINK).where(SPENT_LINK.c.expires_at < tx.now - _KEPT))
    spent = (
        insert_into(SPENT_LINK, tx.dialect)
        .values(digest=digest, expires_at=expires_at)
        .on_conflict_do_nothing()
        .returning(SPENT_LINK.c.digest)
    )
    return tx.row(spent) is not None
