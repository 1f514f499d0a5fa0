"""What a lead and a model write is shown to a person, and does nothing to the person's terminal."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from console.cli import app
from leadproof.domain.steps import Arrival
from tests.console.commands import run_here
from tests.support.ledgers import HandClock, a_lead_event, a_mutation, a_plan, sqlite_ledger

COMPANY = "Ac\x1b]0;pwn\x07me\nrow  two"


def test_commands_show_controls_and_programs_get_them_unchanged(tmp_path: Path) -> None:
    database, event = tmp_path / "ledger.db", a_lead_event("105")
    mutation = a_mutation(event, fields={"company": COMPANY})
    with sqlite_ledger(database, HandClock()) as ledger:
        ledger.admit([Arrival(event=event)])
        ledger.record_plan(a_plan(event, [mutation], summary="fine\x1b[8mhidden"), [mutation])

    def said(*arguments: str) -> str:
        ended = CliRunner().invoke(app, list(arguments), env={"LEADPROOF_LEDGER_URL": f"sqlite:///{database}"})
        assert ended.exit_code == 0, (ended.output, ended.exception)
        return ended.output

    for command, key in (("lead", event.event_key), ("mutation", mutation.mutation_key)):
        shown = said(command, "show", key)
        assert not {"\x1b", "\x07"} & set(shown)
        assert r"Ac\x1b]0;pwn\x07me\nrow  two" in shown
        assert json.dumps(COMPANY) in said(command, "show", key, "--json")
    assert r"fine\x1b[8mhidden" in said("lead", "show", event.event_key)


def test_a_refusal_shows_the_controls_of_what_was_typed(tmp_path: Path) -> None:
    ended = run_here("replay", "x\n\x1b[8m.json", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, "leadproof: there is no file x\\n\\x1b[8m.json\n")
