"""The policy as people write it: TOML read into a `Policy`, every fault refused with its line and one sentence."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leadproof.domain import policy_checks, policy_making, policy_rules, policy_target
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_conditions import Fault
from leadproof.domain.policy_lines import PolicyLines
from leadproof.domain.policy_words import unprintable
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

_LISTS: Final = frozenset({"events", "actions", "approvals", "rules"})

_STAND_ALONE: Final = frozenset({"events", "approvals", "rules"})
"""Lists whose entries nothing else refers to: without a misshapen one the rest still says what it says."""

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
    "string_pattern_mismatch": "is not written as it has to be",
}

_BOM: Final = "\ufeff"
_BEGINS_WITH_BOM: Final = "this is no TOML: it begins with a byte-order mark; save it as UTF-8 without one"


class Examined(NamedTuple):
    """What a text was read as.

    Attributes:
        policy: `None` where the text has another shape; one that has faults is to look at and not to use.
        faults: all that were found, in the order of the text.
        whole: whether everything was looked at. What is no TOML, or has another shape where other parts refer to it,
            hides what hangs together.
    """

    policy: Policy | None
    faults: tuple[PolicyRefused, ...]
    whole: bool


def parse_policy(text: str) -> Policy:
    """Read and check a policy.

    Args:
        text: the whole policy, in TOML.

    Raises:
        PolicyRefused: the first fault in the text, with its line.
    """
    policy, faults, _ = examine(text)
    if policy is None or faults:
        raise faults[0]
    return policy


def reread_policy(text: str) -> Policy:
    """Read a policy that was accepted before, by this version of the code or by an earlier one.

    What an earlier version took and this one would refuse is no reason to leave the leads that are pinned to it alone:
    a text that still has the shape of a policy is read.

    Raises:
        PolicyRefused: it has another shape.
    """
    policy, faults, _ = examine(text)
    if policy is None:
        raise faults[0]
    return policy


def examine(text: str) -> Examined:
    """Read and check a policy and find every fault, where `parse_policy` refuses the first."""
    if text.startswith(_BOM):
        return Examined(None, (PolicyRefused(_BEGINS_WITH_BOM, 1),), whole=False)
    try:
        document = tomllib.loads(text)
        text.encode("utf-8")
    except (ValueError, RecursionError) as error:
        return Examined(None, (_no_toml(text, error),), whole=False)
    modelled = _modelled(document)
    faults = [*_misnamed(document), *unprintable(modelled)]
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    given = {**modelled, "digest": digest, "text": text}
    policy: Policy | None = None
    sound: Policy | None = None
    kept: dict[str, list[int]] = {}
    try:
        policy = sound = Policy(**given)
    except ValidationError as error:
        misshapen = [_fault(details) for details in error.errors(include_url=False)]
        faults += misshapen
        sound, kept = _without(given, misshapen)
    if sound is not None:
        faults += (_at_its_place(fault, kept) for fault in policy_checks.consistency(sound))
    return Examined(policy, in_order(faults, text), whole=sound is not None)


def check_against(policy: Policy, description: Description) -> None:
    """Compare a policy with what a target says of itself.

    Owners that are unknown or inactive, options that the target does not have, stages in another order than the
    target's, and fields that the target does not have or does not let us write.

    Args:
        description: of one object of one target; a policy that does not name the target has nothing to compare.

    Raises:
        PolicyRefused: the first fault in the text, with its line.
    """
    faults = faults_against(policy, description)
    if faults:
        raise faults[0]


def faults_against(policy: Policy, *descriptions: Description) -> tuple[PolicyRefused, ...]:
    """Every fault that `check_against` finds, in the order of the text; what several objects of one target say alike
    is said once."""
    found = (fault for description in descriptions for fault in policy_target.against(policy, description))
    return in_order(found, policy.text)


def doubts(policy: Policy) -> tuple[PolicyRefused, ...]:
    """What is no fault of a policy and hardly what it means."""
    return in_order(policy_rules.unruled(policy), policy.text)


def doubts_against(policy: Policy, *descriptions: Description) -> tuple[PolicyRefused, ...]:
    """What the objects of a target would refuse for some of the leads: a record that is made without a required field,
    a write to a record that exists where no history is kept."""
    return in_order((one for each in descriptions for one in policy_making.doubts(policy, each)), policy.text)


def in_order(faults: Iterable[Fault], text: str) -> tuple[PolicyRefused, ...]:
    """Faults as refusals with their lines in a policy's text, each once; those that have none come last."""
    found = list(faults)
    if not found:
        return ()
    lines = PolicyLines(text)
    placed = dict.fromkeys((lines.line_of(path) or lines.line_of(_written(path)), why) for path, why in found)
    return tuple(PolicyRefused(why, line) for line, why in sorted(placed, key=lambda at: (at[0] is None, at[0] or 0)))


def _no_toml(text: str, error: Exception) -> PolicyRefused:
    place = re.search(r"\(at line (\d+), column \d+\)$", str(error))
    why = str(error)[: place.start()].strip() if place else str(error)
    line = int(place[1]) if place else text.count("\n") + 1
    return PolicyRefused(f"this is no TOML: {why}", line)


def _misnamed(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Keys that only the model has, and a planner that there is none of."""
    for ours in ("digest", "text", *_WRITTEN_AS):
        if ours in document:
            hint = f"; write {_header(ours)}" if ours in _WRITTEN_AS else ""
            yield Fault((ours,), f"{ours!r} is a key that the policy does not know{hint}")
    if document.get("planner", "rules") not in PLANNERS:
        known = " or ".join(f'"{name}"' for name in PLANNERS)
        yield Fault(("planner",), f"planner can only be {known}")


def _header(ours: str) -> str:
    return f"[[{_WRITTEN_AS[ours]}]]" if ours in _LISTS else f"[{_WRITTEN_AS[ours]}.NAME]"


def _modelled(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document by the model's names, without what `_misnamed` names; a plural that should be a singular is read
    as what it was meant to be."""
    names = {written: ours for ours, written in _WRITTEN_AS.items()}
    given = {names.get(key, key): value for key, value in document.items() if key not in {"digest", "text"}}
    given |= {ours: document[written] for written, ours in names.items() if written in document}
    if given.get("planner", "rules") not in PLANNERS:
        del given["planner"]
    return given


def _without(given: dict[str, Any], misshapen: list[Fault]) -> tuple[Policy | None, dict[str, list[int]]]:
    """The policy without misshapen entries of lists that stand alone, and which entries are left; `None` where
    something else is misshapen."""
    kept: dict[str, list[int]] = {}
    for fault in misshapen:
        match fault.path:
            case (str(name), int(index), *_) if name in _STAND_ALONE:
                left = kept.setdefault(name, list(range(len(given[name]))))
                left[:] = [at for at in left if at != index]
            case _:
                return None, {}
    try:
        return Policy(**{**given, **{name: [given[name][i] for i in at] for name, at in kept.items()}}), kept
    except ValidationError:
        return None, {}


def _at_its_place(fault: Fault, kept: Mapping[str, list[int]]) -> Fault:
    match fault.path:
        case (str(name), int(index), *rest) if name in kept:
            return Fault((name, kept[name][index], *rest), fault.why)
    return fault


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
