"""What an answer or an error of the Messages API means: the one table, and one sentence each for whoever has to act.

Words of the API are not repeated, since they may quote the request; its names of error types decide, its wording never.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from anthropic import (
    APIConnectionError,
    APIResponseValidationError,
    APIStatusError,
    APITimeoutError,
    CredentialsError,
)
from anthropic.types import Message

from leadproof.deadline import Exchange
from leadproof.domain.errors import LeadproofError, MalformedPlan, PlannerRefused, PlannerUnavailable

LONGEST_WAIT: Final = 300.0
"""Most seconds that an answer can make us wait before it is asked again."""

_KEY: Final = {
    "anthropic": "LEADPROOF_ANTHROPIC_API_KEY",
    "bedrock": "the AWS credentials",
    "vertex": "the Google credentials",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a sentence may name of a question.

    Attributes:
        where: the table of the policy that names the model.
        seconds: the total deadline of the call.
    """

    model: str
    where: str = "[claude]"
    max_tokens: int = 0
    seconds: float = 0
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one answer says.

    Attributes:
        says: the sentence, with the names of `Asked`, `key`, `status` and `fault` in braces.
        again: asking again may bring a plan.
        wait: seconds to wait where the answer itself names none.
    """

    says: str
    again: bool = False
    wait: float | None = None


def _refused(says: str) -> Meaning:
    return Meaning(says)


def _again(says: str, wait: float | None = None) -> Meaning:
    return Meaning(says, again=True, wait=wait)


_INVALID: Final = _refused(
    "the Messages API takes the request for {model} as invalid (HTTP {status}); see whether this model can give "
    "structured answers at the effort that [claude] of the policy names"
)
_UNPAID: Final = _refused(
    "the account behind {key} cannot pay for {model}; buy credit, then have the event planned again"
)
_SPENT: Final = _refused(
    "the account behind {key} has reached its spending limit; raise the limit, then have the event planned again"
)
_BUSY: Final = _again("{model} is overloaded (HTTP {status})", 15)
_FAILED: Final = _again("the Messages API failed (HTTP {status})")
_FOREIGN: Final = _refused(
    "something that is not the Messages API refused the request (HTTP {status}); look at LEADPROOF_ANTHROPIC_BASE_URL "
    "and at what stands in between"
)
_UNREADABLE: Final = _again("what answered in place of {model} cannot be read as the Messages API's answer")
_LATE: Final = _again("{model} gave no complete answer within {seconds:g} s")
_UNREACHABLE: Final = _again("the Messages API cannot be reached, or the connection was lost")
_NO_CREDENTIALS: Final = _refused("there are no usable credentials for {model}; look at {key}, then restart the worker")
_BROKEN: Final = _refused(
    "the client library cannot ask {model} ({fault}); look at the LEADPROOF_ANTHROPIC settings of this worker"
)

BY_CODE: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "contract_spend_limit_reached": _SPENT,
        "enforced_spend_limit_reached": _SPENT,
        "linked_organization_spend_limit_reached": _SPENT,
        "linked_organization_billing_unavailable": _UNPAID,
        "organization_on_hold": _refused(
            "Anthropic has put the organization behind {key} on hold; ask Anthropic's support to lift it"
        ),
        "ramp_limit_exceeded": _again("the use of {model} grows faster than its account allows", 30),
    }
)
"""By `error.details.error_code`: stable names of a cause (the client library's `types/shared`, 2.14)."""

BY_TYPE: Final[Mapping[str, Meaning]] = MappingProxyType({"billing_error": _UNPAID})
"""By `error.type`, where it says more than the status."""

BY_STATUS: Final[Mapping[int, Meaning]] = MappingProxyType(
    {
        400: _INVALID,
        401: _refused("{key} is not accepted; set a valid one and restart the worker"),
        402: _UNPAID,
        403: _refused(
            "{key} may not use {model}; allow it there, or name another `model` in {where} of a new policy version"
        ),
        404: _refused(
            "there is no model {model} (retired, or misspelt); name another `model` in {where} of a new policy version"
        ),
        408: _FAILED,
        409: _FAILED,
        413: _refused("the lead is larger than the Messages API takes; list fewer fields under `shows` in [claude]"),
        422: _INVALID,
        425: _FAILED,
        429: _again("{model} is asked more often than its account allows", 15),
        499: _FAILED,
        503: _BUSY,
        504: _FAILED,
        529: _BUSY,
    }
)
"""By HTTP status (https://platform.claude.com/docs/en/api/errors); another 5xx failed, anything else is refused."""

STOPS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "refusal": _refused("{model} declined to plan this lead; a person decides what is done with it"),
        "max_tokens": _refused(
            "the answer of {model} was cut off at {max_tokens} tokens; raise `max_tokens` in [claude] of a new policy "
            "version"
        ),
        "model_context_window_exceeded": _refused(
            "the lead is larger than {model} can read; list fewer fields under `shows` in [claude] of a new policy "
            "version"
        ),
    }
)
"""By `stop_reason`; only `end_turn` brings a plan."""

