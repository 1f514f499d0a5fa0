"""The embedded stack as real processes: started twice on one directory, stopped once, killed once."""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from console import hubspot_signature, recorded
from console.cli import app
from console.process_identity import identity
from console.temporal_server import SEARCH_ATTRIBUTES
from tests.console.commands import COMMAND, environment, run
from workflows import contract

PORTS = ("--temporal-port", "0", "--starter-port", "0", "--sandbox-port", "0")
SECONDS = 40


class Up:
    """One `leadproof up --json`, with what it printed."""

    def __init__(self, data_dir: Path, cwd: Path) -> None:
        self.data_dir = data_dir
        self.errors = cwd / f"errors-{time.monotonic_ns()}.txt"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, "up", "--json", "--data-dir", str(data_dir), *PORTS],
                cwd=cwd,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        self.said: dict[str, Any] = json.loads(line)

    def children(self) -> list[tuple[str, int, str]]:
        recorded_ = json.loads((self.data_dir / "processes.json").read_text())["children"]
        return [(child["name"], child["pid"], child["identity"]) for child in recorded_]

    def deliver(self, record_id: str) -> dict[str, int]:
        body = recorded.delivery("contact-creation", record_id)
        url = f"{self.said['starter']}/webhooks/hubspot"
        answer = httpx.post(
            url, content=body, headers=hubspot_signature.headers(self.said["secrets"]["hubspot"], url, body)
        )
        assert answer.status_code == 200, answer.text
        counts: dict[str, int] = answer.json()
        return counts


def until(holds: Callable[[], Any], what: str, seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return answer


def running(children: list[tuple[str, int, str]]) -> list[str]:
    return [name for name, pid, known in children if identity(pid) == known]


@pytest.fixture
def ups(tmp_path: Path) -> Iterator[Callable[[], Up]]:
    started: list[Up] = []

    def start() -> Up:
        started.append(Up(tmp_path / "data", tmp_path))
        return started[-1]

    yield start
    for up in started:
        up.process.kill()
        up.process.wait()
        assert up.process.stdout is not None
        up.process.stdout.close()


def commands_agree_with_the_api(up: Up, record_id: str) -> None:
    """What commands print for programs is what the API answers."""
    variables = dict(
        tuple(shlex.split(line)[0].split("=", 1)) for line in (up.data_dir / "stack.env").read_text().splitlines()
    )

    def command(*arguments: str, status: int = 0) -> Any:
        ended = CliRunner().invoke(app, [*arguments, "--json"], env=variables)
        assert ended.exit_code == status, ended.output
        return json.loads(ended.stdout)

    def api(path: str) -> Any:
        headers = {"Authorization": f"Bearer {up.said['secrets']['api_token']}"}
        return httpx.get(up.said["starter"] + path, headers=headers).raise_for_status().json()

    mutations = f"/v1/mutations?source_record_id={record_id}"
    (one,) = until(
        lambda: [item for item in api(mutations)["items"] if item["status"] == "observed"], "the lead is not written"
    )
    until(lambda: api(f"/v1/leads/{one['event_key']}")["outcome"] == "done", "the lead is not done")
    assert command("mutation", "list", "--status", "observed") == api(mutations)
    assert command("mutation", "show", one["mutation_key"]) == api(f"/v1/mutations/{one['mutation_key']}")
    shown = command("lead", "show", f"lead:{one['event_key']}")
    assert shown == api(f"/v1/leads/{one['event_key']}")
    assert command("review", "list") == api("/v1/reviews?state=open")
    assert command("quarantine", "list") == api("/v1/quarantine?state=held")


def test_a_stack_starts_stops_goes_on_and_leaves_nothing_behind(ups: Callable[[], Up], tmp_path: Path) -> None:
    first = ups()
    said = first.said
    assert list(said) == [*("temporal", "namespace", "ui", "starter", "sandbox", "ledger", "worker_pids", "secrets")]
    assert list(said["secrets"]) == ["hubspot", "api_token", "salesforce_path", "standard"]
    children = first.children()
    assert sorted(running(children)) == ["sandbox", "starter", "temporal", "worker"]
    assert said["worker_pids"] == [pid for name, pid, _ in children if name == "worker"]
    assert httpx.get(f"{said['starter']}/readyz").status_code == 200
    assert httpx.get(said["ui"], follow_redirects=True).status_code == 200
    assert httpx.get(f"{said['sandbox']}/_sandbox/webhooks").json()["on"] is True
    contact = httpx.put(
        f"{said['sandbox']}/_sandbox/records",
        json={"provider": "hubspot", "object": "contacts", "user": "9002", "properties": {"email": "a@b.example"}},
    ).json()
    assert first.deliver(contact["id"])["received"] == 1

    commands_agree_with_the_api(first, contact["id"])

    refused = run("up", "--data-dir", str(first.data_dir), *PORTS, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"process {first.process.pid}" in refused.stderr
    port = said["starter"].rpartition(":")[2]
    taken = run("up", "--data-dir", str(tmp_path / "other"), *PORTS[:2], "--starter-port", port, cwd=tmp_path)
    assert (taken.returncode, taken.stdout) == (2, "")
    assert taken.stderr.startswith(f"leadproof: port {port}, where the starter would listen, is taken")
    assert taken.stderr.count("\n") == 1

    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(SECONDS) == 0, first.errors.read_text()
    assert first.errors.read_text() == ""
    assert running(children) == []

    second = ups()
    assert second.said["secrets"] == said["secrets"]
    assert second.deliver(contact["id"])["duplicate"] == 1
    children = second.children()
    (worker,) = second.said["worker_pids"]
    os.kill(worker, signal.SIGKILL)
    until(lambda: "started again" in second.errors.read_text(), "a killed worker is not started again")
    until(lambda: ("worker", worker) not in [child[:2] for child in second.children()], "no new worker is recorded")
    children = [*children, *second.children()]

    second.process.kill()
    second.process.wait()
    until(lambda: not running(children), f"left running: {running(children)}")


def test_the_server_registers_the_search_attributes_of_the_contract() -> None:
    names = {"KEYWORD": "Keyword", "KEYWORD_LIST": "KeywordList"}
    assert {key.name: names[key.indexed_value_type.name] for key in contract.SEARCH_ATTRIBUTES} == SEARCH_ATTRIBUTES
