"""The same plan in other words: what two runs of one model have in common, and what not."""

from typing import Any

from sandbox.anthropic.plans import Plan

SUMMARIES = ("In short: {}", "To put it differently, {}", "What follows from the lead: {}")
REASONS = ("Seen another way, {}", "This is so because {}", "On balance, {}")
EVIDENCE = ("the lead states {}", "it says {}", "given is {}")


def paraphrased(plan: Plan, number: int) -> Plan:
    """The plan's actions and values, in an order and in words that differ for every number.

    Args:
        plan: what is meant.
        number: the how-manieth telling it is, from 1.
    """
    return {
        **plan,
        "summary": _reworded(SUMMARIES, plan["summary"], number),
        "actions": [_told(action, number) for action in plan["actions"]],
    }


def _told(action: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        **action,
        "sets": _turned(action["sets"], number),
        "reason": _reworded(REASONS, action["reason"], number),
        "evidence": [
            {**said, "says": _reworded(EVIDENCE, said["says"], number)} for said in _turned(action["evidence"], number)
        ],
    }


def _turned(items: list[Any], number: int) -> list[Any]:
    """Another order than the one given, wherever there is one."""
    if len(items) < 2:
        return items
    by = 1 + number % (len(items) - 1)
    return [*items[by:], *items[:by]]


def _reworded(forms: tuple[str, ...], text: str, number: int) -> str:
    return f"{forms[number % len(forms)].format(text)} (telling {number})"
