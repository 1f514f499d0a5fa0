"""What HubSpot says when it does not do something: its codes, without any value of a field."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from leadproof.crm.answers import HUBSPOT, OUR_PROPERTY_MISSING, UNIQUE_VALUE_TAKEN, Meaning, retry_after
from leadproof.deadline import Response
from leadproof.domain.mutation import Answer

_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,79}")
_PROPERTY = re.compile(r"[a-z][a-z0-9_]{0,99}")
_CORRELATION = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body or an error row of a batch answer.

    Attributes:
        codes: HubSpot's own codes, most telling first.
        detail: codes and property names; messages are left out, since they repeat e-mail addresses.
        readable: the body is in HubSpot's error format.
    """

    codes: tuple[str, ...] = ()
    detail: str = ""
    correlation_id: str | None = None
    readable: bool = False

    def meaning(self, status: int | None) -> Meaning:
        return HUBSPOT.meaning(self.codes, status, readable=self.readable)

    def answer(self, status: int, headers: Mapping[str, str], *, row: bool = False) -> Answer:
        """The class of this refusal.

        Args:
            status: of the whole answer.
            row: this is one row of it, whose meaning the status does not tell.
        """
        meaning = self.meaning(None if row else status)
        told = retry_after(headers)
        return Answer(
            outcome=meaning.outcome,
            http_status=status,
            correlation_id=self.correlation_id or correlation_id(headers),
            code=self.codes[0] if self.codes else f"HTTP_{status}",
            detail=self.detail or None,
            retry_after_seconds=meaning.wait if told is None else told,
            read_first=meaning.read_first,
        )


def correlation_id(headers: Mapping[str, str]) -> str | None:
    return _matching(_CORRELATION, headers.get("X-HubSpot-Correlation-Id"))


def of_response(response: Response, ours: Collection[str]) -> Refusal:
    """Read an answer that is no success.

    Args:
        ours: names of the properties without which we cannot write at all.
    """
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        return Refusal()
    return of_error(body, ours)


def of_error(body: Any, ours: Collection[str]) -> Refusal:
    """Read HubSpot's error object: the body of an answer, or one row of a batch answer's errors."""
    if not isinstance(body, dict) or not (body.get("status") == "error" or body.get("category")):
        return Refusal()
    errors = [error for error in body.get("errors") or () if isinstance(error, dict)]
    named = [(_matching(_CODE, error.get("code")), _properties(error)) for error in errors]
    codes = [
        *_derived(str(body.get("message") or ""), named, ours),
        _matching(_CODE, body.get("policyName")),
        *(code for code, _ in named),
        _matching(_CODE, body.get("category")),
        _matching(_CODE, body.get("errorType")),
    ]
    shown = [f"{code or 'invalid'}: {', '.join(properties)}" if properties else code for code, properties in named]
    return Refusal(
        codes=tuple(dict.fromkeys(code for code in codes if code)),
        detail="; ".join(dict.fromkeys(part for part in shown if part))[:500],
        correlation_id=_matching(_CORRELATION, body.get("correlationId")),
        readable=True,
    )


def _derived(message: str, named: list[tuple[str | None, list[str]]], ours: Collection[str]) -> list[str]:
    """Codes for what HubSpot says in its message only, or what a code says about a property of ours."""
    derived = []
    if UNIQUE_VALUE_TAKEN in message and "already has that value" in message:
        derived.append(UNIQUE_VALUE_TAKEN)
    if any(code == "PROPERTY_DOESNT_EXIST" and set(properties) & set(ours) for code, properties in named):
        derived.append(OUR_PROPERTY_MISSING)
    return derived


def _properties(error: Mapping[str, Any]) -> list[str]:
    context = error.get("context")
    names = context.get("propertyName") if isinstance(context, dict) else None
    return [name for name in names if _matching(_PROPERTY, name)] if isinstance(names, list) else []


def _matching(pattern: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None
