"""One question as its page shows it: made of what was read, for templates that decide nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from leadproof.domain.derivation import shown_fields
from leadproof.domain.mutation import AnswerClass, Mutation, Reason
from leadproof.domain.wording import (
    author,
    event_in_words,
    lasting,
    lead_in_words,
    plain,
    reason_in_words,
    status_in_words,
    system_in_words,
    value_in_words,
)
from leadproof.settings import Settings
from starter.cases import Behind, Case
from starter.review.field_table import field_rows, loses, moved_before_write
from starter.review.record_links import record_link, run_link
from starter.review.rendering import due_in_words, ends_in_words
from starter.review.timeline import timeline

_MOST_TITLE: Final = 80
_REVIEW: Final = re.compile(r"\b[0-9a-f]{64}\b")


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
        "why": _why(case),
        "open": item.state == "open",
        "due": due_in_words(item.due_at, now),
        "overdue": item.state == "open" and item.due_at < now,
        "age": lasting(now - item.opened_at),
        "ends": ends_in_words(item, now),
        "about": _about(mutation) if mutation is not None else None,
        "standing": status_in_words(mutation) if mutation is not None else None,
        "system": system_in_words(mutation.target_system) if mutation is not None else None,
        "fields": field_rows(case, _answer(behind)),
        "loses": mutation is not None and loses(mutation),
        "lead": _named(lead_fields(case), case.owners),
        "source": case.lead,
        "happened": event_in_words(case.lead.event_kind, case.lead.changed_field) if case.lead is not None else None,
        "plan": _plan(case),
        "timeline": timeline(case, behind),
        "waiting": [_other(one) for one in behind.waiting],
        "dependents": [_other(one) for one in behind.dependents],
        "record_link": _record_link(settings, mutation),
        "why_link": _why_link(mutation),
        "run_link": run_link(settings, case.lead.workflow_id) if case.lead is not None else None,
        "decisions": case.decisions,
    }


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


def _answer(behind: Behind) -> Mutation | None:
    """What the latest decision about an effect has written, or will write."""
    return behind.derived[-1] if behind.derived else None


def _why(case: Case) -> str | None:
    """Why a person is asked; of a record that moved before anything was sent, what moved and by whom."""
    told = case.about.why if case.about is not None else None
    mutation, receipts = case.mutation, case.receipts
    if mutation is None or receipts is None or case.item.reason != Reason.CHANGED_BEFORE_WRITE:
        return told
    moved = moved_before_write(mutation, case.specs)
    if not moved or any(one.outcome is not AnswerClass.NOT_SENT for one in receipts.attempts):
        return told
    known = {one.changed_by for one in moved}
    by = next(iter(known)) if len(known) == 1 else None
    who = author(by, case.owners) if by is not None else "somebody"
    return f"{who} changed {', '.join(plain(one.field) for one in moved)} before we wrote. Nothing was written"


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


def _named(fields: Mapping[str, Any], owners: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (plain(name), value_in_words(name, value, owners)) for name, value in fields.items() if value not in (None, "")
    ]


def _is_answer(mutation: Mutation | None) -> bool:
    return mutation is not None and mutation.parent_key is not None


def _review_in(reason: str) -> str | None:
    """The question whose answer an effect is, as its intent names it."""
    found = _REVIEW.search(reason)
    return found[0] if found is not None else None


def _plan(case: Case) -> dict[str, Any] | None:
    plan, mutation = case.plan, case.mutation
    if plan is None:
        return None
    intent = mutation.intended_state if mutation is not None else None
    return {
        "by": " ".join(filter(None, (plan.planner.kind, plan.planner.model))),
        "summary": plan.summary,
        "at": plan.planned_at,
        "reason": intent.reason if intent is not None and intent.reason not in plan.summary else None,
        "parent": _review_in(intent.reason) if intent is not None and _is_answer(mutation) else None,
        "evidence": intent.evidence if intent is not None else (),
        "policy": plan.policy_version,
    }
