"""Connecting to Temporal: with bounded patience, and with a sentence where it does not answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from temporalio.client import Client, Plugin
from temporalio.service import RPCError

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings
from workers.plugin import leads_plugin


async def connect(settings: Settings, *, patience_seconds: float = 30.0, plugins: Sequence[Plugin] = ()) -> Client:
    """Connect to the configured Temporal, waiting for a server that is still starting.

    Args:
        patience_seconds: how long to keep trying.
        plugins: further plugins beside the project's own.

    Raises:
        ConfigurationRefused: nothing answered, in one sentence.
    """
    deadline = time.monotonic() + patience_seconds
    pause = 0.05
    while True:
        try:
            return await Client.connect(
                settings.temporal_address,
                namespace=settings.temporal_namespace,
                api_key=settings.temporal_api_key.get_secret_value() if settings.temporal_api_key else None,
                tls=settings.temporal_tls or settings.temporal_api_key is not None,
                plugins=[leads_plugin(), *plugins],
            )
        except (RPCError, RuntimeError):  # the SDK raises RuntimeError where no connection can be made
            if time.monotonic() + pause > deadline:
                raise ConfigurationRefused(
                    f"no Temporal server answers at {settings.temporal_address} for namespace "
                    f"{settings.temporal_namespace!r}; start one, or set LEADPROOF_TEMPORAL_ADDRESS"
                ) from None
            await asyncio.sleep(pause)  # the server is still starting: back off, bounded by the patience
            pause = min(pause * 2, 2.0)
