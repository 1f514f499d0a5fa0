"""The ledger's schema, apart from `workers.compose`: every start upgrades it, and composing takes seconds."""

from __future__ import annotations

from leadproof.ledger import schema
from leadproof.settings import Settings


def upgrade_ledger(settings: Settings) -> str:
    """Bring the ledger of the settings to this code's schema; the revision that it is at.

    Raises:
        ConfigurationRefused, LedgerUnavailable, LedgerOutdated: it cannot be.
    """
    schema.upgrade(settings.ledger_url)
    return schema.HEAD
