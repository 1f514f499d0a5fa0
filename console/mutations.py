"""`leadproof mutation`: mutations with their receipts, as the ledger has them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="Mutations and their receipts.", no_args_is_help=True)

_COLUMNS = {
    "attempts": ("number", "started_at", "ended_at", "outcome", "http_status", "correlation_id", "code", "detail"),
    "observations": ("number", "read_at", "identity", "verdict", "differs_in"),
    "decisions": ("decided_at", "decision", "reviewer", "via", "verdict", "reason"),
}

_FIRST = (
    *("mutation_key", "status", "reason", "action_kind", "target_system", "target_object", "provider_record_id"),
    *("environment", "source_system", "source_record_id", "event_key", "created_at", "updated_at"),
)
_LAST = (
    *("parent_key", "ordinal", "tenant", "policy_version", "target_record", "discriminator", "fingerprint", "version"),
)

JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


@app.command("list")
def list_(
    status: Annotated[str | None, typer.Option(help="only those in this status")] = None,
    source_record_id: Annotated[str | None, typer.Option(help="only those of this source record")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most so many")] = 100,
    cursor: Annotated[str | None, typer.Option(help="go on where a list ended")] = None,
    as_json: JsonOption = False,
) -> None:
    """List mutations, newest first."""
    from console.leaving import CommandRefused
    from console.short_keys import short
    from console.tables import say, say_json, say_table
    from leadproof.domain.mutation import Status
    from leadproof.settings import load
    from starter.rows import page
    from workers import compose

    if status is not None and status not in set(Status):
        raise CommandRefused(f"a mutation is never {status!r}, but one of {', '.join(Status)}")
    items, following = compose.open_ledger(load()).mutations(
        status=Status(status) if status else None, source_record_id=source_record_id, limit=limit, cursor=cursor
    )
    answer = page(items, following)
    if as_json:
        say_json(answer)
        return
    columns = ("environment", "action_kind", "target_system", "source_record_id", "status", "reason", "updated_at")
    say_table(
        ("mutation_key", "event_key", *columns, "differs_in"),
        [
            [
                short(item["mutation_key"]),
                short(item["event_key"]),
                *(item[column] for column in columns),
                ", ".join(one["field"] for one in item["differences"]),
            ]
            for item in answer["items"]
        ],
    )
    if following:
        say(f"more with --cursor {following}")


@app.command()
def show(
    key: Annotated[str, typer.Argument(help="the mutation key, or its first digits")], as_json: JsonOption = False
) -> None:
    """Show a mutation with its three receipts: intent, acceptance, state."""
    from console.comparison import say_fields
    from console.short_keys import whole
    from console.tables import say, say_facts, say_json, say_table
    from console.vocabulary import Vocabulary
    from leadproof.domain.errors import NotFound
    from leadproof.domain.review import refusal
    from leadproof.settings import load
    from starter.rows import mutation_answer
    from workers import compose

    ledger = compose.open_ledger(load())
    key = whole(key, ledger.mutation_keys_like)
    receipts = ledger.receipts(key)
    if receipts is None:
        raise NotFound(f"no mutation stands under {key}")
    answer = mutation_answer(receipts)
    if as_json:
        say_json(answer)
        return
    refused = refusal(receipts.mutation.target_system, receipts.mutation.acceptance_receipt)
    say_facts({name: answer[name] for name in _FIRST} | {"refused": refused} | _intent(answer["intended_state"]))
    say_fields([receipts.mutation], Vocabulary(ledger, [receipts.mutation]))
    for attempt in answer["attempts"]:
        attempt |= {name: (attempt["answer"] or {}).get(name) for name in ("code", "detail")}
    for observation in answer["observations"]:
        observation["differs_in"] = ", ".join(one["field"] for one in observation["differences"])
    for name, columns in _COLUMNS.items():
        if answer[name]:
            say()
            say_table(columns, [[row[column] for column in columns] for row in answer[name]], title=name.capitalize())
    if answer["review"]:
        say()
        say_facts(answer["review"], title="Review item")
    say()
    say_facts({name: answer[name] for name in _LAST}, title="The row; all of it with --json")


def _intent(intent: dict[str, Any] | None) -> dict[str, Any]:
    """Why it is intended, and on what; only a tombstone has no intent."""
    if intent is None:
        return {}
    evidence = "; ".join(f"{one['says']} ({one['source']})" for one in intent["evidence"])
    return {"because": intent["reason"], "evidence": evidence or None}
