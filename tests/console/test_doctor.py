"""`leadproof doctor` as people and programs run it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from console.cli import app
from console.free_ports import any_free
from leadproof.ledger.schema import upgrade
from sandbox.server import running
from tests.console.commands import COMMAND, environment
from tests.sandbox.control import Control

POLICY = str(Path("leadproof/default_policy.toml").resolve())


def variables(folder: Path, **more: str) -> dict[str, str]:
    """Everything that is asked is down."""
    nowhere = any_free(set())
    return {
        "LEADPROOF_POLICY": POLICY,
        "LEADPROOF_LEDGER_URL": f"sqlite:///{folder / 'ledger.db'}",
        "LEADPROOF_TEMPORAL_ADDRESS": f"127.0.0.1:{nowhere}",
        "LEADPROOF_HUBSPOT_TOKEN": "s3cret",
        "LEADPROOF_HUBSPOT_BASE_URL": f"http://127.0.0.1:{nowhere}",
        **more,
    }


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """The command in this process, without a terminal."""
    monkeypatch.chdir(tmp_path)  # where no .env is
    with ThreadPoolExecutor(1) as alone:  # the session's event loop is this thread's
        yield lambda *arguments, env: alone.submit(CliRunner().invoke, app, list(arguments), env=env).result()


def test_where_everything_is_down_there_are_lines_and_no_stack_trace(
    tmp_path: Path, invoke: Callable[..., Result]
) -> None:
    done = invoke("doctor", "--json", env=variables(tmp_path))
    assert (done.exit_code, done.stderr) == (1, "")
    answer = json.loads(done.stdout)
    assert answer["sound"] is False
    wrong = {line["check"] for line in answer["checks"] if line["state"] == "wrong"}
    assert wrong == {"hubspot.webhook-secret", "ledger.schema", "hubspot.token", "temporal"}
    assert all(line.keys() == {"check", "state", "says", "do"} for line in answer["checks"])
    assert "s3cret" not in done.stdout


@pytest.mark.stack
def test_a_person_is_asked_before_anything_is_made(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path / 'ledger.db'}")
    with running() as address, httpx.Client(base_url=address, trust_env=False) as client:
        names = {
            "LEADPROOF_HUBSPOT_BASE_URL": f"{address}/hubspot",
            "LEADPROOF_HUBSPOT_EXTERNAL_ID_PROPERTY": "our_id",
            "LEADPROOF_HUBSPOT_MARKER_PROPERTY": "our_effect",
        }
        said, status = on_a_terminal("doctor", cwd=tmp_path, more=variables(tmp_path, **names), answers=["y", "n"])
        made = [row["body"]["name"] for row in Control(client).requests("properties.write")]
    assert made == ["our_id"]
    assert status == 1  # Temporal is down
    first, *_, last = said.split("Make the property")
    assert "has no property our_id" in plain_text(first)
    assert "made the property our_id in HubSpot" in plain_text(last)


def test_a_program_says_beforehand_that_everything_is_to_be_made(tmp_path: Path, invoke: Callable[..., Result]) -> None:
    with running() as address, httpx.Client(base_url=address, trust_env=False) as client:
        names = {
            "LEADPROOF_HUBSPOT_BASE_URL": f"{address}/hubspot",
            "LEADPROOF_HUBSPOT_MARKER_PROPERTY": "our_effect",
        }
        done = invoke("doctor", "--create", env=variables(tmp_path, **names))
        made = [row["body"]["name"] for row in Control(client).requests("properties.write")]
    assert made == ["our_effect"]
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "made the property our_effect in HubSpot (a line of text)"
    assert {line.split()[0] for line in lines[1:]} == {"ok", "warn", "wrong", "skipped"}
    assert "ok       hubspot.marker" in done.stdout


def plain_text(said: str) -> str:
    """Without the lines of a table and its line breaks."""
    return re.sub(r"[\s│┃]+", " ", said)


def on_a_terminal(
    *arguments: str, cwd: Path, more: Mapping[str, str], answers: list[str], within: float = 40.0
) -> tuple[str, int]:
    """Run a command on a terminal of its own and answer its questions; what it said, and its exit status."""
    ours, theirs = pty.openpty()
    given = {**environment(more), "COLUMNS": "200", "TERM": "dumb"}
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=given, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        said, left, deadline = b"", list(answers), time.monotonic() + within
        try:
            while time.monotonic() < deadline:
                try:
                    said += os.read(ours, 65536)
                except OSError:  # Linux ends a terminal that nobody holds any more with an error
                    break
                if left and said.count(b"[y/N]") > len(answers) - len(left):
                    os.write(ours, f"{left.pop(0)}\n".encode())
            return said.decode(), process.wait(10)
        finally:
            process.kill()
            os.close(ours)
