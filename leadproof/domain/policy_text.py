"""The policy as people write it: TOML read into a `Policy`, every fault refused with its line and one sentence."""

from __future__ import annotations

import hashlib
import re
import tomllib
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leadproof.domain import policy_checks, policy_target
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_conditions import Fault
from leadproof.domain.policy_lines import PolicyLines
from leadproof.domain.records import Description

PLANNERS: Final = ("rules", "claude")
"""The planners that this version has."""

_WRITTEN_AS: Final = {
    "events": "event",
    "targets": "target",
    "actions": "action",
    "approvals": "approval",
    "rules": "rule",
    "queues": "queue",
}
"""What stands in singular in the text, because each entry is written on its own."""

_SAYS: Final = {
    "missing": "is missing",
    "extra_forbidden": "is a key that the policy does not know",
    "string_type": "is a text and stands in quotes",
    "timezone_aware": "needs a time zone, as in 2026-01-01T00:00:00Z",
    "dict_type": "is a table",
    "model_type": "is a table",
    "model_attributes_type": "is a table",
    "tuple_type": "is a list",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


def parse_policy(text: str) -> Policy:
    """Read and check a policy.

    Args:
        text: the whole policy, in TOML.

    Raises:
        PolicyRefused: the first fault in the text, with its line.
    """
    document = _document(text)
    lines = PolicyLines(text)
    planner = document.get("planner", "rules")
    if planner not in PLANNERS:
        known = " or ".join(f'"{name}"' for name in PLANNERS)
        raise PolicyRefused(f"planner can only be {known}", lines.line_of(("planner",)))
    given = {_modelled(key): value for key, value in document.items()}
    try:
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        policy = Policy(**{**given, "digest": digest, "text": text})
    except ValidationError as error:
        raise _first([_fault(details) for details in error.errors(include_url=False)], lines) from None
    faults = list(policy_checks.consistency(policy))
    if faults:
        raise _first(faults, lines)
    return policy


def check_against(policy: Policy, description: Description) -> None:
    """Compare a policy with what a target says of itself.

    Owners that are unknown or inactive, options that the target does not have, stages in another order than the
    target's, and fields that the target does not have or does not let us write.

    Args:
        description: of one target; a policy that does not name it has nothing to compare.

    Raises:
        PolicyRefused: the first fault in the text, with its line.
    """
    faults = faults_against(policy, description)
    if faults:
        raise faults[0]


def faults_against(policy: Policy, description: Description) -> tuple[PolicyRefused, ...]:
    """Every fault that `check_against` finds, in the order of the text."""
    return _in_order(list(policy_target.against(policy, description)), PolicyLines(policy.text))


def _document(text: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text)
        text.encode("utf-8")
    except (ValueError, RecursionError) as error:
        place = re.search(r"\(at line (\d+), column \d+\)$", str(error))
        why = str(error)[: place.start()].strip() if place else str(error)
        line = int(place[1]) if place else text.count("\n") + 1
        raise PolicyRefused(f"this is no TOML: {why}", line) from None
    for ours in ("digest", "text", *_WRITTEN_AS):
        if ours in document:
            hint = f"; write [{_WRITTEN_AS[ours]}]" if ours in _WRITTEN_AS else ""
            raise PolicyRefused(
                f"{ours!r} is a key that the policy does not know{hint}", PolicyLines(text).line_of((ours,))
            )
    return document


def _modelled(key: str) -> str:
    return next((ours for ours, written in _WRITTEN_AS.items() if written == key), key)


def _fault(details: ErrorDetails) -> Fault:
    path = tuple(part for part in details["loc"] if part != "[key]")
    says = _SAYS.get(details["type"]) or _lowered(details["msg"])
    return Fault(path, f"{_spoken(path)} {says}")


def _lowered(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _spoken(path: tuple[str | int, ...]) -> str:
    names = [part for part in _written(path) if isinstance(part, str)]
    return f"{names[-1]!r} in {'.'.join(names[:-1])}" if len(names) > 1 else repr(names[-1] if names else "it")


def _written(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return (_WRITTEN_AS.get(path[0], path[0]), *path[1:]) if path and isinstance(path[0], str) else path


def _first(faults: list[Fault], lines: PolicyLines) -> PolicyRefused:
    return _in_order(faults, lines)[0]


def _in_order(faults: list[Fault], lines: PolicyLines) -> tuple[PolicyRefused, ...]:
    """As refusals with their lines; those that have none come last."""
    placed = [(lines.line_of(_written(fault.path)), fault.why) for fault in faults]
    placed.sort(key=lambda fault: (fault[0] is None, fault[0] or 0))
    return tuple(PolicyRefused(why, line) for line, why in placed)
