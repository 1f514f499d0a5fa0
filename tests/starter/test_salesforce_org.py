"""An org that sends outbound messages over sockets, and a catch-up on it: what the one brought, the other knows.

The witness is the sandbox's emitter of outbound messages, which knows nothing of our code.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client
from typer.testing import CliRunner

from console.cli import app
from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from sandbox.server import running
from tests.sandbox.control import Control, eventually
from tests.starter.door import authorized, settings_of
from tests.starter.salesforce import ORGANIZATION, POLICY, SALESFORCE, SECRET
from tests.support.serving import free_port, serving

PERSON = "005xx000001Sv6BAAS"


class Org:
    """An org, the starter that it delivers to, and how a catch-up looks at it."""

    def __init__(self, control: Control, environment: dict[str, str]) -> None:
        self.control = control
        self._environment = environment
        self._starter = environment["LEADPROOF_PUBLIC_URL"]

    def delivers(self, on: bool = True, **rule: Any) -> None:
        target = f"{self._starter}/webhooks/salesforce/outbound-message/{SECRET}"
        self.control.post("/webhooks", {"provider": "salesforce", "target": target, "on": on, **rule})

    def save(self, kind: str = "leads", record: str | None = None, **fields: str) -> str:
        given = {"LastName": "Sample", **({"Company": "Example"} if kind == "leads" else {}), **fields}
        asked = {"provider": "salesforce", "object": kind, "id": record, "user": PERSON, "properties": given}
        return str(self.control.put("/records", asked)["id"])

    async def acknowledged(self) -> None:
        """Wait until nothing is left to deliver."""

        def none_waits() -> bool:
            shown = self.control.get("/webhooks", provider="salesforce")
            return bool(shown["waiting"] == 0 and shown["delivered"] > 0)

        await asyncio.to_thread(eventually, none_waits, 20)

    async def leads(self, record: str) -> list[dict[str, Any]]:
        async with httpx.AsyncClient() as http:
            answer = await http.get(
                f"{self._starter}/v1/leads", params={"source_record_id": record}, headers=authorized("all")
            )
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    async def catch_up(self, *arguments: str, **environment: str) -> dict[str, Any]:
        """The counts of a catch-up, without those that are zero."""
        command = ["catch-up", "salesforce", "--since", "1h", "--json", *arguments]
        result = await asyncio.to_thread(CliRunner().invoke, app, command, env={**self._environment, **environment})
        if result.exception is not None:
            raise result.exception
        told: dict[str, Any] = json.loads(result.output)
        assert (told.pop("complete"), told.pop("dry_run")) == (True, "--dry-run" in arguments)
        return {name: count for name, count in told.items() if count}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[str]:
    with running() as address:
        yield address


@asynccontextmanager
async def an_org(client: Client, folder: Path, sandbox: str) -> AsyncIterator[tuple[Org, dict[str, str]]]:
    port = free_port()
    policy = folder / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    environment = SALESFORCE | {
        "LEADPROOF_LEDGER_URL": f"sqlite:///{folder / 'ledger.db'}",
        "LEADPROOF_POLICY": str(policy),
        "LEADPROOF_TEMPORAL_ADDRESS": client.service_client.config.target_host,
        "LEADPROOF_TEMPORAL_NAMESPACE": client.namespace,
        "LEADPROOF_STARTER_PORT": str(port),
        "LEADPROOF_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "LEADPROOF_SALESFORCE_URL": sandbox,
        "LEADPROOF_SALESFORCE_CLIENT_ID": "leadproof-of-the-tests",
        "LEADPROOF_SALESFORCE_CLIENT_SECRET": "a-client-secret-of-the-tests",
    }
    chosen = settings_of(**environment)
    environment |= {"LEADPROOF_TENANT": chosen.tenant, "LEADPROOF_ENVIRONMENT": chosen.environment}
    upgrade(chosen.ledger_url)
    with httpx.Client(base_url=sandbox, trust_env=False) as http:
        control = Control(http)
        control.post("/reset")
        yield Org(control, environment), environment


def stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("ledger.db*"))


async def test_what_an_org_tells_of_is_taken_in_and_a_catch_up_finds_the_rest(
    unworked: Client, tmp_path: Path, sandbox: str
) -> None:
    async with an_org(unworked, tmp_path, sandbox) as (org, environment):
        org.delivers(copies=2, reorder=True, session_id=True)
        lead, contact = org.save(), org.save("contacts")  # nobody listens yet: the org tries again
        async with serving(settings_of(**environment)):
            org.save(record=lead, Title="Head of Samples")
            await org.acknowledged()
            told = [(row["event_kind"], row["source_record_id"]) for row in await org.leads(lead)]
            assert told == [("lead.saved", lead)] * 2
            (row,) = await org.leads(contact)
            assert (row["event_kind"], row["occurrence"], row["deliveries"]) == ("contact.saved", None, 2)
            assert await org.catch_up("--dry-run") == {"records": 2, "seen": 2, "duplicate": 2}
            assert await org.catch_up() == {"records": 2, "seen": 2, "duplicate": 2}

            org.delivers(on=False)
            # an org tells whole seconds: what is saved within one is, to a catch-up, what was told in it
            org.control.put("/clock", {"advance_seconds": 2})
            unheard = org.save(Title="Unheard")
            org.save(record=lead, Title="Chief of Samples")
            org.save("contacts", contact, Title="Chief of Samples")
            expected = {"records": 3, "seen": 3, "started": 2, "duplicate": 1}
            assert await org.catch_up("--dry-run") == expected
            assert await org.catch_up() == expected
            assert await org.catch_up() == {"records": 3, "seen": 3, "duplicate": 3}
            assert [len(await org.leads(record)) for record in (lead, contact, unheard)] == [3, 1, 1]
        assert f"{ORGANIZATION[:15]}!AQ0AQ".encode() not in stored(tmp_path)  # though each message had a session id


async def test_a_catch_up_says_why_it_cannot(unworked: Client, tmp_path: Path, sandbox: str) -> None:
    async with an_org(unworked, tmp_path, sandbox) as (org, _):
        with pytest.raises(ConfigurationRefused, match="opens organization 00Dxx0000001gPLEAY"):
            await org.catch_up(LEADPROOF_SALESFORCE_ORG_ID="00Dxx0000001gPQ")
        with pytest.raises(ConfigurationRefused, match="LEADPROOF_SALESFORCE_CLIENT_ID"):
            await org.catch_up(LEADPROOF_SALESFORCE_CLIENT_ID="")
        policy = tmp_path / "policy.toml"
        policy.write_text(POLICY.replace('source = "salesforce"', 'source = "flow"'), encoding="utf-8")
        with pytest.raises(ConfigurationRefused, match="the policy acts on no event of Salesforce"):
            await org.catch_up()
