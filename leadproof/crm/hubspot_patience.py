"""Questions to HubSpot that are worth waiting for: asked again after a lost answer, and when HubSpot asks us to wait.

Reading twice does no harm, and behind a command stands no workflow that would ask again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from leadproof.crm import hubspot_refusal
from leadproof.crm.answers import lost, retry_after
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.deadline import Deadline, Response
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import AnswerClass

T = TypeVar("T")

PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds before a lost answer is asked for again; after the last one it is given up."""

PATIENCE: Final = 120.0
SEARCH_SPACING: Final = 0.25
"""HubSpot allows an account five searches a second, whoever makes them."""

_LEAST_WAIT: Final = 0.1


class Gone(Exception):
    """HubSpot says that the record is not there."""


class PatientQuestions:
    """Asks, waits and asks again. For one caller at a time.

    Args:
        client: HubSpot's client library, without its habits.
        call_timeout: total deadline in seconds of one request.
        pauses: seconds before each further try after a lost answer.
        patience: seconds that may be waited for one answer because HubSpot asks us to wait.
        search_spacing: least seconds between two searches.
    """

    def __init__(
        self,
        client: HubSpotClient,
        *,
        call_timeout: float,
        pauses: Sequence[float] = PAUSES,
        patience: float = PATIENCE,
        search_spacing: float = SEARCH_SPACING,
    ) -> None:
        self.client = client
        self._call_timeout = call_timeout
        self._pauses = tuple(pauses)
        self._patience = patience
        self._search_spacing = search_spacing
        self._searched_at: float | None = None
        self._reached = False
        self._closed = threading.Event()

    def ask(self, method: Callable[..., Any], read: Callable[[Any, Response], T], *args: Any, **asked: Any) -> T:
        """Ask, and read the answer.

        Args:
            method: of one of the client's api objects.
            read: makes what is wanted of the client library's reading and of the answer itself; whatever it raises
                means that the answer is none.

        Raises:
            Gone: there is no such record.
            ConfigurationRefused: HubSpot cannot be reached, refuses us, or answers what cannot be used.
        """
        pauses, waited = iter(self._pauses), 0.0
        while True:
            exchange = self.client.call(method, *args, deadline=Deadline(self._call_timeout), **asked)
            response = exchange.response
            if response is None:
                nothing = lost(exchange)
                why = f"HubSpot cannot be reached: {nothing.detail if nothing else 'no answer'}"
                if not self._reached:  # what never answered is not waited for
                    raise ConfigurationRefused(why)
            elif 200 <= response.status < 300:
                try:
                    if exchange.fault is None:
                        self._reached = True
                        return read(exchange.value, response)
                    fault = exchange.fault
                except Exception as error:  # the models promise nothing about a body that is not what it should be
                    fault = type(error).__name__
                why = f"what HubSpot answered could not be used ({fault})"
            else:
                self._reached = True
                why, wait = _refused(response)
                if wait is not None:
                    waited += wait
                    if waited > self._patience:
                        raise ConfigurationRefused(f"{why} and asks to wait {wait:g} s; run this again later")
                    self._wait(wait)
                    continue
            pause = next(pauses, None)
            if pause is None:
                raise ConfigurationRefused(why)
            self._wait(pause)

    def search(self, query: dict[str, Any], read: Callable[[Any, Response], T]) -> T:
        """Search contacts, at the pace that HubSpot allows.

        Raises:
            ConfigurationRefused: as for `ask`.
        """
        if self._searched_at is not None:
            self._wait(self._searched_at + self._search_spacing - time.monotonic())
        self._searched_at = time.monotonic()
        return self.ask(self.client.searches.do_search, read, query)

    def close(self) -> None:
        """Close the idle connections and end every wait."""
        self._closed.set()
        self.client.close()

    def _wait(self, seconds: float) -> None:
        if self._closed.wait(max(seconds, 0.0)):
            raise ConfigurationRefused("HubSpot was no longer waited for")


def _refused(response: Response) -> tuple[str, float | None]:
    """What HubSpot said, and how long it asks us to wait; `None`: as for a lost answer.

    Raises:
        Gone: there is no such record.
        ConfigurationRefused: asking again would not help.
    """
    refusal = hubspot_refusal.of_response(response, ())
    if response.status == 404 and "OBJECT_NOT_FOUND" in refusal.codes:
        raise Gone
    said = f"{response.status} {refusal.codes[0] if refusal.codes else 'without a reason'}"
    meaning = refusal.meaning(response.status)
    match meaning.outcome:
        case AnswerClass.NOT_APPLIED:
            told = retry_after(response.headers)
            return f"HubSpot answered {said}", max((meaning.wait or 0.0) if told is None else told, _LEAST_WAIT)
        case AnswerClass.REFUSES_US:
            raise ConfigurationRefused(f"HubSpot refuses us: {said}")
        case AnswerClass.REFUSES_THIS:
            raise ConfigurationRefused(f"HubSpot could not be asked: {said}")
    return f"HubSpot answered {said}", None
