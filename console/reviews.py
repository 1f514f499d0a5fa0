"""`leadproof review`: the review queue from a terminal, through the starter's API."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from console.starter_api import StarterApi

app = typer.Typer(help="The review queue.", no_args_is_help=True)

_FIRST = (
    *("review_id", "queue", "reason", "why", "state", "opened_at", "due_at", "expires_at"),
    *("source_system", "source_record_id"),
    *("event_key", "mutation_key", "round", "version"),
)

_DECISION = ("decided_at", "decision", "reviewer", "via", "verdict", "reason")

JsonOption = Annotated[bool, typer.Option("--json", help="for programs")]
ReviewId = Annotated[str, typer.Argument(help="id of the review item; its first six or more digits are enough")]


@app.command("list")
def list_(
    queue: Annotated[str | None, typer.Option(help="only this queue")] = None,
    state: Annotated[str, typer.Option(help="open, decided, resolved or expired")] = "open",
    as_json: JsonOption = False,
) -> None:
    """List questions for people."""
    from console.review_words import age, due
    from console.starter_api import StarterApi
    from console.tables import say_json, say_table
    from leadproof.settings import load

    answer = StarterApi(load()).get("/v1/reviews", queue=queue, state=state)
    if as_json:
        say_json(answer)
        return
    columns = ("review_id", "queue", "reason", "source_record_id", "why", "state")
    now = datetime.now(UTC)
    rows = [[*(item[column] for column in columns), age(item, now), due(item, now)] for item in answer["items"]]
    say_table((*columns, "age", "due"), rows)


@app.command("open")
def open_(as_json: JsonOption = False) -> None:
    """Print a link that signs one person in to the review page, once and within ten minutes."""
    from console.moments import in_seconds
    from console.starter_api import StarterApi
    from console.tables import say, say_json
    from leadproof.settings import load

    _, made = StarterApi(load()).decide("/v1/reviews/links")
    if as_json:
        say_json(made)
        return
    say(made["url"])
    say(f"Whoever signs in with it first is in; it is over at {in_seconds(made['expires_at'])}.")


@app.command()
def show(review_id: ReviewId, as_json: JsonOption = False) -> None:
    """Show one question with its receipts and differences."""
    from console.moments import in_seconds
    from console.starter_api import StarterApi
    from console.tables import say, say_facts, say_json, say_table
    from leadproof.domain.plan import ActionKind
    from leadproof.domain.review import possible
    from leadproof.settings import load

    api = StarterApi(load())
    answer = api.get(f"/v1/reviews/{_whole(review_id, api)}")
    if as_json:
        say_json(answer)
        return
    mutation, plan, owners = answer["mutation"], answer["plan"], answer["owners"]
    facts = {name: answer.get(name) for name in _FIRST}
    say_facts(facts | {"possible": possible(answer["allowed"]).partition(": ")[2]})
    if answer.get("does"):
        say()
        say_table(("decision", "what it does"), list(answer["does"].items()), title="Decisions that are possible")
    if answer.get("waiting"):
        say()
        columns = ("mutation_key", "event_key", "source_record_id", "action_kind")
        title = "These wait for the same record"
        say_table(columns, [[one[column] for column in columns] for one in answer["waiting"]], title=title)
    if plan is not None:
        by = " ".join(filter(None, (plan["planner"]["kind"], plan["planner"]["model"])))
        say()
        say(f"Planned by {by}: {plan['summary']}")
    if answer["decisions"]:
        say()
        say_table(_DECISION, [[one[column] for column in _DECISION] for one in answer["decisions"]], title="Decisions")
    if mutation is None:
        return
    base, intent, observed = mutation["base_state"] or {}, mutation["intended_state"], mutation["observed_state"]
    found = (observed or {}).get("fields", {})
    if intent is not None and intent["evidence"]:
        say()
        say_table(("says", "source"), [(one["says"], one["source"]) for one in intent["evidence"]], title="Evidence")
    record = " ".join(filter(None, (mutation["target_system"], mutation["target_object"], _id(mutation))))
    makes = mutation["action_kind"]
    if intent is not None and makes == ActionKind.CREATE and intent["record"]["provider_record_id"] is not None:
        makes = "write to"
        say()
        say(f"{_there(intent['record'])}: the fields below are written to it, and no second one is made.")
    say()
    say_table(
        ("field", "stood", "intended", "observed"),
        [
            (name, *(_named(name, one, owners) for one in (base.get(name), value, found.get(name))))
            for name, value in (intent["fields"] if intent else {}).items()
        ],
        title=f"{makes} {record}: {mutation['status']}",
    )
    if mutation["differences"]:
        values = ("intended", "observed", "lost")
        say()
        say_table(
            ("field", *values, "changed_by", "changed_at"),
            [
                (
                    one["field"],
                    *(_named(one["field"], one[column], owners) for column in values),
                    one["changed_by"],
                    in_seconds(one["changed_at"]),
                )
                for one in mutation["differences"]
            ],
            title="Differences",
        )


def _whole(review_id: str, api: StarterApi) -> str:
    """The id of the item that begins like this, an open one before those that are closed; a whole one as it is."""
    from console.leaving import CommandRefused
    from console.short_keys import KEY_DIGITS, whole

    def like(beginning: str, state: str | None) -> tuple[str, ...]:
        found: list[str] = []
        cursor: str | None = None
        while True:
            answer = api.get("/v1/reviews", state=state, limit=200, cursor=cursor)
            found += [item["review_id"] for item in answer["items"] if item["review_id"].startswith(beginning)]
            cursor = answer["next"]
            if cursor is None or len(found) > 1:
                return tuple(found[:2])

    found = whole(review_id, lambda beginning: like(beginning, "open") or like(beginning, None))
    if len(found) < KEY_DIGITS:
        raise CommandRefused(f"no question begins with {found}; `leadproof review list` shows those that are open")
    return found


def _id(mutation: dict[str, Any]) -> str:
    return mutation["provider_record_id"] or "(not there yet)"


def _there(record: dict[str, Any]) -> str:
    """Says that what was to be made stands there already; one that is not linked was found by its unique fields."""
    names = () if record["linked"] else record["unique_fields"]
    found_by = f" with the same {' or '.join(names)}" if names else ""
    return f"{record['target_system']} already has {record['target_object']} {record['provider_record_id']}{found_by}"


def _named(field: str, value: Any, owners: dict[str, str]) -> Any:
    """An owner with the name that the policy has for it."""
    from leadproof.domain.field_catalog import OWNER

    name = owners.get(value) if field == OWNER and isinstance(value, str) else None
    return f"{value} ({name})" if name is not None else value


@app.command()
def decide(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[REVIEW_ID] DECISION",
            help="the question, by its first digits, which --all-of names instead; then approve, retry, "
            "accept, overwrite, restore, abandon or plan_again",
        ),
    ],
    *,
    reason: Annotated[str, typer.Option(help="why, for those who read it later")] = "",
    all_of: Annotated[
        str | None, typer.Option("--all-of", help="all open questions of this reason, such as target_refuses_us")
    ] = None,
    queue: Annotated[str | None, typer.Option(help="with --all-of: only this queue")] = None,
    target: Annotated[str | None, typer.Option(help="with --all-of: only this target system")] = None,
    behind: Annotated[
        bool, typer.Option("--behind", help="accept or abandon it, and give up all that waits behind it")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Decide a question on the state as it is shown now, or many at once."""
    from console.review_words import one_is_told
    from console.starter_api import StarterApi
    from console.tables import say_json
    from leadproof.settings import load

    named, decision = _named_words(words, many=all_of is not None)
    if all_of is None and (queue or target):
        raise typer.BadParameter("goes with --all-of only", param_hint="--queue" if queue else "--target")
    if all_of is not None and behind:
        raise typer.BadParameter("is about one question", param_hint="--behind")
    api = StarterApi(load())
    if all_of is not None:
        chosen = {"reason": all_of, "queue": queue, "target_system": target}
        _decide_many(api, {"decision": decision, "reason": reason, "all_of": chosen}, as_json)
        return
    review_id = _whole(named, api)
    item = api.get(f"/v1/reviews/{review_id}")
    seen = {"version": item["version"], "shown_digest": item.get("shown_digest")}
    if behind:
        front = {"review_id": review_id, **seen}
        _decide_many(api, {"decision": decision, "reason": reason, "behind": front}, as_json)
        return
    status, answer = api.decide(f"/v1/reviews/{review_id}/decisions", {**seen, "decision": decision, "reason": reason})
    if as_json:
        say_json(answer)
    else:
        one_is_told(decision, kept=status == HTTPStatus.ACCEPTED, answer=answer)


def _named_words(words: list[str], *, many: bool) -> tuple[str, str]:
    """The question and the decision of a command line; with many of a reason, there is no question to name."""
    if len(words) != (1 if many else 2):
        wanted = "with --all-of only the decision" if many else "the question, then the decision"
        raise typer.BadParameter(f"say {wanted}", param_hint="[REVIEW_ID] DECISION")
    return ("", words[0]) if many else (words[0], words[1])


def _decide_many(api: StarterApi, body: dict[str, Any], as_json: bool) -> None:
    from console.review_words import many_are_told
    from console.tables import say_json

    answer = api.decide_many(body)
    if as_json:
        say_json(answer)
    else:
        many_are_told(answer)
    if answer["refused"]:
        raise typer.Exit(1)
