"""`python -m tests.crash.worker POINTS`: the real worker over watched ports; it stops at the points of that file."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

from temporalio.client import Client

from leadproof import settings
from leadproof.domain.policy import Policy
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Crm
from leadproof.settings import Settings
from tests.crash.stopping import Stops, Watched, read_points
from workers import lifecycle
from workers.compose import Composition, compose


def run(points: Path) -> None:
    """Run a worker as `python -m workers` does."""
    stops = Stops(read_points(points))
    stops.watch()

    def watched(
        settings: Settings, client: Client, ledger: SqlLedger, policy: Policy, crms: dict[str, Crm]
    ) -> Composition:
        around: dict[str, Crm] = {name: cast(Crm, Watched(crm, "crm", stops)) for name, crm in crms.items()}
        return compose(settings, client, cast(SqlLedger, Watched(ledger, "ledger", stops)), policy, around)

    setattr(lifecycle, "compose", watched)  # noqa: B010 - a name of that module, for this process alone
    asyncio.run(lifecycle.run(settings.load()))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
