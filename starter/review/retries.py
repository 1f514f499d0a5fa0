"""Trying again what is asked for one reason, all of it by one click, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response
from pydantic import ValidationError

from leadproof.domain import keys
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.queue import QueueGroup
from leadproof.domain.review import DecisionVerdict
from leadproof.domain.wording import reason_in_words
from starter import problems
from starter.bulk import Bulk, OneOfMany
from starter.many import ManyDecisions
from starter.problems import Problem
from starter.review.answer_form import MOST_REASON, form_of, new_form
from starter.review.rendering import Pages
from starter.review.viewer import Role, SignIn, Viewer

RETRIED: Final = frozenset({Reason.TARGET_REFUSES_US, Reason.REFUSES_THIS, Status.REJECTED, Status.UNCERTAIN})
"""Reasons for which trying again can be right."""

_VERDICTS: Final[Mapping[DecisionVerdict, str]] = {
    DecisionVerdict.APPLIED: "tried again",
    DecisionVerdict.PENDING: "kept, waits to be applied",
    DecisionVerdict.STALE: "not applied: the question has moved on",
    DecisionVerdict.REPEATED: "not applied: it was already decided",
    DecisionVerdict.IMPOSSIBLE: "not possible now",
}


def retry_offer(groups: Iterable[QueueGroup], chosen: Mapping[str, str], viewer: Viewer) -> dict[str, Any] | None:
    """The form that tries again all questions of the chosen reason; `None` where it would not mean what is shown."""
    reason = chosen.get("reason")
    if reason not in RETRIED or viewer.role is Role.VIEWER or {"source", "age"} & set(chosen):
        return None
    queue, target = chosen.get("queue"), chosen.get("target")
    meant = [
        one
        for one in groups
        if one.reason == reason
        and queue in (None, one.queue)
        and target in (None, one.target)
        and viewer.decides(one.queue)
    ]
    number = sum(one.number for one in meant)
    if not number:
        return None
    return {
        "form": new_form(),
        "number": number,
        "reason": reason,
        "words": reason_in_words(reason),
        "queue": queue or "",
        "target": target or "",
    }


class Retries:
    """Takes that form."""

    def __init__(self, *, bulk: Bulk, sign_in: SignIn, pages: Pages) -> None:
        self._bulk = bulk
        self._sign_in = sign_in
        self._pages = pages

    async def retry(self, request: Request, viewer: Viewer) -> Response:
        """Have everything tried again, and show what became of each; the same form again decides nothing twice.

        Raises:
            Problem: 403 where nothing is theirs to decide, 422 where the form cannot be meant.
        """
        fields = await self._sign_in.form(request, viewer)
        if viewer.role is Role.VIEWER:
            raise Problem(
                403, "not-yours", "This decision is not yours to take", "your role is viewer, and this needs a reviewer"
            )
        answers = await self._bulk.decide(_asked(fields, viewer), reviewer=viewer.name, via="page", may=viewer.decides)
        return self._pages.page(
            "retried.html",
            viewer=viewer,
            words=reason_in_words(fields["reason_of"]),
            answers=answers,
            rows=[_row(one) for one in answers.answers],
        )


def _asked(fields: Mapping[str, str], viewer: Viewer) -> ManyDecisions:
    reason = fields.get("reason", "").strip()
    if len(reason) > MOST_REASON:
        raise problems.malformed(f"the reason has {len(reason)} characters, and at most {MOST_REASON} are kept")
    of = {"reason": fields.get("reason_of", ""), "queue": fields.get("queue"), "target_system": fields.get("target")}
    given = {name: value for name, value in of.items() if value}
    try:
        return ManyDecisions.model_validate(
            {
                "decision_id": keys.digest(["page-retry/1", form_of(fields), viewer.name]),
                "decision": "retry",
                "reason": reason,
                "all_of": given,
            }
        )
    except ValidationError as error:
        wrong = sorted({str(item["loc"][-1]) for item in error.errors(include_input=False)})
        raise problems.malformed(f"missing or wrong: {', '.join(wrong)}") from None


def _row(one: OneOfMany) -> dict[str, Any]:
    return {
        "review_id": one.review_id,
        "verdict": _VERDICTS.get(one.verdict, one.verdict.value),
        "why": one.why,
        "until": one.until,
    }
