"""Fifty real processes at once: one wins, every other reads what the winner wrote, nobody sees an error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from tests.ledger import racing
from tests.ledger.databases import Database
from tests.support.ledgers import OwnedLedger

pytestmark = pytest.mark.stack

PROCESSES = 50


@pytest.fixture
def answers(database: Database) -> list[dict[str, Any]]:
    """What every process was answered in every race."""
    command = [sys.executable, "-m", "tests.ledger.racing", database.url, str(PROCESSES)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert ran.returncode == 0, ran.stderr
    answers: list[dict[str, Any]] = json.loads(ran.stdout)
    assert [answer["errors"] for answer in answers if "errors" in answer] == []
    assert len(answers) == PROCESSES
    return answers


def test_one_wins_and_the_others_read_its_row(answers: list[dict[str, Any]], ledger: OwnedLedger) -> None:
    """All races run once and are judged together, since fifty processes cost more than anything else here."""
    check_one_key(answers, ledger)
    check_one_record(answers, ledger)


def check_one_key(answers: list[dict[str, Any]], ledger: OwnedLedger) -> None:
    mutation = racing.wanted(0)

    assert Counter(answer["admit"] for answer in answers) == {"new": 1, "known": PROCESSES - 1}
    lead = ledger.lead(mutation.event_key)
    assert lead is not None
    assert lead.deliveries == PROCESSES

    (winner,) = [answer for answer in answers if answer["plan"]["mine"]]
    of_the_winner = {
        "summary": f"by {winner['number']}",
        "fields": [{"lead_status": f"planned by {winner['number']}"}],
        "conflict": None,
    }
    for answer in answers:
        assert answer["plan"] == of_the_winner | {"mine": answer is winner}

    derived = racing.derived(0).mutation_key
    assert Counter(tuple(answer["reserve"]) for answer in answers) == {
        ("won", derived, 1): 1,
        ("replay", derived, 1): PROCESSES - 1,
    }

    assert Counter(answer["claim"] for answer in answers) == {"won": 1, "lost": PROCESSES - 1}
    assert Counter(answer["settle"] for answer in answers) == {True: 1, False: PROCESSES - 1}
    receipts = ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert (len(receipts.attempts), len(receipts.observations)) == (1, 1)
    assert (receipts.mutation.status, receipts.mutation.version) == (Status.OBSERVED, 3)


def check_one_record(answers: list[dict[str, Any]], ledger: OwnedLedger) -> None:
    """One holds the record and the others stand in its queue."""
    assert Counter(answer["claim_record"] for answer in answers) == {"won": 1, "waits": PROCESSES - 1}
    (holder,) = [answer["number"] for answer in answers if answer["claim_record"] == "won"]
    waiting = ledger.waiting(racing.own(holder).mutation_key)
    others = [number for number in range(PROCESSES) if number != holder]
    assert [row.mutation_key for row in waiting] == [racing.own(number).mutation_key for number in others]
    assert {(row.status, row.reason) for row in waiting} == {(Status.RESERVED, "waits")}
    submitted, _ = ledger.mutations(status=Status.SUBMITTED)
    assert [row.mutation_key for row in submitted] == [racing.own(holder).mutation_key]
    assert {lead.outcome for lead in ledger.leads(limit=100)[0]} == {Outcome.WORKING}
