"""Our session with Salesforce: one access token for all threads, renewed by one of them at a time."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from leadproof.crm.answers import SALESFORCE_SIGN_IN, lost, retry_after
from leadproof.deadline import Deadline, Exchange, Response
from leadproof.domain.errors import MalformedValue
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.salesforce_ids import salesforce_id

QUIET_AFTER_A_REFUSAL: Final = 30.0
"""Seconds without a further sign-in, for all threads, after one that was refused or brought a token that was refused
too: a storm of sign-ins locks the user out."""

QUIET_AFTER_A_LOSS: Final = 1.0
_CODE = re.compile(r"[a-z][a-z0-9_]{1,79}")
_IDENTITY = re.compile(r"/id/(?P<organization>[A-Za-z0-9]{15,18})/(?P<user>[A-Za-z0-9]{15,18})/?$")


@dataclass(frozen=True)
class Session:
    """A token in use; never changed, a renewed one is another session.

    Attributes:
        client: the client library with this token in it.
        user_id: of the user whose writes ours are.
        organization_id: of the org that let us in.
    """

    client: Any
    user_id: str
    organization_id: str


class Sessions:
    """Gives out the session that holds.

    Args:
        ask: asks for a token; one request at most.
        make: the client library with a token in it.
        is_ours: whether an instance address of a token answer is the configured one.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        ask: Callable[[Deadline, Deadline], Exchange[Any]],
        make: Callable[[str], Any],
        is_ours: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._make = make
        self._is_ours = is_ours
        self._clock = clock
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._taken: Session | None = None
        self._maker: int | None = None  # the thread whose call the session was made for
        self._quiet_until = -1.0
        self._why: Answer | None = None

    @property
    def present(self) -> Session | None:
        return self._session

    def current(self, deadline: Deadline, leaves_by: Deadline) -> Session | Answer:
        """The session that holds; the first caller signs in, and the others wait for it.

        Returns:
            Or the answer that stands in the way: the sign-in was refused, or not even sent.
        """
        session = self._session or self._sign_in(None, deadline, leaves_by)
        return session or Answer(outcome=AnswerClass.NOT_SENT, detail="nothing was sent: there is no session")

    def renewed(self, refused: Session, deadline: Deadline, leaves_by: Deadline) -> Session | Answer | None:
        """A session in the place of one whose token was refused.

        Returns:
            `None` where signing in again did not help a moment ago.
        """
        return self._sign_in(refused, deadline, leaves_by)

    def taken(self, session: Session) -> None:
        """The token of a session was taken."""
        self._taken = session

    def refused_again(self, session: Session) -> None:
        """The token of a renewed session was refused too: where it never was taken, or was renewed for this very call,
        renewing it does not help. Other calls may well be let in with it."""
        with self._lock:
            ours = self._maker == threading.get_ident()
            if self._session is session and (ours or self._taken is not session):
                self._quiet_until, self._why = self._clock() + QUIET_AFTER_A_REFUSAL, None

    def _sign_in(self, refused: Session | None, deadline: Deadline, leaves_by: Deadline) -> Session | Answer | None:
        if not self._lock.acquire(timeout=min(deadline.remaining(), leaves_by.remaining())):
            return Answer(outcome=AnswerClass.NOT_SENT, detail="nothing was sent: another call was still signing in")
        try:
            if self._session is not None and self._session is not refused:
                return self._session
            if self._clock() < self._quiet_until:
                return self._why
            answer = self._read(self._ask(deadline, leaves_by))
            if isinstance(answer, Session):
                self._session, self._maker = answer, threading.get_ident()
                return answer
            refuses = answer.outcome is AnswerClass.REFUSES_US
            self._session = None if refuses else self._session
            self._why = answer
            self._quiet_until = self._clock() + (QUIET_AFTER_A_REFUSAL if refuses else QUIET_AFTER_A_LOSS)
            return answer
        finally:
            self._lock.release()

    def _read(self, exchange: Exchange[Any]) -> Session | Answer:
        nothing, response = lost(exchange), exchange.response
        if nothing is not None or response is None:
            why = (nothing.detail if nothing else None) or "no answer"
            return Answer(outcome=AnswerClass.NOT_SENT, detail=f"signing in brought no token: {why}")
        try:
            body = json.loads(response.body)
        except (ValueError, RecursionError):
            body = None
        body = body if isinstance(body, dict) else {}
        if response.status != 200:
            return _refusal(response, body)
        token, identity = body.get("access_token"), _IDENTITY.search(str(body.get("id")))
        if not isinstance(token, str) or not token or identity is None:
            return Answer(outcome=AnswerClass.NOT_SENT, detail="signing in brought a success without a token in it")
        if not self._is_ours(str(body.get("instance_url"))):
            return Answer(
                outcome=AnswerClass.REFUSES_US,
                code="FOREIGN_INSTANCE",
                detail="signing in brought a token for another address than the configured one",
            )
        try:
            user_id = salesforce_id(identity["user"], prefix="005")
            organization_id = salesforce_id(identity["organization"], prefix="00D")
        except MalformedValue:
            return Answer(outcome=AnswerClass.NOT_SENT, detail="signing in brought a token of nobody")
        return Session(self._make(token), user_id, organization_id)


def _refusal(response: Response, body: dict[str, Any]) -> Answer:
    said = str(body.get("error"))
    codes = (said,) if _CODE.fullmatch(said) and "error" in body else ()
    meaning = SALESFORCE_SIGN_IN.meaning(codes, response.status, readable=bool(codes))
    refuses = meaning.outcome is AnswerClass.REFUSES_US
    told = retry_after(response.headers)
    return Answer(
        outcome=AnswerClass.REFUSES_US if refuses else AnswerClass.NOT_SENT,
        http_status=response.status,
        code=codes[0] if codes else f"HTTP_{response.status}",
        detail="signing in was refused" if refuses else "nothing was sent: signing in brought no token",
        retry_after_seconds=meaning.wait if told is None else told,
    )
