"""`leadproof replay`: a run's history against this code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from temporalio.client import WorkflowHistory

    from workers.replaying import Difference


def replay(
    what: Annotated[
        str, typer.Argument(metavar="WORKFLOW_ID|FILE", help="a run in Temporal, or a history exported as JSON")
    ],
    run_id: Annotated[str | None, typer.Option(help="which run of the workflow ID; by default the latest")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one object for programs")] = False,
) -> None:
    """Replay a history against this code: `same`, or where it differs."""
    import asyncio

    from console.tables import say, say_json

    history, difference = asyncio.run(_replayed(what, Path(what), run_id))
    if as_json:
        say_json(
            {
                "result": "same" if difference is None else "differs",
                "workflow_id": history.workflow_id,
                "run_id": history.run_id,
                "events": len(history.events),
                "event_id": difference.event_id if difference else None,
                "event": difference.event if difference else None,
                "why": difference.why if difference else None,
            }
        )
    elif difference is None:
        say("same")
    else:
        say(f"differs at event {difference.event_id}, {difference.event}: {difference.why}")
    if difference is not None:
        raise typer.Exit(1)


async def _replayed(what: str, path: Path, run_id: str | None) -> tuple[WorkflowHistory, Difference | None]:
    """The history, and where it differs.

    Raises:
        ConfigurationRefused: there is no such file or run, it is no history, or Temporal does not answer.
    """
    from leadproof.domain.errors import ConfigurationRefused
    from leadproof.settings import load
    from workers import replaying

    if path.is_file():  # noqa: ASYNC240 - nothing else runs in this loop
        if run_id is not None:
            raise ConfigurationRefused("--run-id goes with a workflow ID, and this is a file")
        history = replaying.read_history(path)
    elif path.suffix == ".json" or path.parent != Path():
        raise ConfigurationRefused(f"there is no file {what}")
    else:
        history = await replaying.fetch_history(load(), what, run_id)
    return history, await replaying.first_difference(history)
