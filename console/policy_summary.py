"""A policy in a few lines: who plans what, what may be written, who is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadproof.domain.keys import instant
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import ActionPermission, Approval, Condition, EventKind, Policy


def summary(policy: Policy) -> dict[str, Any]:
    """The policy for programs."""
    return {
        "version": policy.version,
        "digest": policy.digest,
        "planner": policy.planner,
        "events": [
            {
                "source": event.source,
                "kind": event.kind,
                "scope": _scope(event),
                "planner": event.planner or policy.planner,
            }
            for event in policy.events
        ],
        "may_write": [
            {
                "action": permission.kind.value,
                "target": permission.target,
                "object": permission.object.value,
                "fields": list(permission.fields),
                "by": _by(policy, permission),
            }
            for permission in policy.actions
        ],
        "approvals": [
            {"name": approval.name, "holds": holds(approval), "queue": approval.queue, "why": approval.why}
            for approval in policy.approvals
        ],
        "queues": {name: queue.due_hours for name, queue in policy.queues.items()},
        "abandoned_after": {
            name: queue.abandon_after_hours
            for name, queue in policy.queues.items()
            if queue.abandon_after_hours is not None
        },
    }


def rows(policy: Policy) -> Iterator[tuple[str, str]]:
    """The same for people: what it is about, and what the policy says of it."""
    told = summary(policy)
    for name in ("version", "digest", "planner"):
        yield name, told[name]
    for event in told["events"]:
        yield "event", f"{event['source']} {event['kind']}: {event['scope']}, planned by {event['planner']}"
    for write in told["may_write"]:
        what = f"{write['action']} {write['target']} {write['object']}"
        yield "may write", f"{what}: {', '.join(write['fields'])} (by {write['by']})"
    for approval in told["approvals"]:
        yield "asks first", f"{approval['name']}: {approval['holds']}; queue {approval['queue']}"
    for name, hours in told["queues"].items():
        window = told["abandoned_after"].get(name)
        ends = f"abandoned after {window:g} h if nobody decides" if window is not None else "stays open till decided"
        yield "queue", f"{name}: due after {hours:g} h, {ends}"


def holds(approval: Approval) -> str:
    """What an approval holds, in words."""
    parts = [
        approval.action.value if approval.action is not None else "any action",
        f"that sets {_either(approval.sets)}" if approval.sets else "",
        f"that changes {_either(approval.changes)}" if approval.changes else "",
        "that is our first write to a record" if approval.first_write else "",
        f"with a confidence below {approval.below_confidence:g}" if approval.below_confidence is not None else "",
    ]
    when = " and ".join(_condition(approval.when))
    return " ".join(part for part in (*parts, f"when {when}" if when else "") if part)


def _condition(condition: Condition) -> Iterator[str]:
    if condition.source:
        yield f"it comes from {_either(condition.source)}"
    for name, values in condition.equals.items():
        yield f"{name} is {_either(tuple(str(value) for value in values))}"
    if condition.email_domain:
        yield f"the address is at {_either(condition.email_domain)}"
    for name in condition.present:
        yield f"{name} is there"
    for name in condition.absent:
        yield f"{name} is empty"
    for name, bound in condition.at_least.items():
        yield f"{name} is at least {bound:g}"
    for name, bound in condition.at_most.items():
        yield f"{name} is at most {bound:g}"


def _scope(event: EventKind) -> str:
    first, *later = event.scopes
    turns = [f"once per {entry.scope} from {instant(entry.from_)}" for entry in later]
    return ", ".join([f"once per {first.scope}", *turns])


def _by(policy: Policy, permission: ActionPermission) -> str:
    """Who may propose it: the two halves of a stage move backward are made of what somebody proposed."""
    if permission.kind is ActionKind.CLEAR_STAGE:
        return "the guard alone"
    return " or ".join(name for name in ("rules", "claude") if policy.plans_with(name)) or "nobody"


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(names)
