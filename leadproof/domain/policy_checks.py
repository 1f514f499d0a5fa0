"""What must be true of a policy in itself, beyond its shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from leadproof.domain import policy_model, policy_rules
from leadproof.domain.errors import MalformedValue
from leadproof.domain.field_catalog import CATALOG, CONSENT, LIFECYCLE_STAGE, OWNER, PROTECTED, specs_for
from leadproof.domain.fields import FieldSpec, FieldType, normal
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import ActionPermission, Policy, Target
from leadproof.domain.policy_conditions import Fault, condition_faults, fields_of_any_target, twice

_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SOURCE: Final = _VERSION
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME: Final = 100
_OF_ONE_TYPE: Final = CONSENT | {OWNER, LIFECYCLE_STAGE}
"""Built-in fields that are written by rules of their own, which go by the type."""
_KINDS: Final = {"salesforce": ("lead.saved", "contact.saved")}
"""The events of a source whose events are always the same ones."""
_STAGE_MOVES: Final = frozenset({ActionKind.CLEAR_STAGE, ActionKind.SET_STAGE})


def consistency(policy: Policy) -> Iterator[Fault]:
    """Every fault of a policy in itself."""
    if not _VERSION.fullmatch(policy.version):
        yield Fault(("version",), "the version is made of letters, digits, dots, hyphens and underscores")
    for section, names in (("queues", policy.queues), ("sources", policy.sources)):
        for name in names:
            if not 0 < len(name) <= _LONGEST_NAME:
                yield Fault((section, name), f"a name has 1 to {_LONGEST_NAME} characters, this one has {len(name)}")
    for name in policy.sources:
        if not _SOURCE.fullmatch(name):
            why = (
                f"the source {name!r} is not made of letters, digits, dots, hyphens and underscores, as its address is"
            )
            yield Fault(("sources", name), why)
    if "default" not in policy.queues:
        yield Fault(("queues",), "a queue named 'default' is required")
    for name, queue in policy.queues.items():
        if queue.abandon_after_hours is not None and queue.abandon_after_hours < queue.due_hours:
            why = (
                f"the queue {name!r}: abandon_after_hours ({queue.abandon_after_hours:g}) must be at least "
                f"due_hours ({queue.due_hours:g})"
            )
            yield Fault(("queues", name, "abandon_after_hours"), why)
    yield from _events(policy)
    yield from policy_model.planning(policy)
    for name, target in policy.targets.items():
        yield from _target(name, target)
    yield from _vocabulary(policy)
    for position, permission in enumerate(policy.actions):
        yield from _permission(policy, position, permission)
    yield from _approvals(policy)
    yield from policy_rules.rules(policy)
    yield from _retention(policy)


def _events(policy: Policy) -> Iterator[Fault]:
    yield from twice("events", [f"{event.source} {event.kind}" for event in policy.events], "event kind")
    for position, event in enumerate(policy.events):
        if event.source not in policy.sources:
            yield Fault(
                ("events", position, "source"),
                f"the source {event.source!r} has no retry window in [sources]",
            )
        if event.kind not in _KINDS.get(event.source, (event.kind,)):
            why = f"no {event.kind!r} ever comes: the events of {event.source} are {' and '.join(_KINDS[event.source])}"
            yield Fault(("events", position, "kind"), why)
        for later in range(1, len(event.scopes)):
            if event.scopes[later].from_ <= event.scopes[later - 1].from_:
                yield Fault(
                    ("events", position, "scopes", later, "from"),
                    f"the scopes of {event.source} {event.kind} are not in ascending order of 'from'",
                )


def _target(name: str, target: Target) -> Iterator[Fault]:
    here = ("targets", name)
    if target.call_timeout_seconds <= target.connect_timeout_seconds:
        yield Fault(
            (*here, "call_timeout_seconds"),
            f"{name}: call_timeout_seconds ({target.call_timeout_seconds:g}) must be more than "
            f"connect_timeout_seconds ({target.connect_timeout_seconds:g})",
        )
    if not 1 <= target.send_within_seconds <= 60:
        yield Fault(
            (*here, "send_within_seconds"),
            f"{name}: send_within_seconds ({target.send_within_seconds:g}) must be between 1 and 60",
        )
    needed = target.quiescence.total_seconds() + target.send_within_seconds
    if target.observation_window_seconds < needed:
        yield Fault(
            (*here, "observation_window_seconds"),
            f"{name}: observation_window_seconds ({target.observation_window_seconds:g}) does not cover "
            f"send_within_seconds, connect_timeout_seconds, apply_lag_seconds and clock_margin_seconds "
            f"({needed:g} together)",
        )
    if target.read_spacing_seconds >= target.observation_window_seconds:
        yield Fault(
            (*here, "read_spacing_seconds"),
            f"{name}: read_spacing_seconds ({target.read_spacing_seconds:g}) must be less than "
            f"observation_window_seconds ({target.observation_window_seconds:g})",
        )
    for field, declared in target.fields.items():
        if field in PROTECTED:
            yield Fault((*here, "fields", field), f"the field {field!r} is ours alone")
        elif not _FIELD.fullmatch(field):
            yield Fault((*here, "fields", field), f"the field name {field!r} is not lower_case_with_underscores")
        yield from _declaration((*here, "fields", field, "spec"), field, declared.spec)
        same = [other for other, further in target.fields.items() if further.property == declared.property]
        if same[0] != field:
            yield Fault(
                (*here, "fields", field, "property"),
                f"the property {declared.property!r} already stands for {same[0]!r}",
            )


def _declaration(here: tuple[str | int, ...], field: str, spec: FieldSpec) -> Iterator[Fault]:
    """What would take a field out of the guard's sight: its values are judged by its type."""
    if field in _OF_ONE_TYPE and spec.type is not CATALOG[field].type:
        yield Fault((*here, "type"), f"the field {field!r} is always of the type {CATALOG[field].type}")
    if spec.free and spec.type is not FieldType.TEXT:
        yield Fault((*here, "free"), f"{field!r} is declared free, and only text is prose; its type is {spec.type}")


