"""What the stand-in has been told to do with the next messages."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

WRONG_KINDS = ("prose", "fenced", "cut", "list", "missing", "extra", "type", "twice", "empty")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_PLANNING = ("sets", "confidence", "action")
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "plan": _PLANNING,
    "paraphrase": _PLANNING,
    "victim": _PLANNING,
    "refusal": ("category",),
    "truncation": (),
    "context": (),
    "invalid_json": ("kind",),
    "hang": ("seconds",),
    "overload": ("seconds",),
    "unauthorized": (),
    "unpaid": ("status",),
    "retired": (),
}
"""Each script and the arguments that it takes."""

_SENSIBLE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "sets": (lambda value: isinstance(value, dict), "an object of field and value"),
    "confidence": (_is_number, "a number"),
    "action": (lambda value: isinstance(value, str), "a string"),
    "category": (lambda value: isinstance(value, str), "a string"),
    "kind": (lambda value: value in WRONG_KINDS, f"one of {', '.join(WRONG_KINDS)}"),
    "seconds": (lambda value: _is_number(value) and value >= 0, "a number, at least 0"),
    "status": (lambda value: value in {400, 402}, "400 or 402"),
}


@dataclass(slots=True)
class Script:
    """One script; with `times` null it never ends."""

    script: str
    times: int | None = None
    args: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.script not in SCRIPTS:
            raise ValueError(f"script {self.script!r} is none of {', '.join(SCRIPTS)}")
        if self.times is not None and not (_is_number(self.times) and self.times >= 1 and self.times % 1 == 0):
            raise ValueError("times is a whole number, at least 1")
        if not isinstance(self.args, dict):
            raise TypeError("args is an object")
        for name, value in self.args.items():
            if name not in SCRIPTS[self.script]:
                raise ValueError(f"{self.script} takes no args.{name}")
            sensible, form = _SENSIBLE[name]
            if not sensible(value):
                raise ValueError(f"args.{name} is {form}")


class Scripts:
    """A queue of scripts. When it is empty, every message is a plain plan."""

    def __init__(self) -> None:
        self._waiting: list[Script] = []

    def add(self, script: Script) -> None:
        """Append one.

        Raises:
            ValueError: it would never be reached.
        """
        if self._waiting and self._waiting[-1].times is None:
            raise ValueError(
                f"{self._waiting[-1].script} has no times and never ends, so nothing after it is reached: DELETE first"
            )
        self._waiting.append(script)

    def next(self) -> Script:
        """The script of the message that is answered now."""
        if not self._waiting:
            return Script("plan")
        script = self._waiting[0]
        if script.times is not None:
            script.times -= 1
            if script.times == 0:
                self._waiting.pop(0)
        return script

    def waiting(self) -> list[dict[str, Any]]:
        return [asdict(script) for script in self._waiting]

    def clear(self) -> None:
        self._waiting.clear()
