"""Texts of a policy that no table and no terminal can show: control characters, which a store may refuse, too."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from leadproof.domain.policy_conditions import Fault

PROSE: Final = frozenset({"why", "reason", "instructions", "apply_lag_source"})
"""What is written in sentences and may have several lines."""

_LAYOUT: Final = frozenset("\n\t")
_NONE: Final = frozenset[str]()
_CONTROL: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def unprintable(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Every text and every name in a document, at any depth, with a character that is none to be read.

    PostgreSQL refuses U+0000 in texts and in JSON; what a person is shown must not move a terminal's cursor.
    """
    waiting: list[tuple[tuple[str | int, ...], Any, frozenset[str]]] = [((), document, _NONE)]
    while waiting:  # not by recursion: dotted names nest as deeply as they are long
        path, value, layout = waiting.pop()
        if isinstance(value, str) and not _readable(value, layout):
            yield Fault(path, f"{_named(path)} has a control character, U+{_first(value, layout):04X}")
        elif isinstance(value, list):
            waiting += [((*path, index), one, layout) for index, one in enumerate(value)]
        elif isinstance(value, dict):
            for name, one in value.items():
                if not _readable(name, _NONE):
                    yield Fault(path, f"a name in {_named(path)} has a control character, U+{_first(name, _NONE):04X}")
                # a value that a rule sets may be a text of several lines, too
                waiting.append(((*path, name), one, _LAYOUT if name in PROSE or path[-1:] == ("fields",) else _NONE))


def _readable(text: str, layout: frozenset[str]) -> bool:
    return not any(_is_control(one, layout) for one in text)


def _is_control(one: str, layout: frozenset[str]) -> bool:
    return one not in layout and unicodedata.category(one) in _CONTROL


def _first(text: str, layout: frozenset[str]) -> int:
    return next(ord(one) for one in text if _is_control(one, layout))


def _named(path: tuple[str | int, ...]) -> str:
    names = [part for part in path if isinstance(part, str)]
    return repr(names[-1]) if names else "the policy"
