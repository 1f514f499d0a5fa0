"""The one table of what an answer to a write means: the provider's own codes decide, the HTTP status comes last.

Each provider has a `Table`; its adapter only extracts the codes from the answer, most telling first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from leadproof.deadline import Exchange
from leadproof.domain.mutation import Answer, AnswerClass

LONGEST_WAIT: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one code or status says.

    Attributes:
        wait: seconds to wait where the answer itself names none.
        read_first: "already exists": an answer to *read*, not an error.
    """

    outcome: AnswerClass
    wait: float | None = None
    read_first: bool = False


_REFUSES_US: Final = Meaning(AnswerClass.REFUSES_US)
_REFUSES_THIS: Final = Meaning(AnswerClass.REFUSES_THIS)
_EXISTS: Final = Meaning(AnswerClass.REFUSES_THIS, read_first=True)
_UNCERTAIN: Final = Meaning(AnswerClass.UNCERTAIN)


def _not_applied(wait: float) -> Meaning:
    return Meaning(AnswerClass.NOT_APPLIED, wait=wait)


@dataclass(frozen=True, slots=True)
class Table:
    """A provider's codes and statuses.

    Attributes:
        by_code: the provider's words; the first code of an answer that is listed decides.
        by_status: for an answer without a listed code.
        readable_4xx: any other 4xx in the provider's own error format. One in another format may come from anything
            that stands in between, and is uncertain like everything else.
    """

    by_code: Mapping[str, Meaning]
    by_status: Mapping[int, Meaning]
    readable_4xx: Meaning

    def meaning(self, codes: Sequence[str], status: int | None, *, readable: bool) -> Meaning:
        """What an answer means that is no success.

        Args:
            codes: the provider's codes in the answer, most telling first.
            status: HTTP status; `None` for a row of a batch answer, which has none of its own.
            readable: the body is in the provider's own error format.
        """
        for code in codes:
            if code in self.by_code:
                return self.by_code[code]
        if status is None:
            return _UNCERTAIN
        if status in self.by_status:
            return self.by_status[status]
        return self.readable_4xx if readable and 400 <= status < 500 else _UNCERTAIN


UNIQUE_VALUE_TAKEN: Final = "PropertyValueCoordinates"
"""HubSpot's word for a unique value that another record holds; it comes as a VALIDATION_ERROR that names two ids, of
which the first is the half-made record: neither is ever used."""

OUR_PROPERTY_MISSING: Final = "PROPERTY_DOESNT_EXIST:ours"
"""The marker or external-id property is missing: the account is not set up, which says nothing about a lead."""

HUBSPOT: Final = Table(
    by_code=MappingProxyType(
        {
            UNIQUE_VALUE_TAKEN: _EXISTS,
            OUR_PROPERTY_MISSING: _REFUSES_US,
            # policyName of a 429; no Retry-After is documented, the waits are those of HubSpot's own Node client
            "DAILY": _REFUSES_US,
            "TEN_SECONDLY_ROLLING": _not_applied(10),
            "SECONDLY": _not_applied(1),
            # errors[].code
            "PROPERTY_DOESNT_EXIST": _REFUSES_THIS,
            "READ_ONLY_VALUE": _REFUSES_THIS,
            "INVALID_OPTION": _REFUSES_THIS,
            "INVALID_DATE": _REFUSES_THIS,
            "INVALID_EMAIL": _REFUSES_THIS,
            "INVALID_INTEGER": _REFUSES_THIS,
            "INVALID_OWNER": _REFUSES_THIS,
            # enforced from API version 2026-09 on: an administrator's validation rules
            "MISSING_CONDITIONAL_REQUIRED_PROPERTY": _REFUSES_THIS,
            "MISSING_REQUIRED_PROPERTY": _REFUSES_THIS,
            # category
            "MISSING_SCOPES": _REFUSES_US,
            "INVALID_AUTHENTICATION": _REFUSES_US,
            "EXPIRED_AUTHENTICATION": _REFUSES_US,
            "RATE_LIMITS": _not_applied(10),
            "RATE_LIMIT": _not_applied(10),
            "CONFLICT": _EXISTS,
            "OBJECT_ALREADY_EXISTS": _EXISTS,
            "OBJECT_NOT_FOUND": _REFUSES_THIS,
            "VALIDATION_ERROR": _REFUSES_THIS,
        }
    ),
    by_status=MappingProxyType(
        {
            # a request that is sent elsewhere was not carried out here; 302 and 303 may follow a carried-out one
            301: _REFUSES_US,
            307: _REFUSES_US,
            308: _REFUSES_US,
            401: _REFUSES_US,
            402: _REFUSES_US,
            403: _REFUSES_US,
            404: _REFUSES_US,  # a record that is gone says OBJECT_NOT_FOUND; without it the endpoint is gone
            405: _REFUSES_US,
            407: _REFUSES_US,
            408: _UNCERTAIN,
            409: _EXISTS,
            410: _REFUSES_US,
            423: _not_applied(2),
            425: _not_applied(1),
            426: _REFUSES_US,
            429: _not_applied(10),
            477: _not_applied(60),  # the account is being migrated; Retry-After says for how long, up to a day
        }
    ),
    readable_4xx=_REFUSES_THIS,
)
"""HubSpot, by its error-handling page and the bodies seen of it."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer asks us to wait; `None` where it asks for none or in no number."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_WAIT) if math.isfinite(seconds) and seconds >= 0 else None


def lost(exchange: Exchange[object]) -> Answer | None:
    """The answer to a write of which no complete answer arrived; `None` where one did."""
    if not exchange.sent:
        why = "the time to connect was over" if exchange.late else f"refused before it was sent ({exchange.fault})"
        return Answer(outcome=AnswerClass.NOT_SENT, detail=f"nothing was sent: {why}")
    if exchange.response is None:
        why = "the deadline passed" if exchange.late else f"the connection failed ({exchange.fault})"
        return Answer(
            outcome=AnswerClass.UNCERTAIN,
            http_status=exchange.status,
            detail=f"it was sent and no complete answer arrived: {why}",
        )
    return None
