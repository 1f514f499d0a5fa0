"""HubSpot, asked patiently: what an answer of it says about asking again, and the pace of its search."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from leadproof.crm import hubspot_refusal
from leadproof.crm.answers import lost
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.patience import PATIENCE, PAUSES, Gone, Heard, NotHeard, Patience, refused
from leadproof.deadline import Deadline, Response

T = TypeVar("T")

SEARCH_SPACING: Final = 0.25
"""HubSpot allows an account five searches a second, whoever makes them."""


class PatientQuestions:
    """Asks, waits and asks again. For one caller at a time.

    Args:
        client: HubSpot's client library, without its habits.
        call_timeout: total deadline in seconds of one request.
        pauses, patience: as for `Patience`.
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
        self._patience = Patience("HubSpot", pauses=pauses, patience=patience)
        self._search_spacing = search_spacing
        self._searched_at: float | None = None

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

        def once() -> Heard[T] | NotHeard:
            exchange = self.client.call(method, *args, deadline=Deadline(self._call_timeout), **asked)
            response = exchange.response
            if response is None:
                nothing = lost(exchange)
                return NotHeard(
                    f"HubSpot cannot be reached: {nothing.detail if nothing else 'no answer'}", answered=False
                )
            if not 200 <= response.status < 300:
                return _refused(response)
            fault = exchange.fault
            if fault is None:
                try:
                    return Heard(read(exchange.value, response))
                except Exception as error:  # the models promise nothing about a body that is not what it should be
                    fault = type(error).__name__
            return NotHeard(f"what HubSpot answered could not be used ({fault})")

        return self._patience.hear(once)

    def search(self, query: dict[str, Any], read: Callable[[Any, Response], T]) -> T:
        """Search contacts, at the pace that HubSpot allows.

        Raises:
            ConfigurationRefused: as for `ask`.
        """
        if self._searched_at is not None:
            self._patience.wait(self._searched_at + self._search_spacing - time.monotonic())
        self._searched_at = time.monotonic()
        return self.ask(self.client.searches.do_search, read, query)

    def close(self) -> None:
        """Close the idle connections and end every wait."""
        self._patience.end()
        self.client.close()


def _refused(response: Response) -> NotHeard:
    """What HubSpot said, and how long it asks us to wait.

    Raises:
        Gone: there is no such record.
        ConfigurationRefused: asking again would not help.
    """
    refusal = hubspot_refusal.of_response(response, ())
    if response.status == 404 and "OBJECT_NOT_FOUND" in refusal.codes:
        raise Gone
    return refused("HubSpot", response, refusal.codes, refusal.meaning(response.status))
