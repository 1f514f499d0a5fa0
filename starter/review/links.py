"""One-time links to the review page: made for an API token that may decide, spent by the first who signs in."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from leadproof.ports import Clock, Ledger
from leadproof.setting_lists import ApiToken
from starter.auth import Tokens
from starter.off_loop import off_loop
from starter.problems import Problem
from starter.review.seals import Sealed, Seals

SIGN_IN: Final = "/review/sign-in"
LASTS: Final = timedelta(minutes=10)

_log = logging.getLogger(__name__)


class Links:
    """Makes one-time links and spends them.

    Args:
        seals: of the review key; `None` where there is none, and then there are no links.
        public_url: what the links begin with.
    """

    def __init__(self, *, seals: Seals | None, ledger: Ledger, clock: Clock, public_url: str, tokens: Tokens) -> None:
        self._seals = seals
        self._ledger = ledger
        self._clock = clock
        self._address = public_url.rstrip("/") + SIGN_IN
        self._tokens = tokens

    def router(self) -> APIRouter:
        """The route of the API, for the application."""
        router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
        decider = Depends(self._tokens.require("decide"))

        async def link(token: ApiToken = decider) -> JSONResponse:
            """A link that signs one person in to the review page, once and within ten minutes, in this token's name."""
            return JSONResponse(self._made(token.name), headers={"Cache-Control": "no-store"})

        router.add_api_route("/links", link, methods=["POST"], response_model=None)
        return router

    def read(self, text: str) -> Sealed | None:
        """What a link says; `None` where it is none of ours, or over. Whether it was spent is not looked at."""
        return self._seals.read_link(text, now=self._clock.now()) if self._seals is not None else None

    async def spend(self, text: str) -> Sealed | None:
        """Spend a link; `None` where it is none of ours, over, or spent.

        Raises:
            LedgerUnavailable: no answer in time; the link may be spent then.
        """
        link = self.read(text)
        if link is None:
            return None
        first = await off_loop(lambda: self._ledger.spend_link(link.digest, expires_at=link.at))
        if not first:
            _log.warning("a link to the review page was opened a second time; it was made for the token %s", link.by)
            return None
        _log.info("somebody signed in to the review page by a link that was made for the token %s", link.by)
        return link

    def _made(self, by: str) -> dict[str, str]:
        if self._seals is None:
            raise _no_key()
        until = self._clock.now().replace(microsecond=0) + LASTS
        url = f"{self._address}?link={self._seals.link(by, until=until)}"
        return {"url": url, "expires_at": until.isoformat()}


def _no_key() -> Problem:
    return Problem(
        409,
        "no-review-key",
        "Nobody can sign in by a link",
        "this starter has no LEADPROOF_REVIEW_KEY, which signs the links: set it to what `openssl rand -hex 32` prints",
    )
