"""A trial told to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from console.tables import say, say_table
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import Verdict
from leadproof.domain.policy import Policy

if TYPE_CHECKING:
    from workers.trial import Trial, Tried


def answer(trial: Trial) -> dict[str, Any]:
    """What would be done, for programs."""
    told = trial.model_dump(mode="json")
    told["actions"] = [_answer(tried) for tried in trial.actions]
    return told


def say_trial(policy: Policy, trial: Trial) -> None:
    """Print what would be done with a lead, and why."""
    say_table(("what", "is"), list(_facts(trial)))
    for number, tried in enumerate(trial.actions):
        _say_action(policy, number, tried)


def _answer(tried: Tried) -> dict[str, Any]:
    guarded = tried.guarded.model_dump(mode="json")
    action: dict[str, Any] = guarded.pop("action")
    return {**guarded, **action, "stands": tried.stands, "already_so": tried.already_so}


def _facts(trial: Trial) -> Iterator[tuple[str, str]]:
    counted = f", counts once per {trial.scope}" if trial.scope is not None else ""
    yield "event", f"{trial.source} {trial.event_kind} of {trial.source_record_id}{counted}"
    if trial.left_alone is not None:
        yield "done", f"nothing: {trial.left_alone}"
        return
    yield "planned by", f"{trial.planner}" + (f" ({trial.model})" if trial.model else "")
    for part in ("lead", "record"):
        for name, value in (trial.shown.get(part) or {}).items():
            yield "shown", f"{name} of the {part}: {value}"
    if trial.summary is None:
        yield "plan", 'Claude is not asked here; add "plan" to the file to see what the guard makes of one'
        return
    yield "plan", trial.summary + (" (the file's own plan, judged as Claude's)" if trial.from_file else "")
    if trial.problem is not None:
        yield "problem", f"{trial.problem}: a person would be asked about the event"
    elif not trial.actions:
        yield "done", "nothing"
    if trial.second_opinion is not None:
        yield "then", f"{trial.second_opinion} would be asked instead, and its plan would count"


def _say_action(policy: Policy, number: int, tried: Tried) -> None:
    action = tried.guarded.action
    say()
    say(f"action {number}: {action.kind} {action.target_system} {action.target_object}: {_verdict(tried)}")
    if action.reason:
        say(f"  proposed because: {action.reason}")
    for evidence in action.evidence:
        say(f"  seen: {evidence.says} ({evidence.source})")
    if action.confidence is not None:
        say(f"  confidence: {action.confidence:g}")
    if action.depends_on:
        say(f"  after: action {', '.join(str(needed) for needed in action.depends_on)}")
    system = action.target_system
    say_table(
        ("field", "stands", "would be"),
        [
            (name, _told(policy, system, name, tried.stands.get(name)), _told(policy, system, name, value))
            for name, value in action.fields.items()
        ],
    )


def _verdict(tried: Tried) -> str:
    guarded = tried.guarded
    if guarded.verdict is Verdict.REFUSED:
        return f"REFUSED: {guarded.why}"
    if guarded.verdict is Verdict.FOR_A_PERSON:
        return f"HELD for a person in the queue {guarded.queue}: {guarded.why}"
    if tried.already_so:
        return "ALLOWED, and the record says all of it already: nothing would be sent"
    return "ALLOWED"


def _told(policy: Policy, system: str, field: str, value: Any) -> Any:
    """A value for people: an owner with the policy's name for it."""
    spec = specs_for(policy, system).get(field)
    if spec is None or spec.type is not FieldType.OWNER:
        return value
    names = policy.owner_names(system)
    return f"{value} ({names[value]})" if value in names else value
