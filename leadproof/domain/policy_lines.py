"""On which line of a TOML text a key stands, so that a refused policy names the line to mend."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

KeyPath = tuple[str | int, ...]
"""Keys and indexes from the top of the document: `("rule", 2, "fields", "owner")`."""

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BLANK: Final = re.compile(r"[ \t]*")
_GAP: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_OTHER: Final = re.compile(r"[^,\]}#\n]*")
_STRINGS: Final = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL),
    re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if code[0] in "uU" else _ESCAPES.get(code, code)


class PolicyLines:
    """The lines of every key of a TOML text.

    Args:
        text: TOML that `tomllib` can read; of any other text nothing is known beyond the first fault.
    """

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[KeyPath, int] = {}
        with suppress(ValueError):
            self._document()

    def line_of(self, path: KeyPath) -> int | None:
        """The line of a key, from 1; of its nearest known parent where the key itself is not written."""
        for length in range(len(path), 0, -1):
            line = self._lines.get(path[:length])
            if line is not None:
                return line
        return None

    def _document(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_GAP)
            if self._at >= len(self._text):
                return
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        line = self._line()
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        keys = self._keys()
        self._expect("]" * brackets)
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._last_of((*path, key))
            self._lines.setdefault(path, line)
        path = (*path, keys[-1])
        if brackets == 2:
            index = self._lengths.get(path, 0)
            self._lengths[path] = index + 1
            self._lines.setdefault(path, line)
            path = (*path, index)
        self._lines[path] = line
        return path

    def _last_of(self, path: KeyPath) -> KeyPath:
        return (*path, self._lengths[path] - 1) if path in self._lengths else path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self._lines.setdefault(path, line)
        self._expect("=")
        self._skip(_BLANK)
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_BLANK)
            if self._text[self._at : self._at + 1] in {'"', "'"}:
                written = self._string()
                inner = written[1:-1]
                keys.append(_ESCAPE.sub(_unescape, inner) if written[0] == '"' else inner)
            else:
                keys.append(self._match(_BARE))
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        opening = self._text[self._at : self._at + 1]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        elif opening in {'"', "'"}:
            self._string()
        else:
            self._match(_OTHER)

    def _array(self, path: KeyPath) -> None:
        self._expect("[")
        index = 0
        while True:
            self._skip(_GAP)
            if self._text.startswith("]", self._at):
                self._at += 1
                return
            self._lines[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1
            self._skip(_GAP)
            if self._text.startswith(",", self._at):
                self._at += 1
            elif not self._text.startswith("]", self._at):
                raise ValueError("an array does not end")

    def _inline_table(self, path: KeyPath) -> None:
        self._expect("{")
        while True:
            self._skip(_GAP)
            if self._text.startswith("}", self._at):
                self._at += 1
                return
            self._pair(path)
            self._skip(_GAP)
            if self._text.startswith(",", self._at):
                self._at += 1
            elif not self._text.startswith("}", self._at):
                raise ValueError("an inline table does not end")

    def _string(self) -> str:
        for string in _STRINGS:
            match = string.match(self._text, self._at)
            if match is not None:
                self._at = match.end()
                return match[0]
        raise ValueError("a string does not end")

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None or not match[0]:
            raise ValueError("nothing that TOML allows stands here")
        self._at = match.end()
        return match[0]

    def _expect(self, text: str) -> None:
        self._skip(_BLANK)
        if not self._text.startswith(text, self._at):
            raise ValueError(f"{text!r} is missing")
        self._at += len(text)
