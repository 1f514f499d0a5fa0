import io
import json
import unicodedata
from contextlib import redirect_stdout
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console import tables

BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
HOSTILE = "Ac\x1b]0;pwn\x07me\nrow  two\x9b8m\r\u202egnp\u2066"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def harmless(printed: str) -> bool:
    return not any(unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"} or ord(one) in BIDI for one in printed)


@given(st.text())
@example(HOSTILE)
def test_no_text_moves_a_cursor_or_makes_a_line(text: str) -> None:
    plain = io.StringIO()
    with redirect_stdout(plain):
        tables.say_table(("name", "value"), [(text, {"deep": [text]})], title=f"T{text}")
        tables.say_facts({"a": text})
        tables.say(f"by {text}")
    assert len(plain.getvalue().split("\n")) == 3 + 2 + 1 + 1
    assert harmless(plain.getvalue().replace("\n", ""))


@given(st.text(min_size=1, max_size=30))
@example(HOSTILE)
def test_nor_does_it_in_a_table_of_a_terminal(text: str) -> None:
    terminal = Terminal()
    with redirect_stdout(terminal), mock.patch.dict("os.environ", {"TERM": "dumb", "COLUMNS": "200"}):
        tables.say_table(("name", "value"), [("a", text), ("b", [text])], title=f"T{text}")
    assert harmless(terminal.getvalue().replace("\n", ""))


@given(st.text())
def test_a_text_without_controls_is_printed_as_it_is(text: str) -> None:
    assert tables.printable(text) == text or not harmless(text)


def test_a_control_is_shown_as_it_is_written() -> None:
    shown = r"Ac\x1b]0;pwn\x07me\nrow  two\x9b8m\r\u202egnp\u2066"
    assert tables.printable(HOSTILE) == shown


def test_json_keeps_every_character(capsys: pytest.CaptureFixture[str]) -> None:
    tables.say_json({"company": HOSTILE})
    assert json.loads(capsys.readouterr().out) == {"company": HOSTILE}


def test_a_title_in_a_terminal_is_no_markup() -> None:
    terminal = Terminal()
    with redirect_stdout(terminal):
        tables.say_table(("key",), [("a" * 40,)], title="by [red]x[/red]")
    assert "[red]x[/red]" in terminal.getvalue()


def test_without_a_terminal_a_table_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    tables.say_table(("key", "status"), [("a", "observed"), ("abcdef", None)], title="Mutations")
    assert capsys.readouterr().out == "Mutations\nkey     status\na       observed\nabcdef\n"


def test_in_a_terminal_cells_are_never_read_as_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    tables.say_table(("key", "value"), [("lead", "[bold]x[/bold]")])
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_facts_leave_out_what_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    tables.say_facts({"reason": None, "differences": [{"field": "owner"}]})
    assert capsys.readouterr().out == 'name         value\ndifferences  [{"field": "owner"}]\n'


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    tables.say_json({"name": "Zoë", "items": [1, 2]})
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "Zoë" in line
    assert json.loads(line) == {"name": "Zoë", "items": [1, 2]}


def test_a_reference_is_told_in_words() -> None:
    plain = io.StringIO()
    with redirect_stdout(plain):
        tables.say_table(("field", "value"), [("a", {"record_id_of": 0}), ("b", {"record_id_of": "f" * 64})])
    assert "the id of the record of action 0\n" in plain.getvalue()
    assert f"the id of the record of {'f' * 12}\n" in plain.getvalue()
