"""`/review`: the review queue for people."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from leadproof.ports import Clock, Ledger
from leadproof.settings import Settings
from starter import problems
from starter.api import check_key
from starter.bulk import Bulk
from starter.cases import Cases
from starter.decisions import Decisions
from starter.metrics import Metrics
from starter.review.forms import typed
from starter.review.question_page import QuestionPages
from starter.review.queue_page import QueuePages
from starter.review.rendering import Pages
from starter.review.retries import Retries
from starter.review.security import PATH
from starter.review.viewer import NotSignedIn, SignIn


class ReviewPages:
    """The routes of the page. Every one of them asks first who looks."""

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
        self._public_url = settings.public_url
        self._sign_in = sign_in
        self._pages = pages
        self._queue = QueuePages(ledger=ledger, clock=clock, pages=pages)
        self._questions = QuestionPages(
            settings=settings,
            ledger=ledger,
            cases=cases,
            decisions=decisions,
            bulk=bulk,
            sign_in=sign_in,
            clock=clock,
            metrics=metrics,
            pages=pages,
        )
        self._retries = Retries(bulk=bulk, sign_in=sign_in, pages=pages)

    def router(self) -> APIRouter:
        """The routes, for the application; to be added after those of the sign-in."""
        router = APIRouter(prefix=PATH, include_in_schema=False)
        router.add_api_route("", self.queue, methods=["GET"], response_model=None)
        router.add_api_route("/live", self.queue_live, methods=["GET"], response_model=None)
        router.add_api_route("/retries", self.retry, methods=["POST"], response_model=None)
        router.add_api_route("/static/{digest}/{name}", self.static, methods=["GET"], response_model=None)
        router.add_api_route("/{review_id}", self.question, methods=["GET"], response_model=None)
        router.add_api_route("/{review_id}/live", self.question_live, methods=["GET"], response_model=None)
        router.add_api_route("/{review_id}/decisions", self.decide, methods=["POST"], response_model=None)
        router.add_api_route("/{review_id}/decisions", self.decided, methods=["GET"], response_model=None)
        router.add_api_route("/{rest:path}", self.nothing, methods=["GET"], response_model=None)
        return router

    async def queue(self, request: Request) -> Response:
        """The queue."""
        return await self._queue.whole(request, self._sign_in.viewer(request))

    async def queue_live(self, request: Request) -> Response:
        """What the queue shows, once it shows something else."""
        return await self._queue.live(request, self._sign_in.viewer(request))

    async def question(self, request: Request, review_id: str) -> Response:
        """One question."""
        return await self._questions.show(request, review_id, self._sign_in.viewer(request))

    async def question_live(self, request: Request, review_id: str) -> Response:
        """What became of a question, once something did."""
        return await self._questions.live(request, review_id, self._sign_in.viewer(request))

    async def decide(self, request: Request, review_id: str) -> Response:
        """Take a decision, and send the browser to what became of it."""
        try:
            viewer = self._sign_in.viewer(request)
        except NotSignedIn as nobody:  # the session may have ended while the reason was typed
            nobody.members["typed"] = await typed(request, self._public_url)
            raise
        return await self._questions.decide(request, review_id, viewer)

    async def decided(self, request: Request, review_id: str) -> Response:
        """The question, for whoever comes back to where its form was sent: by a reload, or after signing in again."""
        self._sign_in.viewer(request)
        check_key(review_id)
        return RedirectResponse(f"{self._pages.root}/{review_id}", 303)

    async def retry(self, request: Request) -> Response:
        """Try again what is asked for one reason, all of it at once."""
        return await self._retries.retry(request, self._sign_in.viewer(request))

    async def static(self, digest: str, name: str) -> Response:
        """A file of the page; nothing that only a reviewer may see."""
        return self._pages.static(digest, name)

    async def nothing(self, request: Request) -> Response:
        """What an address under `/review` answers that is none."""
        self._sign_in.viewer(request)
        raise problems.not_found("nothing is at this address; it may have been mistyped, or not copied whole")
