"""The starter as a process: what it cannot listen on, it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from starter.serve import serve
from tests.starter.door import POLICY, settings_of


@pytest.mark.parametrize("host", ["x" * 70, "192.0.2.1"])
async def test_a_host_that_it_cannot_listen_on(unworked: Client, tmp_path: Path, host: str) -> None:
    settings = settings_of(
        LEADPROOF_LEDGER_URL=f"sqlite:///{tmp_path / 'ledger.db'}",
        LEADPROOF_POLICY=str(POLICY),
        LEADPROOF_TEMPORAL_ADDRESS=unworked.service_client.config.target_host,
        LEADPROOF_TEMPORAL_NAMESPACE=unworked.namespace,
        LEADPROOF_STARTER_HOST=host,
    )
    upgrade(settings.ledger_url)
    with pytest.raises(ConfigurationRefused, match=f"the starter cannot listen on {host}:8080"):
        await serve(settings)
