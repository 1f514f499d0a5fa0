"""A worker that is killed in the middle of a transaction: all of it is done but the commit.

On PostgreSQL, where each lead has a connection of its own; on SQLite the first that is stopped keeps all others out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.crash.cases import HEARD, MORE, UNHEARD, Case, edited, killed_everywhere, patient_policy
from tests.crash.databases import a_house_on
from tests.crash.stopping import Point
from tests.support.house import House

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.postgres, pytest.mark.timeout(180)]

EDITED: Final = (edited("after_write", hubspot_owner_id="503"),)
UNSEEN: Final = (edited("before_write", hubspot_owner_id="503"),)
DECIDING: Final = Point("inside", "ledger.apply_decision", "apply_decision")

CASES: Final = (
    Case("the plan", Point("inside", "ledger.record_plan", "plan")),
    Case("the claim", Point("inside", "ledger.claim")),
    Case("the answer", Point("inside", "ledger.store_answer"), (UNHEARD,)),
    Case("the settlement", Point("inside", "ledger.settle", "reconcile")),
    Case("the question", Point("inside", "ledger.open_review", "open_review"), asks="approve"),
    Case("an approval", DECIDING, asks="approve", decided=True),
    Case("an overwrite", DECIDING, (HEARD, HEARD), (1, 1), EDITED, asks="overwrite", decided=True),
    Case("a restore", DECIDING, (HEARD, HEARD), (1, 1), UNSEEN, asks="restore", decided=True),
    Case("a contact that is to be made: the claim", Point("inside", "ledger.claim"), source="form"),
    Case("Salesforce: the answer", Point("inside", "ledger.store_answer"), (UNHEARD, HEARD), (1, 1), source="GB"),
)


@pytest.fixture
async def house(server: WorkflowEnvironment, tmp_path: Path, postgresql: Any) -> AsyncIterator[House]:
    """A house in which nobody works, with a ledger on PostgreSQL."""
    async with a_house_on(postgresql, server, tmp_path, policy=patient_policy(), worker=False, **MORE) as built:
        yield built


async def test_a_worker_killed_inside_a_transaction_leaves_one_effect(
    house: House,
    tmp_path: Path,
    recovered: Callable[[str, float], None],
    missed_within: float,
    subtests: pytest.Subtests,
) -> None:
    """The database undoes what was not committed, and the step is made again."""
    await killed_everywhere(house, CASES, tmp_path, recovered=recovered, missed_within=missed_within, subtests=subtests)