_OTHER_STOP: Final = _refused("{model} stopped for a reason that nobody asked for; have the event planned again")

LOW_CREDIT: Final = "credit balance"
"""How a 400 tells of an empty account (observed); a hint for the sentence only, it is refused either way."""


def message_of(exchange: Exchange[object], asked: Asked) -> Message:
    """The message of a call whose answer is complete and ended as it should.

    Raises:
        PlannerUnavailable: asking again may bring one.
        PlannerRefused, MalformedPlan: it would not.
    """
    value = exchange.value
    if isinstance(value, Message) and not exchange.late:
        stopped = getattr(value, "stop_reason", None)
        if stopped == "end_turn":
            return value
        if isinstance(stopped, str) and stopped in STOPS:
            raise PlannerRefused(_said(STOPS[stopped], asked))
        raise MalformedPlan(_said(_OTHER_STOP, asked))
    raise failure_of(exchange, asked)


def failure_of(exchange: Exchange[object], asked: Asked) -> LeadproofError:
    """The error to raise for a call that brought no message."""
    meaning, error = _meaning(exchange, asked.provider), _answered(exchange)
    if not meaning.again:
        return PlannerRefused(_said(meaning, asked, error))
    told = retry_after(error.response.headers) if isinstance(error, APIStatusError) else None
    wait = told if told is not None else meaning.wait
    return PlannerUnavailable(f"{_said(meaning, asked, error)}; it is asked again", wait)


def told_of(exchange: Exchange[object], asked: Asked) -> str:
    """One sentence on a call that brought nothing usable."""
    return _said(_meaning(exchange, asked.provider), asked, _answered(exchange))


def no_such_model(asked: Asked) -> str:
    """One sentence on a model that cannot be asked any more."""
    return _said(BY_STATUS[404], asked)


def text_of(message: Message) -> str:
    """The first text of a message; thinking that stands before it is passed over.

    Raises:
        MalformedPlan: there is none.
    """
    content: object = message.content  # the library gives whatever stood there
    for block in content if isinstance(content, list) else ():
        text = getattr(block, "text", None)
        if getattr(block, "type", None) == "text" and isinstance(text, str):
            return text
    raise MalformedPlan("the model's answer has no text; have the event planned again")


def meaning_of(error: APIStatusError, provider: str = "anthropic") -> Meaning:
    """What an answer says that is no success."""
    found = BY_CODE.get(error.error_code or "") or BY_TYPE.get(str(error.type))
    if found is not None:
        return found
    status = error.status_code
    if status < 400:
        return _FOREIGN  # a redirect, which is not followed
    if status == 400 and isinstance(error.api_message, str) and LOW_CREDIT in error.api_message:
        return _UNPAID
    listed = BY_STATUS.get(status) or (_FAILED if status >= 500 else _INVALID)
    if not listed.again and error.type is None and provider == "anthropic":
        return _FOREIGN  # without the API's own envelope it is anybody's: a proxy, or another address
    return listed


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks us to wait, at most `LONGEST_WAIT`; `None` where it asks for none or in no number."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_WAIT) if math.isfinite(seconds) and seconds >= 0 else None


def _answered(exchange: Exchange[object]) -> Exception | None:
    return exchange.value if isinstance(exchange.value, Exception) and not exchange.late else None


def _meaning(exchange: Exchange[object], provider: str) -> Meaning:
    if exchange.late:
        return _LATE if exchange.sent else _UNREACHABLE
    error = exchange.value
    if exchange.fault is not None or isinstance(error, APIConnectionError):
        return _LATE if isinstance(error, APITimeoutError) else _UNREACHABLE
    if isinstance(error, APIStatusError):
        return meaning_of(error, provider)
    unreadable = APIResponseValidationError | json.JSONDecodeError | UnicodeDecodeError
    if isinstance(error, unreadable) or not isinstance(error, Exception):
        return _UNREADABLE
    if isinstance(error, CredentialsError) or "Credential" in type(error).__name__:
        return _NO_CREDENTIALS
    return _BROKEN


def _said(meaning: Meaning, asked: Asked, error: Exception | None = None) -> str:
    answer = error if isinstance(error, APIStatusError) else None
    says = meaning.says.format(
        model=asked.model,
        where=asked.where,
        max_tokens=asked.max_tokens,
        seconds=asked.seconds,
        key=_KEY[asked.provider],
        status=answer.status_code if answer is not None else None,
        fault=type(error).__name__,
    )
    told = answer.request_id if answer is not None else None
    request = f" (request {told})" if told is not None and re.fullmatch(r"[A-Za-z0-9_-]{1,60}", told) else ""
    return says + request
