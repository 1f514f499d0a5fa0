"""What a terminal says of questions and of what became of decisions about them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from console.moments import in_seconds
from console.tables import say, say_table
from leadproof.domain.review import ReviewState
from leadproof.domain.wording import lasting


def age(item: Mapping[str, Any], now: datetime) -> str:
    """How long a question has been there, or was till it was closed."""
    closed = item.get("closed_at")
    return lasting((datetime.fromisoformat(closed) if closed else now) - datetime.fromisoformat(item["opened_at"]))


def due(item: Mapping[str, Any], now: datetime) -> str:
    """When an open question is due, and when the policy gives it up; when a closed one was closed."""
    if item["state"] != ReviewState.OPEN:
        return f"closed {in_seconds(item['closed_at'])}"
    left = datetime.fromisoformat(item["due_at"]) - now
    told = f"OVERDUE by {lasting(left)}" if left.total_seconds() < 0 else f"in {lasting(left)}"
    if item.get("expires_at") is None:
        return told
    left = datetime.fromisoformat(item["expires_at"]) - now
    return f"{told}, given up {f'in {lasting(left)}' if left.total_seconds() > 0 else 'as soon as its run looks'}"


def one_is_told(decision: str, *, kept: bool, answer: Mapping[str, Any]) -> None:
    """What became of a decision about one question."""
    if kept:
        until = f"; it can be applied from {answer['until']}" if answer.get("until") else ""
        say(f"The decision is kept, and not applied yet{until}. The same command asks again.")
    else:
        follows = f"; {answer['why']}" if answer.get("why") else ""
        say(f"The decision {decision} is applied{follows}.")


def many_are_told(answer: Mapping[str, Any]) -> None:
    """What became of many decisions."""
    columns = ("review_id", "mutation_key", "verdict", "why", "until")
    if answer["answers"]:
        say_table(columns, [[one[column] for column in columns] for one in answer["answers"]])
        say()
    say(f"{answer['applied']} applied, {answer['kept']} kept to be applied later, {answer['refused']} refused.")
    if answer["more"]:
        say("There are more than one request takes: the same command goes on with them.")
