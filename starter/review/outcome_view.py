"""What became of a question, from ledger and run and not from hope: for whoever decided it, and whoever waits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from leadproof.domain import keys
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.review import (
    GIVES_UP_HOLD,
    DecisionRow,
    DecisionVerdict,
    ReviewItem,
    ReviewState,
    possible,
)
from leadproof.domain.wording import decision_in_words, plain, reviewer_in_words, status_in_words, value_in_words
from leadproof.ports import Ledger
from starter.cases import Behind, Case, Cases
from starter.review.carried_out import decision_of, unwritten
from starter.review.question_view import since_seen
from starter.review.rendering import moment

_BEHIND: Final[Mapping[DecisionVerdict, str]] = {
    DecisionVerdict.APPLIED: "given up",
    DecisionVerdict.PENDING: "kept, and given up as soon as its run answers",
    DecisionVerdict.STALE: "not given up: it has moved on",
    DecisionVerdict.REPEATED: "not given up: it was already decided",
    DecisionVerdict.IMPOSSIBLE: "not given up: it no longer waits",
}


_GIVEN_UP_WITH: Final[Mapping[Reason | None, str]] = {
    Reason.DEPENDENCY: "What this effect depends on came to nothing, and so did this",
    Reason.ERASED: "What was kept of the person was erased, and this effect was given up",
}
"""Why an effect is given up that nobody decided about."""


class Outcomes:
    """Tells what became of questions; its calls block, as the ledger's do."""

    def __init__(self, *, ledger: Ledger, cases: Cases) -> None:
        self._ledger = ledger
        self._cases = cases

    def of(self, case: Case, behind: Behind, asked: Mapping[str, str]) -> dict[str, Any]:
        """What stands now.

        Args:
            asked: of the address: `decision` that was sent, the read-back that the decider `saw`, and the digest that
                the page `shown` names.
        """
        mine = next((one for one in case.decisions if one.decision_id == asked.get("decision")), None)
        effects = self._effects(case, behind)
        following = self._following(case, effects)
        shown = asked.get("shown")
        moved = case.item.state is ReviewState.OPEN and shown is not None and shown != case.digest
        pending = mine is not None and mine.verdict is DecisionVerdict.PENDING
        under_way = case.item.state is not ReviewState.OPEN and self._under_way(case, effects)
        outcome = {
            "mine": self._of_mine(mine, case, behind, asked, asks=bool(following)) if mine is not None else None,
            "closed": _closed(case) if case.item.state is not ReviewState.OPEN else None,
            "others": _waiting(case, mine),
            "effects": [_effect(one, case) for one in effects] if case.item.state is not ReviewState.OPEN else [],
            "following": [one.review_id for one in following],
            "moved": moved,
            "looks": pending or moved or case.item.state is ReviewState.OPEN or (under_way and not following),
            "busy": pending or (under_way and not following),
        }
        kept = {name: asked[name] for name in ("decision", "saw") if name in asked}
        # not the state that the page shows, but the one that it was shown with: what is marked is a change since then
        address = kept | {"shown": shown or case.digest}
        return outcome | {
            "mark": keys.digest(["outcome/1", str(outcome), *sorted(address.values())]),
            "address": address,
        }

    def _effects(self, case: Case, behind: Behind) -> list[Mutation]:
        """What the answer of a question is about: the effect and what decisions about it write, or all of the lead."""
        if case.mutation is None:
            return list(self._cases.effects_of(case))
        return [case.mutation, *behind.derived]

    def _under_way(self, case: Case, effects: list[Mutation]) -> bool:
        if case.mutation is None and case.lead is not None:
            return not case.lead.outcome.final
        return any(not one.status.final for one in effects)

    def _following(self, case: Case, effects: list[Mutation]) -> list[ReviewItem]:
        """The open questions that came of this one."""
        subjects = [one.mutation_key for one in effects if not one.status.final]
        if case.mutation is None:
            subjects.insert(0, case.item.event_key)
        found = [self._ledger.review_of(one) for one in subjects]
        return [one for one in found if one is not None and one.review_id != case.item.review_id]

    def _of_mine(
        self, row: DecisionRow, case: Case, behind: Behind, asked: Mapping[str, str], *, asks: bool
    ) -> dict[str, Any]:
        decision = decision_in_words(row.decision or "", case.item.reason)
        saw = asked.get("saw", "")
        stale = row.verdict is DecisionVerdict.STALE
        hindered = unwritten(row, case, behind) if row.verdict is DecisionVerdict.APPLIED else None
        said = self._said(row, case, decision)
        if hindered is not None:
            said = f"{decision.capitalize()} was taken, but nothing was written: {hindered}."
            said += " Please answer the new question." if asks else ""
        return {
            "shade": row.verdict.value if hindered is None else "unwritten",
            "reviewer": row.reviewer,
            "decision": decision,
            "reason": row.reason,
            "said": said,
            "behind": self._behind(row),
            "since": since_seen(case, int(saw)) if stale and saw.isascii() and saw.isdigit() and len(saw) < 7 else [],
        }

    def _behind(self, row: DecisionRow) -> list[dict[str, str]]:
        """What became of those that waited behind the question and were given up by the same click."""
        base, dot, _ = row.decision_id.partition(".")
        rows = self._ledger.decisions_like(base) if dot else ()
        return [
            {"review_id": one.review_id or "", "said": _BEHIND.get(one.verdict, one.verdict.value)}
            for one in rows
            if one.decision_id != row.decision_id
        ]

    def _said(self, row: DecisionRow, case: Case, decision: str) -> str:
        if row.verdict is DecisionVerdict.APPLIED:
            return f"Applied: {decision}."
        if row.verdict is DecisionVerdict.PENDING:
            until = self._until(row, case)
            if until is not None:
                return (
                    f"Kept, and not applied yet: an earlier request can still change the record until {moment(until)}. "
                    f"The run applies {decision} then."
                )
            return f"Kept: {decision} waits, since no worker has answered yet. It is applied as soon as one runs."
        if row.verdict is DecisionVerdict.REPEATED:
            return f"Not applied: {_who_decided(case) or 'the question was already decided'}."
        if row.verdict is DecisionVerdict.STALE:
            closed = "" if case.item.state is ReviewState.OPEN else "; it is closed now"
            return f"Not applied: the question has moved on since it was shown to you{closed}."
        told = f"; {possible(case.allowed)}" if case.item.state is ReviewState.OPEN else ""
        return f"Not applied: the question does not allow {decision} as it stands{told}."

    def _until(self, row: DecisionRow, case: Case) -> datetime | None:
        """From when a decision that gives the record up can be applied, where an earlier request may still arrive."""
        return self._cases.open_until(case) if row.decision in GIVES_UP_HOLD else None


