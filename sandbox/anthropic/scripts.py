"""What the stand-in has been told to do with the next calls."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NAMES = ("plan",)


@dataclass(slots=True)
class Script:
    """One script; `times` null: it never ends."""

    script: str
    times: int | None
    args: dict[str, Any] = field(default_factory=dict)


class Scripts:
    """A queue; when it is empty, every call gets a plain plan."""

    def __init__(self) -> None:
        self._waiting: list[Script] = []

    def add(self, script: Any = None, times: Any = None, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Append one script to the queue; answers it as `waiting` shows it."""
        if script not in NAMES:
            raise ValueError(f"script {script!r} is none of {', '.join(NAMES)}")
        added = Script(script, times, dict(args or {}))
        self._waiting.append(added)
        return asdict(added)

    def next(self) -> Script:
        if not self._waiting:
            return Script("plan", None)
        script = self._waiting[0]
        if script.times is not None:
            script.times -= 1
            if script.times <= 0:
                self._waiting.pop(0)
        return script

    def waiting(self) -> list[dict[str, Any]]:
        return [asdict(script) for script in self._waiting]

    def clear(self) -> None:
        self._waiting.clear()
