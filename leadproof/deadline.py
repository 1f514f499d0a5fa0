"""The total deadline of a call: whatever the other side does, the caller goes on in time and knows whether a byte left.

A read time-out does not end a call, since every byte of a trickling server starts it anew, and the resolver has no
time-out at all. So each call runs on a thread of its own and is abandoned when its time is over: its connection is shut
down, which ends the thread, and a gate in front of the socket keeps an abandoned call from sending anything later.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class TooLate(Exception):
    """The call was given up before its first byte left; nothing may be sent any more."""


class Deadline:
    """A moment on the monotonic clock, for several calls that share one budget."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def remaining(self) -> float:
        return max(0.0, self._until - time.monotonic())


@dataclass(frozen=True, slots=True)
class Response:
    """An answer that arrived completely."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Exchange(Generic[T]):
    """One call, as far as it is known when the caller goes on.

    Attributes:
        sent: the first byte of the request left; where it did not, it never will.
        late: the deadline passed before the call was over.
        status: the HTTP status, as soon as it arrived.
        response: the answer, where it arrived completely.
        value: what the client library made of it.
        fault: name of the error type that ended the call; no message, since messages hold field values.
    """

    sent: bool
    late: bool
    status: int | None = None
    response: Response | None = None
    value: T | None = None
    fault: str | None = None


class Call(Generic[T]):
    """One call on its own thread. The transport tells it what happens on the wire."""

    def __init__(self, work: Callable[[], T], *, connect_timeout: float, timeout: float) -> None:
        started = time.monotonic()
        self._work = work
        self._send_until = started + min(connect_timeout, timeout)
        self._until = started + timeout
        self._changed = threading.Condition()
        self._sent = self._over = self._given_up = False
        self._socket: socket.socket | None = None
        self._status: int | None = None
        self._response: Response | None = None
        self._value: T | None = None
        self._fault: str | None = None

    def exchange(self) -> Exchange[T]:
        """Run the call and wait for its end, for the end of the time to connect, or for the deadline."""
        try:
            threading.Thread(target=self._run, name="client-call", daemon=True).start()
        except RuntimeError as error:  # the machine has no thread left
            return Exchange(sent=False, late=False, fault=type(error).__name__)
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._over or self._sent, self._send_until - time.monotonic())
                if self._sent:
                    self._changed.wait_for(lambda: self._over, self._until - time.monotonic())
                late = not self._over
                self._given_up = True
                return Exchange(self._sent, late, self._status, self._response, self._value, self._fault)
        finally:
            self._give_up()

    def seconds_to_connect(self) -> float:
        return self._send_until - time.monotonic()

    def seconds_left(self) -> float:
        return self._until - time.monotonic()

    def sending(self, connection: socket.socket) -> None:
        """Pass the gate; called before every byte.

        Raises:
            TooLate: the caller has gone on, or the time to connect is over.
        """
        with self._changed:
            if self._given_up or (not self._sent and self.seconds_to_connect() <= 0):
                raise TooLate
            self._sent = True
            self._socket = connection
            self._changed.notify_all()

    def released(self) -> None:
        """The connection goes back to its pool: from now on it may carry another call and is not ours to shut down."""
        with self._changed:
            self._socket = None

    def status_arrived(self, status: int) -> None:
        with self._changed:
            self._status = status

    def answered(self, response: Response) -> None:
        with self._changed:
            self._response = response

    def _run(self) -> None:
        _here.call = self
        value, fault = None, None
        try:
            value = self._work()
        except BaseException as error:  # whatever ends the thread, the waiting caller has to be told
            fault = type(error).__name__
        with self._changed:
            self._value, self._fault, self._over = value, fault, True
            self._changed.notify_all()

    def _give_up(self) -> None:
        with self._changed:
            self._given_up = True
            if self._socket is None or self._over:
                return
            try:
                # not SSLSocket.shutdown, which drops the TLS state under the thread that is reading with it
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                return


class _Here(threading.local):
    call: Call[Any] | None = None


_here = _Here()


def current_call() -> Call[Any]:
    """The call that this thread runs.

    Raises:
        TooLate: it runs none, so nothing limits what it is about to do.
    """
    if _here.call is None:
        raise TooLate
    return _here.call
