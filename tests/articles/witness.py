"""What the CRM's own log and records say, held against what the ledger believes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from leadproof.domain.mutation import AnswerClass, Mutation
from tests.crash.evidence import landed, requests_of
from tests.support.house import House

OURS = "leadproof_effect"
UNKNOWN = "a marker that the ledger does not know"


def applied(house: House, mutation: Mutation) -> int:
    """How often an effect landed: by the log of requests and by the record's own history, which must agree."""
    in_log = [row for row in requests_of(house, mutation) if row["applied"]]
    assert len(landed(house, mutation)) == len(in_log)
    return len(in_log)


def contacts(house: House, email: str) -> list[dict[str, Any]]:
    """The contacts of an address."""
    return [row for row in house.control.records() if row["properties"].get("email") == email]


def log_of(house: House, record_id: str) -> list[str]:
    """The operations of requests to a contact by its id, in the order in which they arrived."""
    rows = house.control.get("/requests", provider="hubspot")
    return [row["operation"] for row in rows if row["path"].partition("?")[0].endswith(f"/{record_id}")]


def check_row(house: House, mutation: Mutation) -> None:
    """Each attempt that left is one request in the log, with the same answer, and each request is such an attempt."""
    attempts = house.ledger.attempts_of(mutation.mutation_key)
    left = [attempt for attempt in attempts if attempt.outcome is not AnswerClass.NOT_SENT]
    rows = requests_of(house, mutation)
    assert [attempt.http_status for attempt in left] == [row["status"] for row in rows]
    for attempt in left:
        assert (attempt.outcome is AnswerClass.ACCEPTED) == (attempt.http_status in {200, 201})


def effects_in_log(house: House) -> Counter[str]:
    """How many applied writes of contacts each mutation has in the log."""
    bodies = [row["body"] for row in house.control.requests("contacts.write") if row["applied"]]
    written = [one["properties"] for body in bodies for one in body.get("inputs", [body])]
    return Counter(sent.get(OURS, UNKNOWN) for sent in written)
