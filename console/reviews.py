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
    from console.tables import say, say_facts, say_json, say_table
    from leadproof.settings import load

    answer = StarterApi(load()).get(f"/v1/reviews/{review_id}")
    if as_json:
        say_json(answer)
        return
    mutation, _ = answer.pop("mutation"), answer.pop("lead")
    say_facts(answer)
    if mutation is None:
        return
    base, intent, observed = mutation["base_state"], mutation["intended_state"], mutation["observed_state"]
    found = (observed or {}).get("fields", {})
    intended = intent["fields"] if intent else {}
    say()
    say_table(
        ("field", "stood", "intended", "observed"),
        [(name, (base or {}).get(name), value, found.get(name)) for name, value in intended.items()],
        title=f"{mutation['action_kind']} in {mutation['target_system']}: {mutation['status']}",
    )
    if mutation["differences"]:
        columns = ("field", "intended", "observed", "changed_by", "changed_at", "lost")
        say()
        say_table(
            columns, [[one[column] for column in columns] for one in mutation["differences"]], title="Differences"
        )


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
        until = f"; it can be applied from {answer['until']}" if answer.get("until") else ""
        say(f"The decision is kept, and not applied yet{until}. The same command asks again.")
    else:
        say(f"The decision {decision} is applied.")
