"""The ledger as its tables hold it, read row by row from outside; and when nothing in it stirs any more."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from soak.stack import Stack

Row = Mapping[str, Any]

FINAL_OUTCOMES = frozenset({"done", "partly", "nothing_to_do", "refused", "gone", "echo", "superseded", "abandoned"})
FINAL = frozenset({"observed", "superseded", "abandoned"})
HOLDING = frozenset({"submitted", "uncertain", "divergent"})

_TABLES: Mapping[str, str] = {
    "lead_event": "first_seen_at, event_key",
    "mutation": "created_at, ordinal, mutation_key",
    "mutation_attempt": "mutation_key, number",
    "mutation_observation": "mutation_key, number",
    "review_item": "opened_at, review_id",
    "review_decision": "decided_at, decision_id",
}
_JSON = frozenset(
    {
        *("depends_on", "base_state", "intended_state", "acceptance_receipt"),
        *("observed_state", "differences", "answer"),
    }
)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every row of leads, effects and questions, at one look."""

    leads: Sequence[Row] = ()
    mutations: Sequence[Row] = ()
    attempts: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    observations: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    items: Sequence[Row] = ()
    decisions: Mapping[str, Row] = field(default_factory=dict)

    def items_of(self, mutation_key: str) -> list[Row]:
        return [item for item in self.items if item["mutation_key"] == mutation_key]


def read(stack: Stack) -> Ledger:
    """Read the tables."""
    tables = {
        name: [_parsed(name, row) for row in stack.rows(f"SELECT * FROM {name} ORDER BY {order}")]  # noqa: S608
        for name, order in _TABLES.items()
    }
    return Ledger(
        leads=tables["lead_event"],
        mutations=tables["mutation"],
        attempts=_by_mutation(tables["mutation_attempt"]),
        observations=_by_mutation(tables["mutation_observation"]),
        items=tables["review_item"],
        decisions={row["decision_id"]: row for row in tables["review_decision"]},
    )


def moment(text: str) -> datetime:
    """A time as the ledger's file or the sandbox writes it."""
    read_ = datetime.fromisoformat(text)
    return read_ if read_.tzinfo is not None else read_.replace(tzinfo=UTC)


def _parsed(table: str, row: Row) -> Row:
    named = _JSON | ({"state"} if table == "mutation_observation" else set())
    return {
        name: json.loads(value) if name in named and isinstance(value, str) else value for name, value in row.items()
    }


def _by_mutation(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["mutation_key"]].append(row)
    return dict(found)


def stirring(ledger: Ledger, left_open: Collection[str]) -> list[str]:
    """The leads that may still move by themselves, with what moves; those whose question a person left open do not.

    A lead that waits for a record does not stir either while the question about whoever holds it is left open.
    """
    questions: defaultdict[str, list[Row]] = defaultdict(list)
    for item in ledger.items:
        if item["state"] == "open":
            questions[item["subject"]].append(item)
    mutations: defaultdict[str, list[Row]] = defaultdict(list)
    for mutation in ledger.mutations:
        mutations[mutation["event_key"]].append(mutation)
    found = []
    for lead in ledger.leads:
        key = lead["event_key"]
        if lead["outcome"] in FINAL_OUTCOMES:
            continue
        asked = questions[key]
        unanswered = [item for item in asked if item["review_id"] not in left_open]
        if unanswered:
            found.append(f"{key[:12]}: a question about the event, {unanswered[0]['reason']}")
            continue
        if asked:
            continue
        moving = [why for mutation in mutations[key] if (why := _moves(ledger, mutation, questions, left_open))]
        if moving or not mutations[key]:
            found.append(f"{key[:12]}: {moving[0] if moving else 'no plan yet'}")
    pending = [row for row in ledger.decisions.values() if row["verdict"] == "pending"]
    return found + [f"the decision {row['decision_id']} is pending" for row in pending]


def _moves(
    ledger: Ledger, mutation: Row, questions: Mapping[str, Sequence[Row]], left_open: Collection[str]
) -> str | None:
    status, key = mutation["status"], mutation["mutation_key"]
    if status in FINAL:
        return None
    asked = questions.get(key, ())
    if any(item["review_id"] not in left_open for item in asked):
        return f"{mutation['action_kind']} is {status}, its question is not answered"
    if asked:
        return None
    if status == "reserved" and mutation["depends_on"]:
        held = {other["mutation_key"] for other in ledger.mutations if other["status"] not in FINAL}
        if held & set(mutation["depends_on"]):
            return None
    if status == "reserved" and mutation["reason"] == "waits" and _held_by_a_question(ledger, mutation, questions):
        return None
    return f"{mutation['action_kind']} is {status} ({mutation['reason']})"


def _held_by_a_question(ledger: Ledger, mutation: Row, questions: Mapping[str, Sequence[Row]]) -> bool:
    return any(
        questions.get(other["mutation_key"]) and other["status"] in HOLDING and _same_record(other, mutation)
        for other in ledger.mutations
    )


def _same_record(one: Row, other: Row) -> bool:
    if one["target_system"] != other["target_system"]:
        return False
    return one["target_record"] == other["target_record"] or (
        one["provider_record_id"] is not None and one["provider_record_id"] == _record_of(other)
    )


def _record_of(mutation: Row) -> str | None:
    intent = mutation["intended_state"] or {}
    known: str | None = mutation["provider_record_id"] or intent.get("record", {}).get("provider_record_id")
    return known