def _vocabulary(policy: Policy) -> Iterator[Fault]:
    for section in ("owners", "stages", "values"):
        for target in getattr(policy, section):
            if target not in policy.targets:
                yield Fault((section, target), f"the target {target!r} is not in this policy")
    for target, owners in policy.owners.items():
        for name, owner_id in owners.items():
            for said in (name, owner_id):
                yield from _as_compared(("owners", target, name), FieldSpec(type=FieldType.OWNER), said)
            if any(name == other_id and name != owner_id for other_id in owners.values()):
                yield Fault(("owners", target, name), f"the owner name {name!r} is another owner's id")
    for target, stages in policy.stages.items():
        for index, stage in enumerate(stages):
            yield from _as_compared(("stages", target, index), CATALOG[LIFECYCLE_STAGE], stage)
        yield from _distinct(("stages", target), stages, "stage")
    for target, values in policy.values.items():
        known = specs_for(policy, target)
        for field, listed in values.items():
            if field not in known:
                yield Fault(("values", target, field), f"the field {field!r} is unknown")
                continue
            for index, value in enumerate(listed):
                yield from _as_compared(("values", target, field, index), known[field], value)
            yield from _distinct(("values", target, field), listed, "value")


def _as_compared(here: tuple[str | int, ...], spec: FieldSpec, said: str) -> Iterator[Fault]:
    """What is listed is compared with normal forms, so that another spelling would never be met."""
    try:
        form = normal(spec, said)
    except MalformedValue:
        yield Fault(here, f"{said!r} is no value of the type {spec.type}")
        return
    if form not in (said, [said]):
        reads = "as empty" if form is None else f"as {form!r}"
        yield Fault(here, f"{said!r} would never be met: a value of the type {spec.type} reads {reads}")


def _permission(policy: Policy, position: int, permission: ActionPermission) -> Iterator[Fault]:
    here = ("actions", position)
    triples = [(other.kind, other.target, other.object) for other in policy.actions]
    if triples.index((permission.kind, permission.target, permission.object)) != position:
        yield Fault(here, f"{permission.kind} on {permission.target} {permission.object} is permitted twice")
    if permission.target not in policy.targets:
        yield Fault((*here, "target"), f"the target {permission.target!r} is not in this policy")
        return
    known = specs_for(policy, permission.target)
    for part in ("fields", "compare_also"):
        for index, field in enumerate(getattr(permission, part)):
            if field in PROTECTED:
                yield Fault((*here, part, index), f"the field {field!r} is ours alone")
            elif field not in known:
                yield Fault((*here, part, index), f"the field {field!r} is unknown")
    yield from _distinct((*here, "fields"), permission.fields, "field")
    if permission.kind in _STAGE_MOVES and permission.fields != (LIFECYCLE_STAGE,):
        yield Fault((*here, "fields"), f"{permission.kind} is about the field {LIFECYCLE_STAGE!r} alone")
    if LIFECYCLE_STAGE in permission.fields and not policy.stages.get(permission.target):
        yield Fault(
            (*here, "fields"), f"{LIFECYCLE_STAGE!r} is permitted, but [stages] says nothing of {permission.target}"
        )
    if OWNER in permission.fields and not policy.owners.get(permission.target):
        yield Fault((*here, "fields"), f"{OWNER!r} is permitted, but [owners.{permission.target}] names nobody")


def _approvals(policy: Policy) -> Iterator[Fault]:
    yield from twice("approvals", [approval.name for approval in policy.approvals], "approval")
    fields = fields_of_any_target(policy)
    for position, approval in enumerate(policy.approvals):
        here = ("approvals", position)
        if approval.queue not in {*policy.queues, "default"}:
            yield Fault((*here, "queue"), f"the queue {approval.queue!r} is not in this policy")
        if approval.action is not None and approval.action not in {action.kind for action in policy.actions}:
            yield Fault((*here, "action"), f"{approval.action} is an action that this policy does not permit")
        for part in ("sets", "changes"):
            for index, field in enumerate(getattr(approval, part)):
                if field not in fields:
                    yield Fault((*here, part, index), f"the field {field!r} is unknown")
        yield from condition_faults(policy, (*here, "when"), approval.when)


def _retention(policy: Policy) -> Iterator[Fault]:
    if not policy.sources:
        return
    slowest = max(policy.sources, key=lambda source: policy.sources[source])
    hours, rerun = policy.sources[slowest], policy.retention.human_rerun_days
    for kind in dict.fromkeys(permission.kind for permission in policy.actions):
        days = policy.retention.keys_days.get(kind)
        here = ("retention", "keys_days", kind.value)
        if days is None:
            yield Fault(here, f"retention.keys_days does not say how long keys of {kind} are remembered")
        elif days < hours / 24 + rerun:
            yield Fault(
                here,
                f"keys of {kind} are remembered for {days:g} days, less than the {hours:g} hours in which "
                f"{slowest} retries and the {rerun:g} days of human_rerun_days together",
            )


def _distinct(path: tuple[str | int, ...], listed: Iterable[str], what: str) -> Iterator[Fault]:
    for name, count in Counter(listed).items():
        if count > 1:
            yield Fault(path, f"the {what} {name!r} is there twice")
