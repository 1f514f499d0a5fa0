"""What happened about one question, in the order of its times: plan, writes, looks, decisions, and what these wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Observation
from leadproof.domain.records import Presence
from leadproof.domain.review import BY_TIMER, DecisionRow, DecisionVerdict, ReviewState
from leadproof.domain.steps import Receipts
from leadproof.domain.wording import decision_in_words, plain, reason_in_words, reviewer_in_words, value_in_words
from starter.cases import Behind, Case
from starter.review.carried_out import decision_of

_ANSWERED: Final[Mapping[AnswerClass, str]] = {
    AnswerClass.ACCEPTED: "accepted",
    AnswerClass.NOT_SENT: "not sent",
    AnswerClass.NOT_APPLIED: "not applied, can be tried again",
    AnswerClass.REFUSES_US: "refused: we may not write there at present",
    AnswerClass.REFUSES_THIS: "refused",
    AnswerClass.UNCERTAIN: "sent, and its answer was lost",
}
_SEEN: Final[Mapping[str, str]] = {
    Presence.ONE: "the record was found",
    Presence.ABSENT: "nothing of our write was found",
    Presence.REMOVED: "the record is archived or deleted",
    Presence.SEVERAL: "several records were found",
    Presence.UNKNOWN: "could not be read",
}
_CLOSED: Final[Mapping[ReviewState, str]] = {
    ReviewState.DECIDED: "closed by a decision",
    ReviewState.RESOLVED: "closed: what was read answered it",
    ReviewState.EXPIRED: "closed: nobody decided in time",
}
_VERDICTS: Final[Mapping[DecisionVerdict, str]] = {
    DecisionVerdict.PENDING: "waits to be applied",
    DecisionVerdict.STALE: "not applied: the question had moved on",
    DecisionVerdict.REPEATED: "not applied: somebody had decided before",
    DecisionVerdict.IMPOSSIBLE: "not applied: it was not possible",
    DecisionVerdict.MALFORMED: "not applied",
}
_VIA: Final[Mapping[str, str]] = {
    "page": "on this page",
    "api": "by the API",
    "signal": "in Temporal",
    "update": "in Temporal",
    BY_TIMER: "at the end of its window",
}
_UNSENT: Final = "nothing was sent: "
_LOOKED: Final = f"{_UNSENT}the check before the write answered"


class Line(NamedTuple):
    at: datetime
    kind: str
    text: str


def timeline(case: Case, behind: Behind) -> list[Line]:
    """What was planned, each write, each look, the question, what was decided, and what that wrote."""
    lines: list[Line] = []
    if case.receipts is not None:
        lines += _life(case.receipts, case)
        for one in behind.written:
            lines += _life(one, case, f" ({decision_of(case.receipts.mutation, one.mutation)})")
    item = case.item
    lines.append(Line(item.opened_at, "Question", f"asked of {item.queue}: {reason_in_words(item.reason)}"))
    lines += [Line(one.decided_at, "Decision", _decision(one, item.reason)) for one in case.decisions]
    if item.closed_at is not None:
        lines.append(Line(item.closed_at, "Question", _CLOSED.get(item.state, "closed")))
    return sorted(lines, key=lambda line: line.at)


def _life(receipts: Receipts, case: Case, of: str = "") -> list[Line]:
    mutation = receipts.mutation
    planned = Line(mutation.created_at, f"Planned{of}", _intent(mutation, case.owners))
    writes = [Line(one.started_at, f"Write {one.number}{of}", _attempt(one)) for one in receipts.attempts]
    return [
        planned,
        *writes,
        *(Line(one.read_at, f"Look {one.number}{of}", _read(one)) for one in receipts.observations),
    ]


def _intent(mutation: Mutation, owners: Mapping[str, str]) -> str:
    if mutation.intended_state is None:
        return "no longer kept"
    fields = mutation.intended_state.fields
    return ", ".join(f"{plain(name)} = {value_in_words(name, value, owners)}" for name, value in fields.items())


def _attempt(attempt: Attempt) -> str:
    if attempt.outcome is None:
        return "not answered yet"
    answer = attempt.answer
    if answer is not None and attempt.outcome is AnswerClass.NOT_SENT and answer.detail == _LOOKED:
        return "not sent: a look at the record came first, and settled it"
    detail = (answer.detail or "").removeprefix(_UNSENT) if answer is not None else ""
    code = answer.code or "" if answer is not None else ""
    told = detail if code and code in detail else ", ".join(filter(None, (code, detail)))
    status = f" (HTTP {attempt.http_status})" if attempt.http_status is not None else ""
    return f"{_ANSWERED[attempt.outcome]}{f': {told}' if told else ''}{status}"


def _read(observation: Observation) -> str:
    state = observation.state or {}
    seen = _SEEN.get(observation.verdict, observation.verdict)
    if observation.verdict == Presence.ONE and state.get("ours") is not None:
        seen += ", with our write in it" if state["ours"] else ", without our write in it"
    elif state.get("detail"):
        seen += f": {state['detail']}"
    differing = ", ".join(plain(one.field) for one in observation.differences)
    return f"{seen}; it differs in {differing}" if differing else seen


def _decision(row: DecisionRow, asked: str) -> str:
    what = decision_in_words(row.decision, asked) if row.decision is not None else "what is no decision"
    verdict = f", {_VERDICTS[row.verdict]}" if row.verdict in _VERDICTS else ""
    because = f", because: {row.reason}" if row.reason else ""
    return f"{what} by {reviewer_in_words(row.reviewer)}, {_VIA.get(row.via, row.via)}{verdict}{because}"
