"""Where a process of ours is stopped: around the calls of its ports, inside their transactions and on the wire, for the
leads that the suite names.

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

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine
from temporalio import activity

from leadproof import deadline
from leadproof.crm import transport

IN_THE_STARTER: Final = ""


@dataclass(frozen=True)
class Point:
    """A place between two steps.

    Attributes:
        when: `before` or `after` the call; `inside` its transaction, all of which is done but the commit; `sent`, when
            all of a request has left and no byte of its answer was read.
        call: port and method, as in `ledger.claim`.
        activity: the activity that calls; `IN_THE_STARTER` where none does.
        passing: which passing it is, counted over the lead.
        continues: whoever stopped here goes on when the process, stopped by SIGSTOP, is continued; else this call
            never returns, while the process lives on until it is killed.
    """

    when: str
    call: str
    activity: str = "write"
    passing: int = 1
    continues: bool = False


def line_of(key: str, point: Point) -> str:
    """What a process writes when it stops at a lead's point."""
    return f"stopped {point.when} {point.call}: {key}"


def write_points(path: Path, points: Mapping[str, Point]) -> None:
    """Keep points by event key for a process that is to be started."""
    path.write_text(json.dumps({key: asdict(point) for key, point in points.items()}), encoding="utf-8")


def read_points(path: Path) -> dict[str, Point]:
    return {key: Point(**fields) for key, fields in json.loads(path.read_text(encoding="utf-8")).items()}


@dataclass(frozen=True)
class _Calling:
    """A port's call that a thread is in.

    Attributes:
        about: the leads that it is about, and the activity that makes it.
    """

    name: str
    about: list[tuple[str, str]]


class _Here(threading.local):
    calling: _Calling | None = None


class Stops:
    """The points of one process."""

    def __init__(self, points: dict[str, Point]) -> None:
        self._points = points
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._here = _Here()
        self._continued = threading.Event()

    def calls(self, calling: _Calling | None) -> None:
        """This thread is in a call of a port, or has left it."""
        self._here.calling = calling

    def passes(self, when: str, calling: _Calling | None) -> None:
        """Go on, or, where this is a lead's point, say so and stop."""
        for key, caller in calling.about if calling is not None else ():
            point = self._points.get(key)
            if point is None or calling is None:
                continue
            if (point.when, point.call, point.activity) != (when, calling.name, caller):
                continue
            with self._lock:
                self._passed[key] += 1
                reached = self._passed[key] == point.passing
            if not reached:
                continue
            os.write(sys.stdout.fileno(), f"{line_of(key, point)}\n".encode())
            (self._continued if point.continues else threading.Event()).wait()

    def watch(self) -> None:
        """Pass the points inside of transactions and on the wire, and know when the process is continued."""
        made, begun = deadline.Call.__init__, transport._Answer.begin

        def make(call: Any, *arguments: Any, **named: Any) -> None:
            made(call, *arguments, **named)
            call.calling = self._here.calling  # a call of a client has a thread of its own

        def begin(answer: Any) -> None:
            self.passes("sent", getattr(deadline.current_call(), "calling", None))
            begun(answer)

        def commits(_: Connection) -> None:
            self.passes("inside", self._here.calling)

        setattr(deadline.Call, "__init__", make)  # noqa: B010 - for this process alone, as all of this module
        setattr(transport._Answer, "begin", begin)  # noqa: B010
        event.listen(Engine, "commit", commits)
        signal.signal(signal.SIGCONT, lambda *_: self._continued.set())


def _about(arguments: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The leads that a call is about, and the activity that makes it."""
    if activity.in_activity():
        info = activity.info()
        return [((info.workflow_id or "").removeprefix("lead:"), info.activity_type)]
    arrivals = arguments[0] if arguments and isinstance(arguments[0], list) else []
    return [(arrival.event.event_key, IN_THE_STARTER) for arrival in arrivals if hasattr(arrival, "event")]


class Watched:
    """A port whose every call passes the points of it, and is otherwise the port's own."""

    def __init__(self, port: Any, name: str, stops: Stops) -> None:
        self._port = port
        self._name = name
        self._stops = stops

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def watched(*arguments: Any, **named: Any) -> Any:
            calling = _Calling(f"{self._name}.{name}", _about(arguments))
            self._stops.passes("before", calling)
            self._stops.calls(calling)
            try:
                answer = value(*arguments, **named)
            finally:
                self._stops.calls(None)
            self._stops.passes("after", calling)
            return answer

        return watched
