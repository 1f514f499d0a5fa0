"""One question as its page shows it: made of what was read, for templates that decide nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from leadproof.domain.derivation import derived_fields, shown_fields
from leadproof.domain.mutation import Difference, Mutation
from leadproof.domain.review import Decision
from leadproof.domain.wording import (
    author,
    lasting,
    lead_in_words,
    plain,
    reason_in_words,
    status_in_words,
    value_in_words,
)
from leadproof.settings import Settings
from starter.cases import Behind, Case
from starter.review.record_links import record_link, run_link
from starter.review.rendering import due_in_words, ends_in_words
from starter.review.timeline import timeline

Mark = tuple[str, str]
SAME: Final[Mark] = ("=", "same")
DIFFERS: Final[Mark] = ("≠", "differs")
REPLACED: Final[Mark] = ("↺", "edit replaced")
NOT_RETURNED: Final[Mark] = ("?", "not returned")
NOT_READ: Final[Mark] = ("·", "not read yet")
NONE: Final = "–"
_MOST_TITLE: Final = 80


def title_of(case: Case) -> str:
    """What a question is about, in a few words."""
    told = lead_in_words(lead_fields(case))
    if told is None and case.about is not None:
        told = f"{case.about.source_system} {case.about.source_record_id}"
    told = told or "a lead"
    return told if len(told) <= _MOST_TITLE else f"{told[: _MOST_TITLE - 1]}…"


def lead_fields(case: Case) -> dict[str, Any]:
    """The lead as it was read, else as it came."""
    snapshot = case.plan.snapshot if case.plan is not None else None
    fields: dict[str, Any] | None = (snapshot or {}).get("fields")
    if fields is None and case.lead is not None:
        fields = (case.lead.lead or {}).get("lead")
    return fields or {}


def question(case: Case, behind: Behind, settings: Settings, now: datetime) -> dict[str, Any]:
    """All that the page shows of a question, without what can be decided."""
    item, mutation = case.item, case.mutation
    return {
        "item": item,
        "title": title_of(case),
        "reason": reason_in_words(item.reason),
        "why": case.about.why if case.about is not None else None,
        "open": item.state == "open",
        "due": due_in_words(item.due_at, now),
        "overdue": item.state == "open" and item.due_at < now,
        "age": lasting(now - item.opened_at),
        "ends": ends_in_words(item, now),
        "about": _about(mutation) if mutation is not None else None,
        "standing": status_in_words(mutation) if mutation is not None else None,
        "fields": _fields(mutation, case.owners) if mutation is not None else [],
        "loses": mutation is not None and any(_loses(one) for one in mutation.differences),
        "lead": _named(lead_fields(case), case.owners),
        "source": case.lead,
        "plan": _plan(case),
        "timeline": timeline(case),
        "waiting": [_other(one) for one in behind.waiting],
        "dependents": [_other(one) for one in behind.dependents],
        "record_link": _record_link(settings, mutation),
        "why_link": _why_link(mutation),
        "run_link": run_link(settings, case.lead.workflow_id) if case.lead is not None else None,
        "decisions": case.decisions,
    }


def before_and_after(case: Case, decision: Decision) -> list[dict[str, Any]]:
    """What a decision writes, field by field: what stands there, and what will."""
    mutation = case.mutation
    if mutation is None or mutation.intended_state is None:
        return []
    stands = shown_fields(mutation) or {}
    return [
        {
            "field": plain(name),
            "before": value_in_words(name, stands[name], case.owners) if name in stands else "(not known)",
            "after": value_in_words(name, value, case.owners),
            "mark": SAME if name in stands and stands[name] == value else DIFFERS,
        }
        for name, value in derived_fields(mutation, decision).items()
    ]


def latest_number(case: Case) -> int:
    """The number of the latest read-back, 0 before the first: what a person saw."""
    observations = case.receipts.observations if case.receipts is not None else ()
    return observations[-1].number if observations else 0


def since_seen(case: Case, number: int) -> list[dict[str, Any]]:
    """What a person saw beside what stands now, for the fields that moved since that read-back."""
    observations = case.receipts.observations if case.receipts is not None else ()
    saw = next((one for one in observations if one.number == number), None)
    mutation = case.mutation
    if saw is None or mutation is None:
        return []
    before, after = (saw.state or {}).get("fields") or {}, shown_fields(mutation) or {}
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    told = case.owners
    return [
        {
            "field": plain(name),
            "saw": value_in_words(name, before[name], told) if name in before else "(not there)",
            "now": value_in_words(name, after[name], told) if name in after else "(not there)",
        }
        for name in names
    ]


def _about(mutation: Mutation) -> str:
    record = mutation.provider_record_id or "(not there yet)"
    return f"{plain(mutation.action_kind)} {mutation.target_system} {mutation.target_object} {record}"


def _other(mutation: Mutation) -> dict[str, Any]:
    return {"about": _about(mutation), "status": status_in_words(mutation), "lead": mutation.source_record_id}


def _record_link(settings: Settings, mutation: Mutation | None) -> str | None:
    if mutation is None:
        return None
    state = mutation.observed_state or {}
    return record_link(
        settings,
        system=mutation.target_system,
        target_object=mutation.target_object,
        record_id=mutation.provider_record_id or state.get("record_id"),
    )


def _why_link(mutation: Mutation | None) -> str | None:
    """Where the page explains the record, behind the root of the pages."""
    if mutation is None or mutation.provider_record_id is None:
        return None
    asked = {"record": mutation.provider_record_id, "target_system": mutation.target_system}
    return f"/why?{urlencode(asked)}"


def _fields(mutation: Mutation, owners: Mapping[str, str]) -> list[dict[str, Any]]:
    """Stood, intended and observed side by side, those that differ first."""
    intended = mutation.intended_state.fields if mutation.intended_state is not None else {}
    differing = [one.field for one in mutation.differences]
    table = _Table(mutation, owners)
    return [table.row(name) for name in (*differing, *(name for name in intended if name not in differing))]


class _Table:
    """The fields of one mutation, each as it stood, was intended and was observed."""

    def __init__(self, mutation: Mutation, owners: Mapping[str, str]) -> None:
        self._stood = mutation.base_state or {}
        self._intended = mutation.intended_state.fields if mutation.intended_state is not None else {}
        self._observed = shown_fields(mutation) or {}
        self._changes = (mutation.observed_state or {}).get("changes") or {}
        self._differences = {one.field: one for one in mutation.differences}
        self._owners = owners

    def row(self, name: str) -> dict[str, Any]:
        difference = self._differences.get(name)
        mark = _mark(difference, read=name in self._observed)
        by, at = self._changed(name, difference)
        observed = {name: difference.observed} if difference is not None and difference.returned else self._observed
        return {
            "field": plain(name),
            "stood": self._value(name, self._stood),
            "intended": self._value(name, self._intended),
            "observed": self._value(name, observed),
            "lost": value_in_words(name, difference.lost, self._owners) if _loses(difference) and difference else None,
            "mark": mark,
            "stands_out": mark in {DIFFERS, REPLACED, NOT_RETURNED},
            "by": author(by, self._owners) if by is not None or mark in {DIFFERS, REPLACED} else NONE,
            "at": at,
        }

    def _value(self, name: str, values: Mapping[str, Any]) -> str:
        return value_in_words(name, values[name], self._owners) if name in values else NONE

    def _changed(self, name: str, difference: Difference | None) -> tuple[str | None, datetime | None]:
        """Who made the present value and when: as the difference says, else as the record's own history does."""
        if difference is not None:
            return difference.changed_by, difference.changed_at
        changes = self._changes.get(name) or []
        return (changes[0]["by"], datetime.fromisoformat(changes[0]["at"])) if changes else (None, None)


def _mark(difference: Difference | None, *, read: bool) -> Mark:
    if difference is None:
        return SAME if read else NOT_READ
    if _loses(difference):
        return REPLACED
    return DIFFERS if difference.returned else NOT_RETURNED


def _loses(difference: Difference | None) -> bool:
    """Whether our write replaced a value unseen; one that a person had cleared is lost as empty."""
    if difference is None:
        return False
    return difference.lost is not None or (difference.returned and difference.intended == difference.observed)


def _named(fields: Mapping[str, Any], owners: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (plain(name), value_in_words(name, value, owners)) for name, value in fields.items() if value not in (None, "")
    ]


def _plan(case: Case) -> dict[str, Any] | None:
    plan, mutation = case.plan, case.mutation
    if plan is None:
        return None
    intent = mutation.intended_state if mutation is not None else None
    return {
        "by": " ".join(filter(None, (plan.planner.kind, plan.planner.model))),
        "summary": plan.summary,
        "at": plan.planned_at,
        "reason": intent.reason if intent is not None else None,
        "evidence": intent.evidence if intent is not None else (),
        "policy": plan.policy_version,
    }
