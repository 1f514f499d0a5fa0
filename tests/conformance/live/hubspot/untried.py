"""What of the sandbox's HubSpot nobody tries on a real account, and why."""

from __future__ import annotations

from typing import Final

_NOT_ALONE: Final = "it is about the account's own definitions, which a run does not touch"
_DELIVERY: Final = "it is about deliveries, which need an address that HubSpot reaches"
_FAILURE: Final = "it is about failures, which a real account does not have on demand"

UNTRIED: Final = {
    "a clash with a secondary address": "it needs two creates at one moment, and what comes of it is chance",
    "a person may set the stage backward": "it needs a person",
    "at most 100 inputs": "it needs more records than a run makes",
    "automation is `AUTOMATION_PLATFORM`": "it needs a workflow in the account",
    "search lags": "it is a matter of minutes, and nothing of ours rests on it",
    "search: 200 a page": "it needs more records than a run makes",
    "text compares without case in search": "the search index is late, so that an answer would prove nothing",
    "unique properties: ten at most": _NOT_ALONE,
    "a property name that is taken": _NOT_ALONE,
    "an enumeration is made with options": _NOT_ALONE,
    "one without them, or with two": _NOT_ALONE,
    "creating a property under the name": _NOT_ALONE,
    "archived owner": "it needs the names of people, which a run does not read",
    "what a token may do": "it puts the token into a body",
    "that this call wants the token": "it puts the token into a body",
    "every token has the seed's scopes": "it is a simplification of the sandbox",
    "403 `MISSING_SCOPES`": "it needs a token that may do less",
    "429 with `errorType`": _FAILURE,
    "423, 477": _FAILURE,
    "webhook body": _DELIVERY,
    "`changeFlag` is": _DELIVERY,
    "`primaryObjectId`": _DELIVERY,
    "`objectId` of a merge": _DELIVERY,
    "signatures v1 and v3": _DELIVERY,
    "v3: base64": _DELIVERY,
    "5 s for an answer": _DELIVERY,
    "a retry has a new": _DELIVERY,
    "`associations` are accepted": "it is a simplification of the sandbox",
}
"""Behaviours that no probe tries, by the beginnings of their rows, and why."""
