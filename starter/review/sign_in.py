"""Signing in to the review page: by a one-time link, or by the name that a reverse proxy gives; nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy import Policy
from leadproof.ports import Clock, Ledger
from leadproof.setting_lists import ApiToken, Reviewer, unknown_queues
from leadproof.settings import Settings
from starter.auth import Tokens
from starter.problems import Problem
from starter.review import forms
from starter.review.links import SIGN_IN, Links
from starter.review.proxy import Proxy
from starter.review.rendering import Pages
from starter.review.seals import Seals, same
from starter.review.security import PATH
from starter.review.viewer import NotSignedIn, Role, Viewer
from starter.review.wanted import cookie_of, forget, wanted

COOKIE: Final = "leadproof_review"
_MOST_NAME: Final = 200
_THEY: Final = "they get one with leadproof review open"
_HOME: Final = "../review"
"""Of a page one level below it, whatever stands before `/review` in the public address."""


class ReviewSignIn:
    """Knows who looks at the review page: `starter.review.viewer.SignIn`.

    Raises:
        ConfigurationRefused: a reviewer has a queue that the policy does not know.
    """

    def __init__(
        self, *, settings: Settings, ledger: Ledger, policy: Policy, clock: Clock, tokens: Tokens, pages: Pages
    ) -> None:
        _check_queues(settings.reviewers, policy)
        self._clock = clock
        self._pages = pages
        self._public_url = settings.public_url
        self._lasts = timedelta(hours=settings.review_session_hours)
        self._people = {person.name: person for person in settings.reviewers}
        self._tokens = {token.name: token for token in settings.api_tokens}
        self._seals = _seals(settings)
        header = settings.review_proxy_header
        self._proxy = Proxy(header, settings.review_proxy_addresses) if header is not None else None
        self.links = Links(seals=self._seals, ledger=ledger, clock=clock, public_url=settings.public_url, tokens=tokens)

    def router(self) -> APIRouter:
        """The routes, for the application."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route(SIGN_IN, self.show, methods=["GET"], response_model=None)
        router.add_api_route(SIGN_IN, self.sign_in, methods=["POST"], response_model=None)
        router.add_api_route(f"{PATH}/sign-out", self.sign_out, methods=["POST"], response_model=None)
        return router

    # -- who looks ---------------------------------------------------------------------------------------------------
    def viewer(self, request: Request) -> Viewer:
        """Who looks.

        Raises:
            NotSignedIn: nobody that is known.
            Problem: 403, a name that may not look, or a proxy's header from where no proxy of ours is.
        """
        named = self._proxy.names(request) if self._proxy is not None else None
        return self._of_proxy(named) if named is not None else self._of_session(request.cookies.get(COOKIE))

    def _of_proxy(self, name: str) -> Viewer:
        person = self._people.get(name)
        if person is None or self._seals is None:
            raise Problem(
                403,
                "not-a-reviewer",
                "You may not see this page",
                "the name under which the proxy signs you in is not in LEADPROOF_REVIEWERS, letter by letter; whoever "
                "runs Leadproof can add it there",
                named=name[:_MOST_NAME],
            )
        reviewer = f"person:{name}"
        return Viewer(reviewer, Role(person.role), person.queues, self._seals.csrf(reviewer))

    def _of_session(self, cookie: str | None) -> Viewer:
        if self._seals is None:
            raise NotSignedIn("nobody can sign in here: LEADPROOF_REVIEW_KEY is not set")
        if cookie is None:
            raise NotSignedIn(self._how())
        session = self._seals.read_session(cookie, now=self._clock.now(), lasts=self._lasts)
        if session is None:
            raise NotSignedIn(f"the sign-in is over; {self._how()}")
        token = self._tokens.get(session.by)
        role = _role(token) if token is not None else None
        if role is None:
            raise NotSignedIn(f"the API token that this sign-in came from may no longer look; {self._how()}")
        return Viewer(f"api:{session.by}", role, None, self._seals.csrf(session.id))

    def _how(self) -> str:
        link = f"ask whoever runs Leadproof for a sign-in link ({_THEY})"
        return f"come through the proxy that knows you, or {link}" if self._proxy is not None else link

    # -- forms -------------------------------------------------------------------------------------------------------
    async def form(self, request: Request, viewer: Viewer) -> Mapping[str, str]:
        """The fields of a form that this person was shown, one value each, without `csrf`.

        Raises:
            Problem: 403 where another page or another sign-in sent it, 413, 415, or 422 where it cannot be read.
        """
        forms.check_origin(request, self._public_url)
        fields = dict(await forms.fields_of(request))
        if not same(fields.pop("csrf", ""), viewer.csrf):
            raise forms.not_ours("it was shown to another sign-in; open the page again and send it once more")
        return fields

    # -- routes ------------------------------------------------------------------------------------------------------
    async def show(self, request: Request, link: str = "") -> Response:
        """The page that a one-time link opens. It spends nothing: previews and prefetching open links as well."""
        if self._proxy is not None:
            self._proxy.names(request)
        if not link:
            return self._pages.page("sign_in.html", viewer=None, how=self._how(), link=None)
        if self.links.read(link) is None:
            raise _spent()
        return self._pages.page("sign_in.html", viewer=None, how=None, link=link)

    async def sign_in(self, request: Request) -> Response:
        """Spend the link and begin a session."""
        forms.check_origin(request, self._public_url)
        link = await self.links.spend((await forms.fields_of(request)).get("link", ""))
        if link is None or self._seals is None:
            raise _spent()
        answer = RedirectResponse(_HOME + wanted(request), 303)
        answer.set_cookie(
            COOKIE,
            self._seals.session(link.by, now=self._clock.now()),
            max_age=int(self._lasts.total_seconds()),
            **cookie_of(self._public_url),
        )
        forget(request, answer, self._public_url)
        return answer

    async def sign_out(self, request: Request) -> Response:
        """End the session of this browser."""
        await self.form(request, self.viewer(request))
        answer = RedirectResponse("sign-in", 303)
        answer.delete_cookie(COOKIE, **cookie_of(self._public_url))
        return answer


def _seals(settings: Settings) -> Seals | None:
    if settings.review_key is None:
        return None
    return Seals(settings.review_key.get_secret_value(), deployment=f"{settings.tenant}/{settings.environment}")


def _role(token: ApiToken) -> Role | None:
    if "decide" in token.rights:
        return Role.ADMIN
    return Role.VIEWER if "read" in token.rights else None


def _check_queues(people: Sequence[Reviewer], policy: Policy) -> None:
    unknown = unknown_queues(people, policy.queues)
    if unknown:
        raise ConfigurationRefused(
            f"LEADPROOF_REVIEWERS names queues that the policy does not have: {', '.join(unknown)}; it has "
            f"{', '.join(sorted(policy.queues))}"
        )


def _spent() -> Problem:
    return Problem(
        403,
        "link",
        "This link no longer works",
        "it was used before, is older than ten minutes, or was not copied whole; ask whoever runs Leadproof for "
        f"another ({_THEY})",
    )
