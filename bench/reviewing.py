"""How long a person waits: for the page of the open questions, and for what becomes of a decision."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from bench.deployment import Deployment, NotAsExpected, deployment
from bench.report import Goal, Section
from bench.samples import percentile, ratio
from bench.stage import Stage, Stopwatch

_FEW, _MANY = 10, 1000
_LOOKS: Final = 100
_SECONDS: Final = 30
_FIRST_BYTE_MS: Final = 200
_DECIDED_SECONDS: Final = 1.0

_QUESTIONS = """SELECT review_id, version, mutation_key, event_key FROM review_item
WHERE state = 'open' AND mutation_key IS NOT NULL ORDER BY opened_at"""


async def measure(_: Stage) -> Section:
    """On a stack of its own: real questions are looked at and decided, and looked at again among a thousand copies."""
    with tempfile.TemporaryDirectory(prefix="leadproof-bench-") as folder, deployment(Path(folder)) as house:
        headers = {"Authorization": f"Bearer {house.api_token}"}
        async with (
            httpx.AsyncClient(base_url=house.starter, trust_env=False, timeout=_SECONDS, headers=headers) as api,
            httpx.AsyncClient(base_url=house.starter, trust_env=False, timeout=_SECONDS) as browser,
        ):
            await _ask(house, api, 2 * _FEW)
            decided = [await _decided(api, one) for one in house.rows(_QUESTIONS)[:_FEW]]
            await _sign_in(api, browser)
            few = await _first_bytes(browser)
            _copy(house, house.rows(_QUESTIONS)[0], _MANY - _FEW)
            many = await _first_bytes(browser)
    return _section(few, many, decided)


async def _ask(house: Deployment, api: httpx.AsyncClient, number: int) -> None:
    """Have leads of big companies come in, each of which a person is asked about."""
    for one in range(number):
        lead = {"email": f"big{one}@lead.example", "last_name": "Bo", "company": "Globex", "country": "US"}
        body = {
            "source_record_id": f"big-{one}",
            "event_kind": "form.submitted",
            "occurrence": f"big-{one}",
            "occurred_at": "2026-11-01T09:00:00Z",
            "lead": {**lead, "employees": 2000},
        }
        (await api.post("/v1/leads", json=body)).raise_for_status()
    watch = Stopwatch()
    while len(house.rows(_QUESTIONS)) < number:
        if watch.seconds() > _SECONDS:
            raise NotAsExpected(f"{number} leads of big companies should be questions within {_SECONDS} s")
        await asyncio.sleep(0.1)


async def _decided(api: httpx.AsyncClient, question: Sequence[Any]) -> float:
    """Seconds until a decision is answered as applied."""
    review_id, version, *_ = question
    body = {"decision": "abandon", "version": version, "reason": "measured"}
    watch = Stopwatch()
    answer = await api.post(f"/v1/reviews/{review_id}/decisions", json=body)
    if answer.status_code != httpx.codes.OK:
        raise NotAsExpected(f"a decision should be applied, but the starter says {answer.status_code}: {answer.text}")
    return watch.seconds()


async def _sign_in(api: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    made = (await api.post("/v1/reviews/links")).raise_for_status().json()
    link = httpx.URL(made["url"]).params["link"]
    answer = await browser.post("/review/sign-in", data={"link": link}, headers={"Origin": str(browser.base_url)})
    if answer.status_code != httpx.codes.SEE_OTHER:
        raise NotAsExpected(f"a link should sign somebody in, but the starter says {answer.status_code}: {answer.text}")


async def _first_bytes(browser: httpx.AsyncClient) -> list[float]:
    """Seconds until the page of the queue begins to arrive."""
    seconds = []
    for look in range(-5, _LOOKS):
        watch = Stopwatch()
        async with browser.stream("GET", "/review") as answer:
            begun = watch.seconds()
            text = (await answer.aread()).decode()
        if answer.status_code != httpx.codes.OK or "/review/" not in text:
            raise NotAsExpected(f"the page of the queue should be shown, and it is {answer.status_code}")
        if look >= 0:  # the first ones load what is loaded once
            seconds.append(begun)
    return seconds


def _copy(house: Deployment, question: Sequence[Any], number: int) -> None:
    """Put copies of a question beside it, each with an event and an effect of its own."""
    _, _, mutation_key, event_key = question
    connection = sqlite3.connect(house.ledger, timeout=_SECONDS)
    connection.row_factory = sqlite3.Row
    try:
        with connection:
            for one in range(number):
                event, mutation, review = (secrets.token_hex(32) for _ in range(3))
                own = {"event_key": event, "source_record_id": f"copy-{one}"}
                keys = {**own, "mutation_key": mutation, "target_record": secrets.token_hex(32)}
                _again(connection, "lead_event", "event_key", event_key, {**own, "workflow_id": f"lead:{event}"})
                _again(connection, "lead_plan", "event_key", event_key, {"event_key": event})
                _again(connection, "mutation", "mutation_key", mutation_key, keys)
                asked = {"review_id": review, "subject": mutation, "event_key": event, "mutation_key": mutation}
                _again(connection, "review_item", "mutation_key", mutation_key, asked)
    finally:
        connection.close()


def _again(connection: sqlite3.Connection, table: str, key: str, value: str, changed: Mapping[str, str]) -> None:
    (row,) = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", [value]).fetchall()  # noqa: S608 - names of ours
    copy = {**dict(row), **changed}
    names, marks = ", ".join(f'"{name}"' for name in copy), ", ".join("?" * len(copy))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(copy.values()))  # noqa: S608 - as above


def _section(few: Sequence[float], many: Sequence[float], decided: Sequence[float]) -> Section:
    section = Section("A person's wait")
    section.say(
        f"The page of the review queue over HTTP until its first byte, {_LOOKS} times one after another, with {_FEW} "
        f"open questions and with {_MANY} (copies of one, each with its event, plan and effect). It shows 50 of them."
    )
    rows = [
        (number, *(f"{1000 * percentile(seconds, share):.0f} ms" for share in (0.5, 0.95, 1.0)))
        for number, seconds in ((_FEW, few), (_MANY, many))
    ]
    section.table(("open questions", "median", "p95", "longest"), rows)
    section.say(
        f"With {_MANY} it takes **{ratio(many, few, 0.5):.2f}** times as long as with {_FEW}. A decision over the API, "
        f"with a worker running, until it is answered as applied, {len(decided)} times: median "
        f"{1000 * percentile(decided, 0.5):.0f} ms, longest {1000 * max(decided):.0f} ms."
    )
    p95 = 1000 * percentile(many, 0.95)
    section.goals += [
        Goal(
            f"first byte of the review page with {_MANY} open questions, p95",
            f"under {_FIRST_BYTE_MS} ms",
            f"{p95:.0f} ms",
            p95 < _FIRST_BYTE_MS,
        ),
        Goal(
            "a decision answered as applied, the longest",
            f"under {_DECIDED_SECONDS:g} s",
            f"{max(decided):.2f} s",
            max(decided) < _DECIDED_SECONDS,
        ),
    ]
    return section
