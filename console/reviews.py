"""`leadproof review`: the review queue from a terminal, through the starter's API."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="The review queue.", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="for programs")]
ReviewId = Annotated[str, typer.Argument(help="id of the review item")]


@app.command("list")
def list_(
    queue: Annotated[str | None, typer.Option(help="only this queue")] = None,
    state: Annotated[str, typer.Option(help="open, decided, resolved or expired")] = "open",
    as_json: JsonOption = False,
) -> None:
    """List questions for people."""
    from console.starter_api import StarterApi
    from console.tables import say_json, say_table
    from leadproof.settings import load

    answer = StarterApi(load()).get("/v1/reviews", queue=queue, state=state)
    if as_json:
        say_json(answer)
        return
    columns = ("review_id", "queue", "reason", "state", "opened_at", "due_at", "subject")
    say_table(columns, [[item[column] for column in columns] for item in answer["items"]])


@app.command()
def show(review_id: ReviewId, as_json: JsonOption = False) -> None:
    """Show one question with its receipts and differences."""
    from console.starter_api import StarterApi
    from console.tables import say_facts, say_json
    from leadproof.settings import load

    answer = StarterApi(load()).get(f"/v1/reviews/{review_id}")
    if as_json:
        say_json(answer)
    else:
        say_facts(answer)


@app.command()
def decide(
    review_id: ReviewId,
    decision: Annotated[str, typer.Argument(help="approve, retry, accept, overwrite, restore, abandon or plan_again")],
    reason: Annotated[str, typer.Option(help="why, for those who read it later")] = "",
    as_json: JsonOption = False,
) -> None:
    """Decide a question, on the state as it is shown now."""
    from console.starter_api import StarterApi
    from console.tables import say, say_json
    from leadproof.settings import load

    api = StarterApi(load())
    item = api.get(f"/v1/reviews/{review_id}")
    status, answer = api.decide(
        f"/v1/reviews/{review_id}/decisions",
        {
            "version": item["version"],
            "decision": decision,
            "reason": reason,
            "shown_digest": item.get("shown_digest"),
        },
    )
    if as_json:
        say_json(answer)
    elif status == 202:
        say("The decision is kept; no worker has answered yet.")
    else:
        say(f"The decision {decision} is applied.")
