"""`leadproof send` of a recorded outbound message, to a starter on a socket."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from temporalio.client import Client
from typer.testing import CliRunner, Result

from console.cli import app
from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from tests.inbound.test_salesforce import FIXTURES
from tests.starter.door import settings_of
from tests.starter.salesforce import POLICY, SALESFORCE
from tests.support.serving import free_port, serving


async def sent(environment: dict[str, str], *arguments: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, app, ["send", *arguments], env=environment)


async def test_a_recorded_message_is_delivered_as_often_as_told(unworked: Client, tmp_path: Path) -> None:
    port = free_port()
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    environment = SALESFORCE | {
        "LEADPROOF_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "LEADPROOF_POLICY": str(policy),
        "LEADPROOF_TEMPORAL_ADDRESS": unworked.service_client.config.target_host,
        "LEADPROOF_TEMPORAL_NAMESPACE": unworked.namespace,
        "LEADPROOF_STARTER_PORT": str(port),
        "LEADPROOF_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    chosen = settings_of(**environment)
    upgrade(chosen.ledger_url)
    message = str(FIXTURES / "15-contact-newline-before-declaration.xml")
    none = str(FIXTURES / "02-notifications-element-empty-bom.xml")
    async with serving(chosen):
        twice = await sent(environment, message, "--times", "2")
        assert twice.exit_code == 0, (twice.output, twice.exception)
        assert [json.loads(line) for line in twice.output.splitlines()] == [
            {"delivery": number, "status": 200, "answer": {"acknowledged": True}} for number in (1, 2)
        ]
        refused = await sent(environment, none)
        assert str(refused.exception) == "the starter answered 422 to delivery 1"
    for name in SALESFORCE:
        environment.pop(name)
    with pytest.raises(ConfigurationRefused, match="LEADPROOF_SALESFORCE_PATH_SECRETS is not set"):
        raise (await sent(environment, message)).exception or AssertionError("it was sent")
