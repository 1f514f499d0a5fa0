"""One question as a page: what is asked, what is decided, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from leadproof.domain.errors import MalformedDecision
from leadproof.domain.review import ReviewState, parse_decision
from leadproof.ports import Clock, Ledger
from leadproof.settings import Settings
from starter import problems
from starter.api import check_key
from starter.bulk import Bulk
from starter.cases import Behind, Case, Cases
from starter.decisions import Decisions
from starter.many import ManyDecisions
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.problems import Problem
from starter.review import answer_form
from starter.review.others import others
from starter.review.outcome_view import Outcomes
from starter.review.question_view import question
from starter.review.rendering import Pages
from starter.review.viewer import SignIn, Viewer


class QuestionPages:
    """Shows questions and takes their answers."""

    def __init__(
        self,
        *,
        settings: Settings,
        ledger: Ledger,
        cases: Cases,
        decisions: Decisions,
        bulk: Bulk,
        sign_in: SignIn,
        clock: Clock,
        metrics: Metrics,
        pages: Pages,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._cases = cases
        self._decisions = decisions
        self._bulk = bulk
        self._sign_in = sign_in
        self._clock = clock
        self._metrics = metrics
        self._pages = pages
        self._outcomes = Outcomes(ledger=ledger, cases=cases)

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
        told = question(case, behind, self._settings, self._clock.now())
        return self._pages.page(
            "question_live.html", viewer=viewer, **told, review_id=review_id, outcome=outcome, oob=True
        )

    async def decide(self, request: Request, review_id: str, viewer: Viewer) -> Response:
        """Take a decision to its run, and show what became of it.

        Raises:
            Problem: 403 where it is not theirs to decide, 422 where it is no decision.
        """
        case, behind = await self._read(review_id, viewer)
        fields = await self._sign_in.form(request, viewer)
        if not viewer.decides(case.item.queue):
            why = answer_form.why_not_theirs(case, viewer)
            raise Problem(403, "not-yours", "This decision is not yours to take", why)
        decision_id = answer_form.decision_id_of(fields, review_id, viewer)
        many = _many(fields, review_id, decision_id)
        if many is not None:
            decision_id = f"{many.base(viewer.name)}.{review_id}"
        known = await off_loop(lambda: self._ledger.decision(decision_id))
        if known is None and case.item.state is not ReviewState.OPEN:
            late = "The question was closed before your decision came."
            return await self._page(request, case, behind, viewer, status=409, fault=late)
        fault = answer_form.fault_of(case, fields) if known is None else None
        if fault is not None:
            return await self._page(request, case, behind, viewer, status=422, fields=fields, fault=fault)
        if many is not None:
            await self._bulk.decide(many, reviewer=viewer.name, via="page", may=viewer.decides)
        else:
            await self._decide_alone(fields, review_id, decision_id, viewer)
        saw = fields.get("saw", "")
        seen = f"&saw={saw}" if saw.isascii() and saw.isdigit() else ""
        return RedirectResponse(f"{self._pages.root}/{review_id}?decision={decision_id}{seen}", 303)

    async def _decide_alone(self, fields: Mapping[str, str], review_id: str, decision_id: str, viewer: Viewer) -> None:
        try:
            decision = parse_decision([answer_form.sent(fields, review_id, decision_id)])
        except MalformedDecision as error:
            raise problems.malformed(str(error)) from None
        decided = await self._decisions.decide(decision, reviewer=viewer.name, via="page")
        self._metrics.decision(decided.verdict.value)

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
        fields: Mapping[str, str] | None = None,
        fault: str | None = None,
    ) -> Response:
        now = self._clock.now()
        outcome = await off_loop(lambda: self._outcomes.of(case, behind, request.query_params))
        beside = await off_loop(lambda: others(self._ledger, case, viewer))
        return self._pages.page(
            "question.html",
            viewer=viewer,
            status=status,
            **question(case, behind, self._settings, now),
            review_id=case.item.review_id,
            outcome=outcome,
            others=beside,
            oob=False,
            asked=answer_form.offer(
                case,
                behind,
                viewer,
                effects=self._cases.effects(case, behind),
                withheld=self._cases.withheld(case),
                fields=fields or {},
            ),
            fault=fault,
            pressed=(fields or {}).get("decision"),
            now=now,
        )


def _many(fields: Mapping[str, str], review_id: str, decision_id: str) -> ManyDecisions | None:
    try:
        return answer_form.sent_for_all_behind(fields, review_id, decision_id)
    except ValidationError as error:
        wrong = sorted({str(item["loc"][-1]) for item in error.errors(include_input=False)})
        raise problems.malformed(f"missing or wrong: {', '.join(wrong)}") from None
