"""Salesforce's client library, held so that none of its habits reaches us.

Kept: its paths, its serialisation, its quoting. Taken away: sign-ins of its own (it repeats a request without our
headers, and without end), redirects, cookies, missing time-outs, addresses other than the configured one. The import
costs 1.5 s and 40 MB, so nothing but this module imports the library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from simple_salesforce.api import Salesforce
from simple_salesforce.format import format_external_id, format_soql

from leadproof.crm.salesforce_budget import SHARE, Budget, Pace
from leadproof.crm.salesforce_session import Session, Sessions
from leadproof.crm.salesforce_sign_in import SIGN_IN_PATH, SignIn
from leadproof.crm.salesforce_transport import Address, OneHostSession
from leadproof.deadline import Call, Deadline, Exchange, Response
from leadproof.domain.mutation import Answer, AnswerClass

__all__ = ["SalesforceClient", "format_external_id", "format_soql"]

T = TypeVar("T")

USER_AGENT: Final = "leadproof"
_CALL_OPTIONS: Final = "client=leadproof"
_SPACED_AT_MOST: Final = 0.25
"""The part of a call's time that it may wait for its turn."""


class SalesforceClient:
    """The client library over one transport and one session. Threads may share it.

    What makes that safe: the library changes its own headers only when it signs in by itself, and given a token it has
    nothing to sign in with. Each token has a `Salesforce` of its own that is never changed, a renewed token gets
    another one, and a call in progress keeps the one that it began with. The session of `requests` that all of them
    share is never changed either.

    Args:
        url: `https://NAME.my.salesforce.com`; plain http for a sandbox on this machine.
        sign_in: what is sent to get a token.
        version: of the REST API, as in `62.0`.
        connect_timeout: seconds within which a request has begun to leave, or never leaves.
        share: the part of the org's daily calls from which on ours are spaced.

    Raises:
        ConfigurationRefused: the address is none.
    """

    def __init__(
        self, *, url: str, sign_in: SignIn, version: str, connect_timeout: float, share: float = SHARE
    ) -> None:
        self._address = Address(url)
        self._sign_in = sign_in
        self._version = version
        self._connect_timeout = connect_timeout
        self._pace = Pace(share)
        self._closed = threading.Event()
        self._http = OneHostSession(self._address)
        self._http.headers.update({"User-Agent": USER_AGENT, "Sforce-Call-Options": _CALL_OPTIONS})
        self._sessions = Sessions(self._ask_for_token, self._with_token, self._address.is_same)

    @property
    def address(self) -> str:
        return self._address.configured

    @property
    def user_id(self) -> str | None:
        """Of the user whose writes ours are; `None` before we were let in."""
        session = self._sessions.present
        return session.user_id if session is not None else None

    def budget(self) -> Budget:
        return self._pace.budget()

    def session(self, deadline: Deadline) -> Session | Answer:
        """Who we are in which org: signs in where nobody did."""
        return self._sessions.current(deadline, Deadline(self._connect_timeout))

    def call(
        self,
        work: Callable[[Salesforce], T],
        deadline: Deadline,
        *,
        leaves_by: Deadline | None = None,
        spaced: bool = True,
        writes: bool = False,
    ) -> Exchange[T] | Answer:
        """Make one request, over before the deadline. Never raises.

        It is made twice only where the session was refused, which says that the first one was not applied; with every
        header again. A write is quiet a known time after its beginning, so the first byte of whatever leaves has left
        by `leaves_by`: after the wait for a turn, a sign-in, and a refused session too.

        Args:
            work: calls one method of the client library, one that makes one request.
            leaves_by: when the time to connect ends; by default it begins now.
            spaced: whether it waits for its turn where few of the org's calls are left. What is asked about the org
                itself does not: it is asked seldom, and without it no worker starts.
            writes: it writes, and goes at once. What is written was read before, which waited for a turn; if the write
                waited for the next one, too, the time to send would be over first and nothing would ever be written.

        Returns:
            What is known of the exchange; or an answer that stands in its place, since the request was never sent.
        """
        leaves_by = leaves_by or Deadline(self._connect_timeout)
        held = self._wait_for_turn(deadline, leaves_by) if spaced and not writes else None
        if writes:
            self._pace.went()
        if held is not None:
            return held
        session = self._sessions.current(deadline, leaves_by)
        if isinstance(session, Answer):
            return session
        exchange = self._once(session, work, deadline, leaves_by)
        if not _session_refused(exchange.response):
            return exchange
        renewed = self._sessions.renewed(session, deadline, leaves_by)
        if renewed is None:
            return exchange
        if isinstance(renewed, Answer):
            return renewed
        again = self._once(renewed, work, deadline, leaves_by)
        if _session_refused(again.response):
            self._sessions.refused_again(renewed)
        return again

    def query(self, soql: str, deadline: Deadline) -> Exchange[Any] | Answer:
        """Ask for the first page of records, deleted ones included."""
        return self.call(lambda salesforce: salesforce.query(soql, include_deleted=True), deadline)

    def about_the_org(self, soql: str, deadline: Deadline) -> Exchange[Any] | Answer:
        """Ask for the first page of what is no record, which is never deleted either; never held back."""
        return self.call(lambda salesforce: salesforce.query(soql), deadline, spaced=False)

    def definition(self, name: str, deadline: Deadline) -> Exchange[Any] | Answer:
        """Ask for the description of an object; never held back."""
        return self.call(lambda salesforce: salesforce.restful(f"sobjects/{name}/describe"), deadline, spaced=False)

    def close(self) -> None:
        """Close the idle connections and end every wait."""
        self._closed.set()
        self._http.close()

    def _wait_for_turn(self, deadline: Deadline, leaves_by: Deadline) -> Answer | None:
        most = _SPACED_AT_MOST * min(deadline.remaining(), leaves_by.remaining())
        taken, wait = self._pace.turn(most)
        if not taken:
            return Answer(
                outcome=AnswerClass.NOT_SENT,
                code="CALLS_ARE_SPACED",
                detail="nothing was sent: few of the org's calls of today are left, so calls are spaced",
                retry_after_seconds=wait,
            )
        if wait > 0:
            self._closed.wait(wait)
        return None

    def _once(
        self, session: Session, work: Callable[[Salesforce], T], deadline: Deadline, leaves_by: Deadline
    ) -> Exchange[T]:
        exchange = Call(
            lambda: work(session.client), connect_timeout=leaves_by.remaining(), timeout=deadline.remaining()
        ).exchange()
        if exchange.response is not None:
            self._pace.heard(exchange.response.headers)
            if not _session_refused(exchange.response):
                self._sessions.taken(session)
        return exchange

    def _ask_for_token(self, deadline: Deadline, leaves_by: Deadline) -> Exchange[Any]:
        def work() -> Any:
            return self._http.post(
                f"{self._address.told}{SIGN_IN_PATH}", data=self._sign_in.form(), auth=self._sign_in.basic()
            )

        return Call(work, connect_timeout=leaves_by.remaining(), timeout=deadline.remaining()).exchange()

    def _with_token(self, token: str) -> Salesforce:
        return Salesforce(session_id=token, instance_url=self._address.told, session=self._http, version=self._version)


def _session_refused(response: Response | None) -> bool:
    """Whether the answer says that the token is no longer taken, so that nothing was done."""
    if response is None:
        return False
    return response.status == 401 or (response.status == 403 and b"INVALID_SESSION_ID" in response.body)
