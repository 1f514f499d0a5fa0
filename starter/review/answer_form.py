"""The form that answers a question: what it offers, what it must say, and what is sent of it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from leadproof.domain import keys
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.review import Decision
from leadproof.domain.wording import decision_in_words, plain
from starter import problems
from starter.cases import Behind, Case
from starter.many import MOST, Front, ManyDecisions
from starter.review.field_table import SAME, before_and_after
from starter.review.question_view import latest_number
from starter.review.viewer import Viewer

WRITES: Final = (Decision.OVERWRITE, Decision.RESTORE)
"""Decisions that write over what a person may have set: exactly what is shown and read first."""

ALSO_BEHIND: Final = (Decision.ACCEPT, Decision.ABANDON)
"""Decisions that can be taken for all that waits behind a question too."""

MOST_REASON: Final = 2000
_FORM: Final = re.compile(r"[0-9a-f]{32}")
_ARRIVED: Final = frozenset({None, AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN})


def new_form() -> str:
    """Which form it is: another one each time a page is shown."""
    return secrets.token_hex(16)


def form_of(fields: Mapping[str, str]) -> str:
    """Which form was sent.

    Raises:
        Problem: 422, no form of ours.
    """
    given = fields.get("form", "")
    if _FORM.fullmatch(given) is None:
        raise problems.malformed("the form does not say which one it is; open the page again")
    return given


def offer(
    case: Case,
    behind: Behind,
    viewer: Viewer,
    *,
    effects: Mapping[Decision, str],
    withheld: Mapping[Decision, str],
    fields: Mapping[str, str],
) -> dict[str, Any]:
    """What can be decided and what each would do, or why nothing can be.

    Args:
        effects: what each allowed decision would do, in a sentence.
        withheld: why others cannot be carried out now.
        fields: of the form that was sent and is shown again.
    """
    offered = case.allowed if viewer.decides(case.item.queue) else ()
    allowed = [one for one in Decision if one in offered]
    ordered = sorted(allowed, key=lambda one: one in WRITES and not _to_read(case, one))  # last what changes nothing
    with_it = behind.waiting[: MOST - 1] if any(one in ALSO_BEHIND for one in ordered) else ()
    return {
        "form": fields.get("form") or new_form(),
        "digest": case.digest,
        "version": case.item.version,
        "saw": latest_number(case),
        "reason": fields.get("reason", ""),
        "why_none": None if offered else _why_none(case, viewer),
        "withheld": [f"{_label(case, one)} is not offered: {why}." for one, why in withheld.items()] if ordered else [],
        "needs": ", ".join(_needing(one) for one in ordered if needs_reason(case, one)),
        "behind": len(with_it),
        "waits": " ".join(one.mutation_key for one in with_it),
        "also_behind": fields.get("behind") == "yes",
        "choices": [
            {
                "decision": one.value,
                "label": _label(case, one),
                "text": effects.get(one, ""),
                "writes": before_and_after(case, one),
                "changes": _to_read(case, one),
                "read": fields.get(f"read_{one.value}") == "yes",
            }
            for one in ordered
        ],
    }


def _needing(decision: Decision) -> str:
    return "abandon, since it may have been written" if decision is Decision.ABANDON else plain(decision)


def _label(case: Case, decision: Decision) -> str:
    return decision_in_words(decision.value, case.item.reason).capitalize()


def why_not_theirs(case: Case, viewer: Viewer) -> str:
    """Why a question is not this viewer's to decide."""
    return f"your role is {viewer.role}, and the queue {case.item.queue} needs a reviewer"


def _why_none(case: Case, viewer: Viewer) -> str:
    if not viewer.decides(case.item.queue):
        return f"You can look at this question, and not decide it: {why_not_theirs(case, viewer)}."
    return "Nothing can be decided at present; the evidence is still being read."


def _to_read(case: Case, decision: Decision) -> bool:
    """Whether a decision writes over something, which is read first."""
    return decision in WRITES and any(one["mark"] != SAME for one in before_and_after(case, decision))


def needs_reason(case: Case, decision: Decision) -> bool:
    """Whether a person must say why: where it writes over something, or gives up what may have been written."""
    if decision in WRITES:
        return True
    attempts = case.receipts.attempts if case.receipts is not None else ()
    return decision is Decision.ABANDON and any(one.outcome in _ARRIVED for one in attempts)


def fault_of(case: Case, fields: Mapping[str, str]) -> str | None:
    """What has to be said before the form can be taken, in one sentence; `None` where it can."""
    reason = fields.get("reason", "").strip()
    if len(reason) > MOST_REASON:
        return f"The reason has {len(reason)} characters, and at most {MOST_REASON} are kept."
    if fields.get("decision") not in set(Decision):
        return "Choose one of the decisions."
    decision = Decision(fields["decision"])
    if not reason and needs_reason(case, decision):
        return f"Say why, for those who read it later: {plain(decision.value)} needs a reason."
    if _to_read(case, decision) and fields.get(f"read_{decision.value}") != "yes":
        name = plain(decision.value)
        return f"Please tick “I have read what {name} writes”, then press {name.capitalize()} again."
    return None


def decision_id_of(fields: Mapping[str, str], review_id: str, viewer: Viewer) -> str:
    """One per rendered form, decision and reviewer: the same click again, whatever brought it, is the same decision.

    Raises:
        Problem: 422, no form of ours.
    """
    return keys.digest(["page-decision/1", form_of(fields), review_id, fields.get("decision", ""), viewer.name])


def sent(fields: Mapping[str, str], review_id: str, decision_id: str) -> dict[str, Any]:
    """The decision, as the API takes it."""
    return {
        "decision_id": decision_id,
        "review_id": review_id,
        "version": _version(fields),
        "decision": fields.get("decision", ""),
        "reason": fields.get("reason", "").strip(),
        "shown_digest": fields.get("shown_digest") or None,
    }


def sent_for_all_behind(fields: Mapping[str, str], review_id: str, decision_id: str) -> ManyDecisions | None:
    """The decision for a question and all that was shown to wait behind it; `None` where it is for the question alone.

    Raises:
        ValidationError: it is none.
    """
    if fields.get("behind") != "yes" or fields.get("decision") not in ALSO_BEHIND:
        return None
    front = {
        "review_id": review_id,
        "version": _version(fields),
        "shown_digest": fields.get("shown_digest") or None,
        "waiting": fields.get("waits", "").split(),
    }
    return ManyDecisions.model_validate(
        {
            "decision_id": decision_id,
            "decision": fields["decision"],
            "reason": fields.get("reason", "").strip(),
            "behind": Front.model_validate(front),
        }
    )


def _version(fields: Mapping[str, str]) -> int | str:
    version = fields.get("version", "")
    return int(version) if version.isascii() and version.isdigit() and len(version) < 12 else version
