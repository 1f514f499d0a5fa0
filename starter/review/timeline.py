"""What happened about one effect, in the order of its times: the three receipts, questions and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Observation
from leadproof.domain.records import Presence
from leadproof.domain.review import DecisionRow
from leadproof.domain.wording import plain, reason_in_words, value_in_words
from starter.cases import Case

_ANSWERED: Final[Mapping[AnswerClass, str]] = {
    AnswerClass.ACCEPTED: "accepted",
    AnswerClass.NOT_SENT: "not sent",
    AnswerClass.NOT_APPLIED: "not applied, can be tried again",
    AnswerClass.REFUSES_US: "the target refuses us",
    AnswerClass.REFUSES_THIS: "refused",
    AnswerClass.UNCERTAIN: "answer lost",
}
_SEEN: Final[Mapping[str, str]] = {
    Presence.ONE: "the record was found",
    Presence.ABSENT: "nothing of it was found",
    Presence.REMOVED: "the record is archived or deleted",
    Presence.SEVERAL: "several records were found",
    Presence.UNKNOWN: "could not be read",
}


class Line(NamedTuple):
    at: datetime
    kind: str
    text: str


def timeline(case: Case) -> list[Line]:
    """Intent, each attempt, each read-back, the question and what was decided."""
    lines: list[Line] = []
    receipts = case.receipts
    if receipts is not None:
        lines.append(Line(receipts.mutation.created_at, "Intent", _intent(receipts.mutation, case.owners)))
        lines += [Line(one.started_at, f"Attempt {one.number}", _attempt(one)) for one in receipts.attempts]
        lines += [Line(one.read_at, f"Read-back {one.number}", _read(one)) for one in receipts.observations]
    item = case.item
    lines.append(Line(item.opened_at, "Question", f"asked of {item.queue}: {reason_in_words(item.reason)}"))
    lines += [Line(one.decided_at, "Decision", _decision(one)) for one in case.decisions]
    if item.closed_at is not None:
        lines.append(Line(item.closed_at, "Question", f"closed: {item.state}"))
    return sorted(lines, key=lambda line: line.at)


def _intent(mutation: Mutation, owners: Mapping[str, str]) -> str:
    if mutation.intended_state is None:
        return "no longer kept"
    fields = mutation.intended_state.fields
    return ", ".join(f"{plain(name)} = {value_in_words(name, value, owners)}" for name, value in fields.items())


def _attempt(attempt: Attempt) -> str:
    if attempt.outcome is None:
        return "not answered yet"
    answer = attempt.answer
    status = f", HTTP {attempt.http_status}" if attempt.http_status is not None else ""
    told = ", ".join(filter(None, (answer.code, answer.detail))) if answer is not None else ""
    took = f", after {(attempt.ended_at - attempt.started_at).total_seconds():.1f} s" if attempt.ended_at else ""
    return f"{_ANSWERED[attempt.outcome]}{status}{took}{f': {told}' if told else ''}"


def _read(observation: Observation) -> str:
    state = observation.state or {}
    seen = _SEEN.get(observation.verdict, observation.verdict)
    if observation.verdict == Presence.ONE and state.get("ours") is not None:
        seen += ", with our write in it" if state["ours"] else ", without our write in it"
    elif state.get("detail"):
        seen += f": {state['detail']}"
    differing = ", ".join(plain(one.field) for one in observation.differences)
    return f"{seen}; differs in {differing}" if differing else seen


def _decision(row: DecisionRow) -> str:
    what = plain(row.decision) if row.decision is not None else "what is no decision"
    because = f", because: {row.reason}" if row.reason else ""
    return f"{what} by {row.reviewer}, via {row.via}: {row.verdict}{because}"
