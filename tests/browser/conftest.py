from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.chromium import ARGUMENTS, HOW_TO_GET, chromium
from tests.browser.desk import Desk, a_desk
from tests.conftest import a_server
from tests.support.serving import free_port

expect.set_options(timeout=15_000)
"""Milliseconds: what is waited for is there at once, where the machine does nothing else."""


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium, headless."""
    program = chromium()
    if program is None:
        pytest.skip(HOW_TO_GET)
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield started
        await started.close()


@pytest.fixture(scope="session")
async def _desk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    ui_port, folder = free_port(), tmp_path_factory.mktemp("desk")
    async with (
        await a_server("--headless=false", f"--ui-port={ui_port}") as temporal,
        a_desk(temporal.client, browser, folder, ui_port) as desk,
    ):
        yield desk


@pytest.fixture
def desk(_desk: Desk) -> Iterator[Desk]:
    """Where people decide: the house on a socket, and browsers of people who are signed in."""
    _desk.house.control.delete("/faults")
    yield _desk
    _desk.house.control.delete("/faults")
