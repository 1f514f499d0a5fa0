"""Where a process of ours is stopped for good: around the calls of its ports, for the leads that the suite names.

The suite starts a worker or a starter through a module of its own, which composes the real one over watched ports. What
runs in production has no switch, no variable and no line for this.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from temporalio import activity

IN_THE_STARTER: Final = ""


@dataclass(frozen=True)
class Point:
    """A place between two steps.

    Attributes:
        when: `before` or `after` the call.
        call: port and method, as in `ledger.claim`.
        activity: the activity that calls; `IN_THE_STARTER` where none does.
        passing: which passing it is, counted over the lead.
        freezes: the whole process is stopped as by SIGSTOP, and goes on here when it is continued; else this call
            alone never returns, while the process lives on until it is killed.
    """

    when: str
    call: str
    activity: str = "write"
    passing: int = 1
    freezes: bool = False


def line_of(key: str, point: Point) -> str:
    """What a process writes when it stops at a lead's point."""
    return f"stopped {point.when} {point.call}: {key}"


def write_points(path: Path, points: Mapping[str, Point]) -> None:
    """Keep points by event key for a process that is to be started."""
    path.write_text(json.dumps({key: asdict(point) for key, point in points.items()}), encoding="utf-8")


def read_points(path: Path) -> dict[str, Point]:
    return {key: Point(**fields) for key, fields in json.loads(path.read_text(encoding="utf-8")).items()}


class Stops:
    """The points of one process."""

    def __init__(self, points: dict[str, Point]) -> None:
        self._points = points
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()

    def passes(self, when: str, call: str, arguments: tuple[Any, ...]) -> None:
        """Go on, or, where this is a lead's point, say so and stop."""
        for key, caller in _about(arguments):
            point = self._points.get(key)
            if point is None or (point.when, point.call, point.activity) != (when, call, caller):
                continue
            with self._lock:
                self._passed[key] += 1
                reached = self._passed[key] == point.passing
            if not reached:
                continue
            os.write(sys.stdout.fileno(), f"{line_of(key, point)}\n".encode())
            if point.freezes:
                # sent to this thread: sent to the process, another may take it, and this one goes on for a moment
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            else:
                threading.Event().wait()


def _about(arguments: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The leads that a call is about, and the activity that makes it."""
    if activity.in_activity():
        info = activity.info()
        return [((info.workflow_id or "").removeprefix("lead:"), info.activity_type)]
    arrivals = arguments[0] if arguments and isinstance(arguments[0], list) else []
    return [(arrival.event.event_key, IN_THE_STARTER) for arrival in arrivals if hasattr(arrival, "event")]


class Watched:
    """A port whose every call passes the points before it and after it, and is otherwise the port's own."""

    def __init__(self, port: Any, name: str, stops: Stops) -> None:
        self._port = port
        self._name = name
        self._stops = stops

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value
        call = f"{self._name}.{name}"

        def watched(*arguments: Any, **named: Any) -> Any:
            self._stops.passes("before", call, arguments)
            answer = value(*arguments, **named)
            self._stops.passes("after", call, arguments)
            return answer

        return watched
