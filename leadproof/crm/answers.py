"""The one table of what an answer to a write means: the provider's own codes decide, the HTTP status comes last.

Each provider has a `Table`; its adapter only extracts the codes from the answer, most telling first.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from leadproof.deadline import Exchange
from leadproof.domain.mutation import Answer, AnswerClass

LONGEST_WAIT: Final = 86_400.0
_CHANCE: Final = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one code or status says.

    Attributes:
        wait: seconds to wait where the answer itself names none.
        read_first: "already exists": an answer to *read*, not an error.
        jittered: the wait is drawn from once to twice as long, since those who met once would meet again.
    """

    outcome: AnswerClass
    wait: float | None = None
    read_first: bool = False
    jittered: bool = False

    def seconds(self) -> float | None:
        """How long to wait."""
        return self.wait * _CHANCE.uniform(1, 2) if self.wait is not None and self.jittered else self.wait


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

OUR_FIELD_UNUSABLE: Final = "INVALID_FIELD:ours"
"""The marker or external-id field is missing, hidden from us or too short: the org is not set up for us."""

TOO_MANY_AT_ONCE: Final = "REQUEST_LIMIT_EXCEEDED:concurrent"
"""Requests that run long, and not the daily number: the same code, told apart by its message only."""

SALESFORCE: Final = Table(
    by_code=MappingProxyType(
        {
            OUR_FIELD_UNUSABLE: _REFUSES_US,
            TOO_MANY_AT_ONCE: _UNCERTAIN,
            "INVALID_SESSION_ID": _REFUSES_US,  # after one re-authentication; a session policy can give it for ever
            "REQUEST_LIMIT_EXCEEDED": _REFUSES_US,
            "API_DISABLED_FOR_ORG": _REFUSES_US,
            "API_CURRENTLY_DISABLED": _REFUSES_US,
            "INVALID_TYPE": _REFUSES_US,  # the object is hidden from our user
            "INSUFFICIENT_ACCESS_OR_READONLY": _REFUSES_THIS,
            "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY": _REFUSES_THIS,
            # its text holds the other record's id, of 15 characters or none: the key is read and never that id
            "DUPLICATE_VALUE": _EXISTS,
            "DUPLICATES_DETECTED": _REFUSES_THIS,
            "UNABLE_TO_LOCK_ROW": Meaning(AnswerClass.NOT_APPLIED, wait=1, jittered=True),
            "FIELD_INTEGRITY_EXCEPTION": _REFUSES_THIS,
            "FIELD_CUSTOM_VALIDATION_EXCEPTION": _REFUSES_THIS,
            "REQUIRED_FIELD_MISSING": _REFUSES_THIS,
            "STRING_TOO_LONG": _REFUSES_THIS,
            "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST": _REFUSES_THIS,
            "INVALID_FIELD": _REFUSES_THIS,
            "INVALID_FIELD_FOR_INSERT_UPDATE": _REFUSES_THIS,
            "CANNOT_UPDATE_CONVERTED_LEAD": _REFUSES_THIS,
            "ENTITY_IS_DELETED": _REFUSES_THIS,
            "NOT_FOUND": _REFUSES_THIS,
            "INVALID_CROSS_REFERENCE_KEY": _REFUSES_THIS,
            "INACTIVE_OWNER_OR_USER": _REFUSES_THIS,
            "MALFORMED_ID": _REFUSES_THIS,
            "TXN_SECURITY_NO_ACCESS": _REFUSES_THIS,
            "SERVER_UNAVAILABLE": _UNCERTAIN,
            "UNKNOWN_EXCEPTION": _UNCERTAIN,
        }
    ),
    by_status=MappingProxyType(
        {
            300: _EXISTS,  # several records hold the external id, nothing was written
            301: _REFUSES_US,
            307: _REFUSES_US,
            308: _REFUSES_US,
            401: _REFUSES_US,
            402: _REFUSES_US,
            403: _REFUSES_US,
            404: _REFUSES_US,  # a record that is gone says so in a code; without one the endpoint is gone
            405: _REFUSES_US,
            407: _REFUSES_US,
            408: _UNCERTAIN,
            410: _REFUSES_US,
            412: _not_applied(1),  # the record was changed since it was read: the next attempt reads it again
            423: _not_applied(2),
            425: _not_applied(1),
            426: _REFUSES_US,
            429: _not_applied(10),
        }
    ),
    readable_4xx=_REFUSES_THIS,
)
"""Salesforce, by its documented status and error codes and the bodies seen of it."""

SALESFORCE_SIGN_IN: Final = Table(
    by_code=MappingProxyType({"temporarily_unavailable": _not_applied(10), "server_error": _not_applied(10)}),
    by_status=MappingProxyType(
        {
            **dict.fromkeys((301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410), _REFUSES_US),
            408: _not_applied(1),
            429: _not_applied(10),
        }
    ),
    readable_4xx=_REFUSES_US,
)
"""An answer to signing in (`invalid_grant`, `invalid_client`, ...); no write has left then, whatever it says."""


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