def _applied(case: Case) -> DecisionRow | None:
    return next((one for one in case.decisions if one.verdict is DecisionVerdict.APPLIED), None)


def _who_decided(case: Case) -> str | None:
    row = _applied(case)
    if row is None:
        return None
    decision = decision_in_words(row.decision or "", case.item.reason)
    return f"{reviewer_in_words(row.reviewer)} decided {decision} at {moment(row.decided_at)}"


def _closed(case: Case) -> dict[str, Any]:
    """How a question was closed: by whom, or by what."""
    row = _applied(case)
    words = {
        ReviewState.RESOLVED: f"{_what_answered(case)}; nobody had to decide it.",
        ReviewState.EXPIRED: "Nobody decided in time, and the policy gave it up.",
    }
    return {
        "state": case.item.state.value,
        "at": case.item.closed_at,
        "said": words.get(case.item.state) or f"{_who_decided(case) or 'It was decided'}.",
        "reason": row.reason if row is not None else None,
        "via": row.via if row is not None else None,
    }


def _what_answered(case: Case) -> str:
    """What closed a question that nobody decided: evidence, or that its effect was given up with something else."""
    latest = case.receipts.review if case.receipts is not None else None
    if latest is not None and latest.review_id == case.item.review_id:
        mutation = case.mutation
        if mutation is not None and mutation.status is Status.ABANDONED:
            return _GIVEN_UP_WITH.get(mutation.reason, "The whole lead was given up, and this effect with it")
    if case.item.reason == Reason.WAITS:
        return "The record was free for this effect"
    return "Evidence answered this question"


def _waiting(case: Case, mine: DecisionRow | None) -> list[str]:
    """Decisions of others that wait to be applied."""
    return [
        f"{reviewer_in_words(one.reviewer)} decided {decision_in_words(one.decision or '', case.item.reason)}"
        f" at {moment(one.decided_at)}"
        ", which waits to be applied."
        for one in case.decisions
        if one.verdict is DecisionVerdict.PENDING and one is not mine
    ]


def _effect(mutation: Mutation, case: Case) -> dict[str, Any]:
    return {"name": _name(mutation, case), "status": status_in_words(mutation), "at": mutation.updated_at}


def _name(mutation: Mutation, case: Case) -> str:
    """Which write it is, before "is now"."""
    if case.mutation is None:
        record = mutation.provider_record_id or "(not there yet)"
        return f"{plain(mutation.action_kind)} {mutation.target_system} {mutation.target_object} {record}"
    if mutation.mutation_key == case.mutation.mutation_key:
        return "It"
    fields = mutation.intended_state.fields if mutation.intended_state is not None else {}
    values = ", ".join(f"{plain(name)} = {value_in_words(name, value, case.owners)}" for name, value in fields.items())
    return f"What {decision_of(case.mutation, mutation)} writes{f' ({values})' if values else ''}"
