import json

import pytest

from console import tables


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
