"""Records the histories that `test_replay.py` replays: `python -m tests.replay.record`, after a change on purpose.

With names of paths, only those: what a change left as it was goes on proving that runs of older code replay.

What names a machine or a process is taken out; the people in them are made up.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from leadproof.domain.events import Outcome
from tests.conftest import a_server
from tests.support.house import House, a_house, eventually, quick_policy

HISTORIES = Path(__file__).with_name("histories")
BIG = {"numemployees": "1000+"}
MACHINE = frozenset({"identity", "stackTrace", "binaryChecksum", "sdkName", "sdkVersion", "workerVersion"})

PROCESS = re.compile(r"\b\d+@[A-Za-z0-9_.-]+")
"""A Temporal identity: process id and host name."""


async def _plain(house: House) -> str:
    _, key = await house.lead()
    return key


async def _answer_lost(house: House) -> str:
    record_id = house.contact()
    house.control.fault("drop_after_apply", match=record_id)
    await house.deliver(house.creation(record_id))
    return house.key_of(record_id)


async def _never_arrived(house: House) -> str:
    record_id = house.contact()
    house.control.fault("drop_before_apply", match=record_id)
    await house.deliver(house.creation(record_id))
    return house.key_of(record_id)


async def _approved_by_signal(house: House) -> str:
    _, key = await house.lead(**BIG)
    item = await _asked(house, key)
    await house.handle(key).signal("decide", {"review_id": item, "version": 1, "decision": "approve"})
    return key


async def _divergent_and_overwritten(house: House) -> str:
    record_id = house.contact()
    edit = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.decide(await _asked(house, key), "overwrite")
    return key


async def _found_while_divergent(house: House) -> str:
    """As above, by code that tells the run's search attributes which statuses its effects are in."""
    return await _divergent_and_overwritten(house)


async def _rejected_and_retried(house: House) -> str:
    record_id = house.contact()
    body = {"status": "error", "category": "VALIDATION_ERROR", "errors": [{"code": "INVALID_OPTION", "message": "no"}]}
    house.control.fault("status", match=record_id, args={"status": 400, "body": body})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.decide(await _asked(house, key), "retry")
    return key


async def _two_dependent_writes(house: House) -> str:
    _, key = await house.lead(lifecyclestage="customer")
    await eventually(lambda: len(house.mutations(key)) == 3)
    for mutation in house.mutations(key)[1:]:
        item = await eventually(partial(house.ledger.review_of, mutation.mutation_key))
        await house.decide(item.review_id, "approve")
    return key


async def _gone(house: House) -> str:
    await house.deliver(house.creation("999000999"))
    return house.key_of("999000999")


async def _given_up(house: House) -> str:
    _, key = await house.lead(**BIG)
    return key


async def _asked(house: House, key: str) -> str:
    await house.outcome(key, Outcome.REVIEW)
    items = [house.ledger.review_of(mutation.mutation_key) for mutation in house.mutations(key)]
    return next(item.review_id for item in items if item is not None)


PATHS: dict[str, Callable[[House], Awaitable[str]]] = {
    "plain": _plain,
    "answer_lost": _answer_lost,
    "never_arrived": _never_arrived,
    "approved_by_signal": _approved_by_signal,
    "divergent_and_overwritten": _divergent_and_overwritten,
    "found_while_divergent": _found_while_divergent,
    "rejected_and_retried": _rejected_and_retried,
    "two_dependent_writes": _two_dependent_writes,
    "gone": _gone,
    "given_up": _given_up,
}

POLICIES = {"given_up": quick_policy(**{"due_hours = 4": "due_hours = 0.0005\nabandon_after_hours = 0.0005"})}
"""Of paths that need another policy than the rest."""


def without_machine(value: Any) -> Any:
    """The same JSON without what names a machine, a process or a path of it; payloads are looked into."""
    if isinstance(value, dict):
        kept = {name: without_machine(part) for name, part in value.items() if name not in MACHINE}
        if set(value) >= {"data", "metadata"}:
            clear = PROCESS.sub("worker", base64.b64decode(value["data"]).decode("utf-8"))
            kept["data"] = base64.b64encode(clear.encode("utf-8")).decode("ascii")
        return kept
    if isinstance(value, list):
        return [without_machine(part) for part in value]
    return PROCESS.sub("worker", value) if isinstance(value, str) else value


async def main(*names: str) -> None:
    HISTORIES.mkdir(exist_ok=True)
    async with await a_server() as server:
        with tempfile.TemporaryDirectory() as folder:
            for name, path in PATHS.items():
                if names and name not in names:
                    continue
                (own := Path(folder) / name).mkdir()
                async with a_house(server.client, own, policy=POLICIES.get(name)) as house:
                    key = await path(house)
                    await house.handle(key).result()
                    history = json.loads((await house.handle(key).fetch_history()).to_json())
                    text = json.dumps(without_machine(history), indent=1, sort_keys=True)
                    (HISTORIES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
