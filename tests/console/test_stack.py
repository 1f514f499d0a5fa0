"""The embedded stack as real processes: the demonstration, an `up` that goes on where it ended, one that is killed."""

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from console import recorded
from console.cli import app
from console.leaving import CommandRefused
from console.process_identity import identity
from console.temporal_server import SEARCH_ATTRIBUTES
from leadproof.domain.errors import NotFound
from tests.console.commands import COMMAND, environment, run
from workflows import contract

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]  # five processes at once on a machine that may be busy

PORTS = ("--temporal-port", "0", "--starter-port", "0", "--sandbox-port", "0")
SECONDS = 60


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A demonstration that has ended, and its directory; the settings around it are another deployment's."""
    cwd = tmp_path_factory.mktemp("demo")
    foreign = {"LEADPROOF_MODE": "shadow", "LEADPROOF_ENVIRONMENT": "another-shadow"}
    arguments = ("demo", "--exit", "--data-dir", str(cwd / "data"))
    return cwd / "data", run(*arguments, cwd=cwd, more=foreign, seconds=150)


@dataclass
class Up:
    """A running `leadproof up --json`."""

    process: subprocess.Popen[str]
    data_dir: Path
    errors: Path

    def said(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        said: dict[str, Any] = json.loads(line)
        return said

    def children(self) -> list[tuple[str, int, str]]:
        try:
            children = json.loads((self.data_dir / "processes.json").read_text())["children"]
        except FileNotFoundError:
            return []
        return [(child["name"], child["pid"], child["identity"]) for child in children]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(data_dir: Path, *options: str) -> Up:
        errors = tmp_path / "errors.txt"
        with errors.open("w") as stderr:
            process = subprocess.Popen(
                [*COMMAND, "up", "--json", "--data-dir", str(data_dir), *PORTS, *options],
                cwd=tmp_path,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        started.append(Up(process, data_dir, errors))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        assert one.process.stdout is not None
        one.process.stdout.close()


def until(holds: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return answer


def running(children: list[tuple[str, int, str]]) -> list[str]:
    return sorted(name for name, pid, known in children if identity(pid) == known)


def test_the_demonstration_turns_out_as_announced(
    demonstrated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    data_dir, ended = demonstrated
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    assert re.search(r"Review page  http://127\.0\.0\.1:\d+/review/sign-in\?link=\S+  \(signs in once", ended.stdout)
    table = ended.stdout.rpartition("\nlead ")[2].splitlines()[1:]
    assert len(table) == 7
    assert all(line.endswith("  as announced") for line in table)
    assert not (data_dir / "processes.json").exists()


def test_up_goes_on_where_a_stack_ended_and_stops_when_told(
    demonstrated: tuple[Path, subprocess.CompletedProcess[str]],
    up: Callable[..., Up],
    tmp_path: Path,
) -> None:
    data_dir, _ = demonstrated
    stack = up(data_dir, "--planner", "claude")
    said = stack.said()
    assert list(said) == [
        *("temporal", "namespace", "ui", "starter", "sandbox", "ledger", "review", "worker_pids", "secrets"),
    ]
    assert list(said["secrets"]) == ["hubspot", "api_token", "salesforce_path", "standard"]
    kept = json.loads((data_dir / "secrets.json").read_text())
    assert (said["secrets"]["hubspot"], said["secrets"]["api_token"]) == (kept["hubspot"], kept["api_token"])
    children = stack.children()
    assert running(children) == ["sandbox", "starter", "temporal", "worker"]
    assert said["worker_pids"] == [pid for name, pid, _ in children if name == "worker"]
    assert httpx.get(f"{said['starter']}/readyz").status_code == 200
    assert httpx.get(said["ui"], follow_redirects=True).status_code == 200
    for provider in ("hubspot", "salesforce"):
        assert httpx.get(f"{said['sandbox']}/_sandbox/webhooks", params={"provider": provider}).json()["on"] is True

    refused = CliRunner().invoke(app, ["up", "--data-dir", str(data_dir), *PORTS])
    assert isinstance(refused.exception, CommandRefused)
    assert f"process {stack.process.pid}" in str(refused.exception)
    port = said["starter"].rpartition(":")[2]
    taken = run("up", "--data-dir", str(tmp_path / "other"), *PORTS[:2], "--starter-port", port, cwd=tmp_path)
    assert (taken.returncode, taken.stdout) == (2, "")
    assert taken.stderr.startswith(f"leadproof: port {port}, where the starter would listen, is taken")
    assert taken.stderr.count("\n") == 1

    the_review_page_lets_in_once(stack, said)
    commands_agree_with_the_api(stack, said, tmp_path)
    a_lead_that_is_made_in_salesforce_comes_by_itself(said)
    claude_plans_what_is_sent_now(said)

    (worker,) = said["worker_pids"]
    os.kill(worker, signal.SIGKILL)
    until(lambda: "it is started again" in stack.errors.read_text(), "a killed worker is not started again")
    until(lambda: ("worker", worker) not in [child[:2] for child in stack.children()], "no new worker is recorded")
    children += stack.children()

    stack.process.send_signal(signal.SIGTERM)
    assert stack.process.wait(SECONDS) == 0, stack.errors.read_text()
    log = data_dir / "logs" / "worker.log"
    told = f"the worker was ended by signal 9 (its log: {log}); it is started again in 0.5 s\n"
    assert stack.errors.read_text() == told
    assert running(children) == []
    assert not (data_dir / "stack.env").exists()


def the_review_page_lets_in_once(stack: Up, said: dict[str, Any]) -> None:
    """By the link of `up --json`, and by one that a command prints."""
    assert said["review"].startswith(f"{said['starter']}/review/sign-in?link=")
    _, *lines = (stack.data_dir / "stack.env").read_text().splitlines()
    variables = dict(shlex.split(line)[0].split("=", 1) for line in lines)
    printed = CliRunner().invoke(app, ["review", "open"], env=variables).stdout
    (link,) = re.findall(r"^http\S+$", printed, re.MULTILINE)
    for url in (said["review"], link):
        for status in (303, 403):
            with httpx.Client(base_url=said["starter"]) as browser:
                assert browser.get("/review").status_code == 401
                text = url.partition("?link=")[2]
                assert browser.post("/review/sign-in", data={"link": text}).status_code == status
                assert browser.get("/review").status_code == (200 if status == 303 else 401)


def a_lead_that_is_made_in_salesforce_comes_by_itself(said: dict[str, Any]) -> None:
    """The local Salesforce sends its outbound message to the starter of this stack."""
    body = {
        "provider": "salesforce",
        "object": "leads",
        "user": "",
        "properties": {"LastName": "Ode", "Company": "Oak"},
    }
    record = httpx.put(f"{said['sandbox']}/_sandbox/records", json=body).raise_for_status().json()["id"]
    headers = {"Authorization": f"Bearer {said['secrets']['api_token']}"}

    def come() -> list[dict[str, Any]]:
        asked = httpx.get(f"{said['starter']}/v1/leads", params={"source_record_id": record}, headers=headers)
        return [lead for lead in asked.raise_for_status().json()["items"] if lead["outcome"] != "working"]

    (lead,) = until(come, "no lead comes from the local Salesforce")
    assert (lead["source_system"], lead["event_kind"]) == ("salesforce", "lead.saved")


def claude_plans_what_is_sent_now(said: dict[str, Any]) -> None:
    """The planner that `up` was told, by the stand-in in the sandbox; leads of before keep their version and plan."""
    form = {
        "source_record_id": "form-of-the-test",
        "event_kind": "form.submitted",
        "occurrence": "1",
        "occurred_at": "2026-11-02T10:00:00Z",
        "lead": {"email": "ina@lead.example", "message": "hello"},
    }
    headers = {"Authorization": f"Bearer {said['secrets']['api_token']}"}
    with httpx.Client(base_url=said["starter"], headers=headers) as api:
        key = api.post("/v1/leads", json=form).raise_for_status().json()["event_key"]
        lead = until(lambda: (found := api.get(f"/v1/leads/{key}").json())["plan"] and found, "it is not planned")
    assert (lead["policy_version"], lead["plan"]["planner"]["kind"]) == ("embedded-2-claude", "claude")


def commands_agree_with_the_api(stack: Up, said: dict[str, Any], tmp_path: Path) -> None:
    """What commands print for programs is what the API answers, and decisions reach the runs."""
    remark, *lines = (stack.data_dir / "stack.env").read_text().splitlines()
    assert remark == f"# the sandbox: {said['sandbox']}"
    variables = dict(shlex.split(line)[0].split("=", 1) for line in lines)
    assert (variables["TEMPORAL_ADDRESS"], variables["TEMPORAL_NAMESPACE"]) == (said["temporal"], said["namespace"])
    assert Path(variables["LEADPROOF_POLICY"]) == stack.data_dir / "policy.toml"  # of --planner claude

    def command(*arguments: str) -> Any:
        ended = CliRunner().invoke(app, [*arguments], env=variables)
        assert ended.exit_code == 0, ended.output
        return json.loads(ended.stdout)

    def api(path: str) -> Any:
        headers = {"Authorization": f"Bearer {said['secrets']['api_token']}"}
        return httpx.get(said["starter"] + path, headers=headers).raise_for_status().json()

    leads = api("/v1/leads?outcome=done")
    assert len(leads["items"]) == 5
    assert command("lead", "list", "--outcome", "done", "--json") == leads
    observed = api("/v1/mutations?status=observed")
    assert len(observed["items"]) == 6  # one of the leads has two effects
    assert command("mutation", "list", "--status", "observed", "--json") == observed
    one = observed["items"][0]
    assert command("mutation", "show", one["mutation_key"], "--json") == api(f"/v1/mutations/{one['mutation_key']}")
    lead = api(f"/v1/leads/{one['event_key']}")
    assert lead["outcome"] == "done"
    assert command("lead", "show", lead["workflow_id"], "--json") == lead
    final = CliRunner().invoke(app, ["lead", "resume", one["event_key"]], env=variables)
    assert isinstance(final.exception, CommandRefused)
    assert "is final (done)" in str(final.exception)
    assert isinstance(CliRunner().invoke(app, ["lead", "show", "0" * 64], env=variables).exception, NotFound)

    questions = api("/v1/reviews?state=open")["items"]
    assert {item["reason"] for item in questions} == {"changed_before_write", "overwrote_unseen_edit"}
    assert command("review", "list", "--json")["items"] == questions
    question = questions[0]
    shown = CliRunner().invoke(app, ["review", "show", question["review_id"][:8]], env=variables).stdout
    assert question["why"] in shown
    assert f"contact {question['source_record_id']}: divergent" in shown
    assert re.search(r"^owner .* 50\d \([a-z]+\)", shown, re.MULTILINE)
    decided = command("review", "decide", question["review_id"][:8], "abandon", "--reason", "a test", "--json")
    assert decided["verdict"] == "applied"
    assert api(f"/v1/mutations/{question['mutation_key']}")["status"] == "abandoned"
    again = CliRunner().invoke(app, ["review", "decide", question["review_id"], "accept"], env=variables)
    assert isinstance(again.exception, CommandRefused)

    events = json.loads(recorded.delivery("contact-creation", "999001"))
    (tmp_path / "foreign.json").write_text(json.dumps([{**events[0], "portalId": 7}]))
    assert command("send", str(tmp_path / "foreign.json"))["answer"]["quarantined"] == 1
    (held,) = command("quarantine", "list", "--json")["items"]
    assert held["reason"] == "foreign_account"
    assert command("quarantine", "drop", held["delivery_digest"], "0")["state"] == "dropped"


def test_nothing_is_left_of_a_stack_that_is_killed(up: Callable[..., Up], tmp_path: Path) -> None:
    stack = up(tmp_path / "data")
    children = until(lambda: len(stack.children()) > 1 and stack.children(), "no process is started")
    assert running(children)
    stack.process.kill()
    stack.process.wait()
    children += stack.children()
    until(lambda: not running(children), "a process outlives its stack")


def test_the_server_registers_the_search_attributes_of_the_contract() -> None:
    names = {"KEYWORD": "Keyword", "KEYWORD_LIST": "KeywordList"}
    assert {key.name: names[key.indexed_value_type.name] for key in contract.SEARCH_ATTRIBUTES} == SEARCH_ATTRIBUTES
