"""People at their browsers, before a whole house whose page is served on a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, StorageState
from temporalio.client import Client

from leadproof.domain.events import Outcome
from leadproof.domain.review import ReviewItem
from tests.support.house import TOKENS, House, a_house, eventually
from tests.support.serving import free_port, serving

BIG = {"numemployees": "1000+"}
EDIT = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "after_write"}
UNSEEN = {**EDIT, "moment": "before_write"}
REFUSAL = {"status": 400, "body": {"status": "error", "category": "VALIDATION_ERROR", "message": "no"}}

PEOPLE = ("dana", "kofi")


class Desk:
    """The house, and who sits before it; everyone signs in once."""

    def __init__(self, house: House, browser: Browser, address: str, ui: str) -> None:
        self.house = house
        self.address = address
        self.ui = ui
        self._browser = browser
        self._signed_in: dict[str, StorageState] = {}

    @asynccontextmanager
    async def person(self, name: str = "dana", **how: Any) -> AsyncIterator[Page]:
        """A browser of somebody who is signed in; what it complains of is a fault of the page."""
        if name not in self._signed_in:
            self._signed_in[name] = await self._sign_in(name)
        async with self._context(storage_state=self._signed_in[name], **how) as context:
            page = await context.new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
            yield page
            # an answer 4xx that the test asked for is told there, too
            assert [one for one in complaints if not one.startswith("Failed to load resource")] == []

    @asynccontextmanager
    async def stranger(self, **how: Any) -> AsyncIterator[Page]:
        """A browser of somebody who is not signed in."""
        async with self._context(**how) as context:
            yield await context.new_page()

    async def link(self, name: str) -> str:
        """A one-time link."""
        made = await self.house.http.post("/v1/reviews/links", headers={"authorization": f"Bearer {_token(name)}"})
        assert made.status_code == 200, made.text
        url: str = made.json()["url"]
        return url

    async def _sign_in(self, name: str) -> StorageState:
        async with self._context() as context:
            page = await context.new_page()
            await page.goto(await self.link(name))
            await page.get_by_role("button", name="Sign in").click()
            await page.get_by_role("heading", name="Review queue").wait_for()
            return await context.storage_state()

    @asynccontextmanager
    async def _context(self, **how: Any) -> AsyncIterator[BrowserContext]:
        context = await self._browser.new_context(base_url=self.address, reduced_motion="reduce", **how)
        try:
            yield context
        finally:
            await context.close()

    # -- questions ---------------------------------------------------------------------------------------------------
    async def asked(self, key: str) -> ReviewItem:
        """The open question of a lead."""
        await self.house.outcome(key, Outcome.REVIEW)
        return await eventually(lambda: self.open_item(key))

    def open_item(self, key: str) -> ReviewItem | None:
        items = (self.house.ledger.review_of(mutation.mutation_key) for mutation in self.house.mutations(key))
        return next((item for item in items if item is not None), None)

    async def approval(self, **properties: str) -> tuple[str, str, ReviewItem]:
        """A company so big that a person approves its owner: record id, event key, question."""
        record_id, key = await self.house.lead(**BIG, **properties)
        return record_id, key, await self.asked(key)

    async def faulty(
        self,
        kind: str,
        args: Mapping[str, Any] | None = None,
        *,
        times: int = 1,
        properties: Mapping[str, str] | None = None,
    ) -> tuple[str, str, ReviewItem]:
        """A lead whose write meets a fault that a person is asked about."""
        record_id = self.house.contact(**(properties or {}))
        self.house.control.fault(kind, match=record_id, args=dict(args or {}), times=times)
        await self.house.deliver(self.house.creation(record_id))
        key = self.house.key_of(record_id)
        return record_id, key, await self.asked(key)

    async def edited(self, **properties: str) -> tuple[str, str, ReviewItem]:
        """A record that a person changed after our write."""
        return await self.faulty("human_edit", EDIT, properties=properties)


async def decide(page: Page, decision: str, reason: str = "") -> None:
    """What a person does to decide: says why, has read what would be written, and clicks."""
    await page.get_by_label("Reason").fill(reason)
    read = page.get_by_label(f"I have read what {decision.lower()} writes")
    if await read.count():
        await read.check()
    await page.get_by_role("button", name=decision, exact=True).click()


def _token(name: str) -> str:
    return f"token-of-{name}"


@asynccontextmanager
async def a_desk(client: Client, browser: Browser, folder: Path, ui_port: int) -> AsyncIterator[Desk]:
    """A desk on a Temporal server whose UI is at a port."""
    port = free_port()
    address, ui = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{ui_port}"
    people = ",".join(f"{name}:read+decide:{_token(name)}" for name in PEOPLE)
    more = {
        "LEADPROOF_PUBLIC_URL": address,
        "LEADPROOF_STARTER_PORT": str(port),
        "LEADPROOF_API_TOKENS": f"{TOKENS},{people}",
        "LEADPROOF_REVIEW_KEY": "a-review-key-of-the-tests-of-32-chars",
        "LEADPROOF_TEMPORAL_UI_URL": ui,
    }
    async with a_house(client, folder, more=more) as house, serving(house.settings):
        yield Desk(house, browser, address, ui)
