"""`leadproof demo`: the main job end to end, with things broken on purpose."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from console.show import Row, Show
    from console.stack import Stack

DEMO_DIR = Path(".leadproof/demo")


def demo(
    *,
    leave: Annotated[
        bool, typer.Option("--exit", help="stop at the end; status 0 only if every outcome is as announced")
    ] = False,
    data_dir: Annotated[Path, typer.Option("--data-dir", help="emptied at every start")] = DEMO_DIR,
) -> None:
    """Show the main job end to end on embedded parts."""
    from console.leaving import CommandRefused
    from console.processes import SANDBOX_PORT, STARTER_PORT, TEMPORAL_PORT, addresses_of, ports_of
    from console.stack import Stack, StoppedEarly
    from console.tables import say
    from leadproof.settings import Settings, load

    say("Starting Temporal, local CRMs, a stand-in for Claude, the ledger, a worker and the starter ...")
    ports = ports_of(TEMPORAL_PORT, STARTER_PORT, SANDBOX_PORT)
    # a policy or secrets of the environment are for another deployment
    settings = Settings(temporal_cli=load().temporal_cli)
    stack = Stack(settings, data_dir, ports, fresh=True, any_port=True, planning="forms")
    try:
        with stack.running():
            for line in addresses_of(stack):
                say(f"  {line}")
            stack.switch_webhooks(on=False)  # the show delivers recordings itself
            rows = asyncio.run(_play(stack))
            _say_result(rows)
            wrong = [f"{row.lead}: {announced}" for row in rows for announced in row.wrong]
            if leave:
                if wrong:
                    raise CommandRefused(f"{len(wrong)} outcome(s) are not as announced")
                return
            stack.switch_webhooks(on=True)
            for line in (
                *(
                    "",
                    "Everything stays up until Ctrl-C; what is changed in the sandbox comes as webhooks now.",
                ),
                *addresses_of(stack),
                "What waits for a person: leadproof review list, leadproof review decide REVIEW_ID DECISION",
            ):
                say(line)
            stack.wait()
    except StoppedEarly:
        raise CommandRefused("stopped before the end of the demonstration") from None


async def _play(stack: Stack) -> list[Row]:
    """Play every scene at once, each about a lead of its own; the rows of the final table."""
    import httpx

    from console.scenes import BIG_SCENES, SCENES
    from console.show import Row, Show
    from console.tables import say
    from console.witness import Witness
    from leadproof.settings import load
    from workers.connect import connect

    say("")
    say("Recorded webhooks, each delivered more than once, and things broken on purpose:")
    token = {"Authorization": f"Bearer {stack.secrets.api_token}"}
    temporal = await connect(load(stack.variables, dotenv=None))
    witness = Witness(stack.addresses.sandbox or "")
    async with httpx.AsyncClient(base_url=stack.addresses.starter, headers=token, timeout=15, trust_env=False) as api:
        shows = [Show(stack, api, temporal, witness, Row(name)) for name in (*SCENES, *BIG_SCENES)]
        keeper = asyncio.create_task(_keep(stack))
        try:
            small, big = shows[: len(SCENES)], shows[len(SCENES) :]
            records = await _deliver_big(big)
            await asyncio.gather(
                *(_played(show, scene(show)) for show, scene in zip(small, SCENES.values(), strict=True)),
                *(
                    _played(show, scene(show, record))
                    for show, scene, record in zip(big, BIG_SCENES.values(), records, strict=True)
                ),
            )
        finally:
            await witness.close()
            if keeper.done():
                keeper.result()
            keeper.cancel()
    return [show.row for show in shows]


async def _deliver_big(shows: list[Show]) -> list[str]:
    """Two big companies and a change that the policy ignores, in one delivery; the contacts' ids."""
    from console.scenes import BIG, person

    names = (("Dia", "Okafor"), ("Eli", "Marsh"))
    records = [await show.witness.person_saves(person(*name, BIG)) for show, name in zip(shows, names, strict=True)]
    counts = await shows[0].deliver("contact-batch", *records, counted=False)
    shows[0].expect(
        counts["started"] == 2 and counts["ignored"] == 1, "one delivery starts two leads, ignores a change"
    )
    for show in shows:
        show.count({"started": 1})
        show.say("a company of 1000 people or more: the policy lets a person decide")
    return records


async def _played(show: Show, scene: Awaitable[None]) -> None:
    """Play one scene to its end; what goes wrong in it is noted, and the others go on."""
    import httpx

    from console.show import NotAsAnnounced

    try:
        await scene
    except NotAsAnnounced as error:
        show.expect(False, str(error))
    except httpx.HTTPError:
        show.expect(False, "starter and sandbox answer")


async def _keep(stack: Stack) -> None:
    while True:
        stack.look_after()
        await asyncio.sleep(0.2)


def _say_result(rows: list[Row]) -> None:
    from console.tables import say, say_table

    say("")
    say_table(
        ("lead", "asked", "delivered", "written", "observed", "waits for a person", ""),
        [
            (
                *(row.lead, row.asked, row.delivered, row.written, row.observed, row.waits),
                "NOT AS ANNOUNCED" if row.wrong else "as announced",
            )
            for row in rows
        ],
        title="What was asked, what the CRMs carried out (counted there), what was observed, what waits for a person",
    )
