"""One question as a page: what is asked, what is decided, and what became of it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from leadproof.domain import keys
from leadproof.domain.errors import MalformedDecision
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.review import Decision, ReviewState, parse_decision
from leadproof.domain.wording import plain
from leadproof.ports import Clock, Ledger
from leadproof.settings import Settings
from starter import problems
from starter.api import check_key
from starter.cases import Behind, Case, Cases
from starter.decisions import Decisions
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.problems import Problem
from starter.review.outcome_view import Outcomes
from starter.review.question_view import before_and_after, latest_number, question
from starter.review.rendering import Pages
from starter.review.viewer import SignIn, Viewer

_WRITES: Final = (Decision.OVERWRITE, Decision.RESTORE)
"""Decisions that write over what a person may have set: exactly what is shown and read first."""

_FORM: Final = re.compile(r"[0-9a-f]{32}")
_MOST_REASON: Final = 2000
_ARRIVED: Final = frozenset({None, AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN})


class QuestionPages:
    """Shows questions and takes their answers."""

    def __init__(
        self,
        *,
        settings: Settings,
        ledger: Ledger,
        cases: Cases,
        decisions: Decisions,
        sign_in: SignIn,
        clock: Clock,
        metrics: Metrics,
        pages: Pages,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._cases = cases
        self._decisions = decisions
        self._sign_in = sign_in
        self._clock = clock
        self._metrics = metrics
        self._pages = pages
        self._outcomes = Outcomes(ledger=ledger, cases=cases, clock=clock)

    async def show(self, request: Request, review_id: str, viewer: Viewer) -> Response:
        """The page of a question."""
        case, behind = await self._read(review_id, viewer)
        return await self._page(request, case, behind, viewer)

    async def live(self, request: Request, review_id: str, viewer: Viewer) -> Response:
        """What became of a question since it was shown: 204 where nothing did."""
        case, behind = await self._read(review_id, viewer)
        outcome = await off_loop(lambda: self._outcomes.of(case, behind, request.query_params))
        if outcome["mark"] == request.query_params.get("mark"):
            return Response(status_code=204)
        return self._pages.page("question_live.html", viewer=viewer, review_id=review_id, outcome=outcome)

    async def decide(self, request: Request, review_id: str, viewer: Viewer) -> Response:
        """Take a decision to its run, and show what became of it.

        Raises:
            Problem: 403 where it is not theirs to decide, 422 where it is no decision.
        """
        case, behind = await self._read(review_id, viewer)
        form = await self._sign_in.form(request, viewer)
        if not viewer.decides(case.item.queue):
            raise _not_theirs(case, viewer)
        decision_id = _decision_id(form, review_id, viewer)
        known = await off_loop(lambda: self._ledger.decision(decision_id))
        if known is None and case.item.state is not ReviewState.OPEN:
            late = "The question was closed before your decision came."
            return await self._page(request, case, behind, viewer, status=409, fault=late)
        fault = _fault(case, form) if known is None else None
        if fault is not None:
            return await self._page(request, case, behind, viewer, status=422, form=form, fault=fault)
        try:
            decision = parse_decision([_sent(form, review_id, decision_id)])
        except MalformedDecision as error:
            raise problems.malformed(str(error)) from None
        decided = await self._decisions.decide(decision, reviewer=viewer.name, via="page")
        self._metrics.decision(decided.verdict.value)
        saw = form.get("saw", "")
        seen = f"&saw={saw}" if saw.isascii() and saw.isdigit() else ""
        return RedirectResponse(f"{self._pages.root}/{review_id}?decision={decision_id}{seen}", 303)

    async def _read(self, review_id: str, viewer: Viewer) -> tuple[Case, Behind]:
        check_key(review_id)

        def both() -> tuple[Case, Behind]:
            case = self._cases.case(review_id)
            return case, self._cases.behind(case)

        case, behind = await off_loop(both)
        if not viewer.sees(case.item.queue):
            raise Problem(
                403,
                "foreign-queue",
                "This question is not yours to see",
                f"it belongs to the queue {case.item.queue}, which is not one of yours",
            )
        return case, behind

    async def _page(
        self,
        request: Request,
        case: Case,
        behind: Behind,
        viewer: Viewer,
        *,
        status: int = 200,
        form: Mapping[str, str] | None = None,
        fault: str | None = None,
    ) -> Response:
        now = self._clock.now()
        outcome = await off_loop(lambda: self._outcomes.of(case, behind, request.query_params))
        return self._pages.page(
            "question.html",
            viewer=viewer,
            status=status,
            **question(case, behind, self._settings, now),
            review_id=case.item.review_id,
            outcome=outcome,
            asked=_asked(self._cases.effects(case, behind), case, viewer, form or {}),
            fault=fault,
            now=now,
        )


def _asked(effects: Mapping[Decision, str], case: Case, viewer: Viewer, form: Mapping[str, str]) -> dict[str, Any]:
    """The form: what can be decided and what each would do, or why nothing can be."""
    offered = case.allowed if viewer.decides(case.item.queue) else ()
    return {
        "form": form.get("form") or secrets.token_hex(16),
        "digest": case.digest,
        "version": case.item.version,
        "saw": latest_number(case),
        "reason": form.get("reason", ""),
        "why_none": None if offered else _why_none(case, viewer),
        "needs": ", ".join(plain(one) for one in Decision if one in offered and _needs_reason(case, one)),
        "choices": [
            {
                "decision": one.value,
                "label": plain(one.value).capitalize(),
                "text": effects.get(one, ""),
                "writes": before_and_after(case, one) if one in _WRITES else None,
                "needs_reason": _needs_reason(case, one),
                "read": form.get(f"read_{one.value}") == "yes",
            }
            for one in Decision
            if one in offered
        ],
    }


def _why_none(case: Case, viewer: Viewer) -> str:
    if case.item.state is not ReviewState.OPEN:
        return "This question is closed; nothing can be decided any more."
    if not viewer.decides(case.item.queue):
        return f"You can look at this question, and not decide it: {_role(case, viewer)}."
    return "Nothing can be decided at present; the evidence is still being read."


def _role(case: Case, viewer: Viewer) -> str:
    return f"your role is {viewer.role}, and the queue {case.item.queue} needs a reviewer"


def _not_theirs(case: Case, viewer: Viewer) -> Problem:
    return Problem(403, "not-yours", "This decision is not yours to take", _role(case, viewer))


def _needs_reason(case: Case, decision: Decision) -> bool:
    """Whether a person must say why: where it writes over something, or gives up what may have been written."""
    if decision in _WRITES:
        return True
    attempts = case.receipts.attempts if case.receipts is not None else ()
    return decision is Decision.ABANDON and any(one.outcome in _ARRIVED for one in attempts)


def _decision_id(form: Mapping[str, str], review_id: str, viewer: Viewer) -> str:
    """One per rendered form, decision and reviewer: the same click again, whatever brought it, is the same decision.

    Raises:
        Problem: 422, no form of ours.
    """
    given = form.get("form", "")
    if _FORM.fullmatch(given) is None:
        raise problems.malformed("the form does not say which one it is; open the question again")
    return keys.digest(["page-decision/1", given, review_id, form.get("decision", ""), viewer.name])


def _fault(case: Case, form: Mapping[str, str]) -> str | None:
    """What has to be said before the form can be taken, in one sentence; `None` where it can."""
    reason = form.get("reason", "").strip()
    if len(reason) > _MOST_REASON:
        return f"The reason has {len(reason)} characters, and at most {_MOST_REASON} are kept."
    if form.get("decision") not in set(Decision):
        return "Choose one of the decisions."
    decision = Decision(form["decision"])
    if not reason and _needs_reason(case, decision):
        return f"Say why, for those who read it later: {plain(decision.value)} needs a reason."
    if decision in _WRITES and form.get(f"read_{decision.value}") != "yes":
        return f"Read what {plain(decision.value)} writes, and say so in its box."
    return None


def _sent(form: Mapping[str, str], review_id: str, decision_id: str) -> dict[str, Any]:
    version = form.get("version", "")
    return {
        "decision_id": decision_id,
        "review_id": review_id,
        "version": int(version) if version.isascii() and version.isdigit() and len(version) < 12 else version,
        "decision": form.get("decision", ""),
        "reason": form.get("reason", "").strip(),
        "shown_digest": form.get("shown_digest") or None,
    }
