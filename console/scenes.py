"""The scenes of the demonstration, each about one contact that is somebody's lead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from console.show import Show
from console.witness import PERSON

MARKER = "leadproof_effect"
OWNER = "hubspot_owner_id"
A_SELLER = "503"
"""Whom the policy's rules give none of these contacts."""

INBOUND_QUEUE = "00Gxx000000Qu1AEAS"
"""Whom the policy gives a lead in Salesforce."""

SMALL = {"company": "Brightwater Tools", "numemployees": "25-50", "country": "Ireland"}
BRITISH = {"company": "Thornbury Mills", "numemployees": "25-50", "country": "United Kingdom"}
BIG = {"company": "Northgate Holdings", "numemployees": "1000+", "country": "France"}


def person(first: str, last: str, about: dict[str, str]) -> dict[str, str]:
    domain = about["company"].lower().replace(" ", "-") + ".example"
    return {"firstname": first, "lastname": last, "email": f"{first}.{last}@{domain}".lower(), **about}


async def delivered_again(show: Show) -> None:
    """One contact, delivered three times; then its run is deleted in Temporal, and it is delivered once more."""
    record = await show.witness.person_saves(person("Ana", "Lima", SMALL))
    answers = [
        await show.deliver(recording, record)
        for recording in ("contact-creation", "contact-creation-retry", "contact-creation-other-event-id")
    ]
    show.say(f"delivered 3 times: {show.row.delivered}")
    show.expect(
        [answer["started"] for answer in answers] == [1, 0, 0] and sum(a["duplicate"] for a in answers) == 2,
        "three deliveries of one event start one run",
    )
    mutation = await show.until_mutation(record, _observed, "one write, read back")
    lead = await show.lead(mutation["event_key"])
    await _closed(show, lead["workflow_id"])
    await _delete_run(show, lead["workflow_id"])
    fourth = await show.deliver("contact-creation", record)
    show.say("its run was deleted in Temporal, then delivered again: a duplicate by the ledger")
    show.expect(fourth["duplicate"] == 1, "the ledger knows an event whose run Temporal has forgotten")
    show.expect(await _run(show, lead["workflow_id"]) is None, "a duplicate starts no run")
    await show.witnessed(record, mutation, writes=1)
    show.expect(
        (await show.witness.record(record)).get(MARKER) == mutation["mutation_key"],
        "the contact carries the marker of this effect",
    )


async def answer_lost(show: Show) -> None:
    """HubSpot applies the write and closes the connection without an answer."""
    record = await show.witness.person_saves(person("Bo", "Chen", SMALL))
    await show.witness.arm("drop_after_apply", record)
    await _delivered_twice(show, record)
    show.say("the answer to its write is lost after HubSpot applied it")
    mutation = await show.until_mutation(record, _observed, "a lost answer is settled by reading back")
    outcomes = [attempt["outcome"] for attempt in mutation["attempts"]]
    show.say(f"attempts: {', '.join(map(str, outcomes))}; the read-back found the marker, nothing was sent again")
    show.expect(outcomes == ["uncertain"], "one attempt, and its outcome is uncertain")
    await show.witnessed(record, mutation, writes=1)
    show.expect(
        [write["status"] for write in await show.witness.writes(record)] == [None], "HubSpot's one answer was dropped"
    )


async def edited_unseen(show: Show) -> None:
    """A person gives the contact an owner in the instant before our write lands."""
    record = await show.witness.person_saves(person("Cleo", "Ward", SMALL))
    await show.witness.arm("human_edit", record, fields={OWNER: A_SELLER}, user=PERSON, moment="before_write")
    await _delivered_twice(show, record)
    show.say("a person sets the owner in the instant before our write")
    mutation = await show.until_mutation(record, _divergent("overwrote_unseen_edit"), "the overwritten edit is noticed")
    lost = [difference["lost"] for difference in mutation["differences"] if difference["lost"] is not None]
    show.say(f"noticed in the history; the owner that was replaced is kept: {', '.join(map(str, lost))}")
    show.expect(lost == [A_SELLER], "the replaced owner is kept, so that one decision restores it")
    await show.witnessed(record, mutation, writes=1)


async def planned_by_claude(show: Show) -> None:
    """A visitor writes on the website; Claude plans what is done. Then the run is reset, while Claude would say it
    otherwise."""
    await show.witness.claude_paraphrases(
        owner="kofi", lifecycle_stage="salesqualifiedlead", lead_status="OPEN", disqualification_reason=None
    )
    form = _form("fay.quist@brightwater-tools.example", "We need 40 seats before January. Who can call me?")
    taken = await show.submit(form)
    mutation = await show.until_mutation(form["source_record_id"], _observed, "a plan of Claude is written, read back")
    workflow_id, plan = taken["workflow_id"], (await show.lead(taken["event_key"]))["plan"]
    show.say(f"planned by {plan['planner']['model']}, in its own words (other ones each time): {plan['summary']}")
    await _closed(show, workflow_id)
    await _reset_run(show, workflow_id)
    show.expect((await show.submit(form))["result"] == "duplicate", "a second delivery starts nothing")
    show.say("its run was reset in Temporal to before the plan, while Claude would put it in other words now")
    again = await show.lead(taken["event_key"])
    calls = await show.witness.claude_calls(form["lead"]["message"])
    show.say(f"calls to Claude: {len(calls)}; the plan and the effect are the recorded ones")
    show.expect(len(calls) == 1, "Claude is asked once")
    show.expect((again["plan"], len(again["mutations"])) == (plan, 1), "plan and effect stand as they were recorded")
    asked = str(calls[0]["body"]) if calls else ""
    show.expect(
        form["lead"]["email"] not in asked, "Claude is not told the e-mail address, which is written all the same"
    )
    await show.witnessed(mutation["provider_record_id"], mutation, writes=1, email=form["lead"]["email"])
    await show.witness.claude_as_usual()


async def routed_to_salesforce(show: Show) -> None:
    """A lead of HubSpot's is made in Salesforce, whose answer is lost; only then is the contact marked with its id."""
    about = person("Gus", "Reid", BRITISH)
    record, email = await show.witness.person_saves(about), about["email"]
    await show.witness.arm_salesforce("drop_after_apply", email)
    await _delivered_twice(show, record)
    show.say("its lead is made in Salesforce, which answers nothing; the contact waits to be marked with its id")
    made, marked = await show.until_mutations(record, _all_observed, "a lead in Salesforce, and its id in HubSpot")
    outcomes = [[attempt["outcome"] for attempt in one["attempts"]] for one in (made, marked)]
    show.say("found in Salesforce by reading back, nothing was sent again; then HubSpot was told its id")
    show.expect(outcomes == [["uncertain"], ["accepted"]], "each effect has one attempt")
    leads = await show.witness.salesforce_leads(email)
    show.expect(len(leads) == 1, "Salesforce holds one lead of this address")
    show.expect(len(await show.witness.salesforce_writes(email)) == 1, "Salesforce carried out one write")
    show.expect(
        [lead["OwnerId"] for lead in leads] == [INBOUND_QUEUE], "a queue owns it, and no assignment rule moved it"
    )
    held = (await show.witness.record(record)).get("salesforce_lead_id")
    show.expect([lead["Id"] for lead in leads] == [held], "the contact carries the id of that lead")
    await show.witnessed(record, marked, writes=1)
    show.row.asked, show.row.written = "a lead in Salesforce; its id in HubSpot", "1 + 1"


async def approved(show: Show, record: str) -> None:
    """A big company waits for a person; meanwhile it is delivered again, then approved by a Temporal signal."""
    mutation = await show.until_mutation(record, _asks, "a big company waits for a person")
    lead = await show.lead(mutation["event_key"])
    before = await _run(show, lead["workflow_id"])
    again = await show.deliver("contact-creation", record)
    show.say("delivered again while it waits: a duplicate by Temporal, whose run is open")
    show.expect(again["duplicate"] == 1 and again["started"] == 0, "Temporal refuses a second run")
    show.expect(await _run(show, lead["workflow_id"]) == before, "the run is the same as before")
    show.expect(await show.witness.writes(record) == [], "nothing is written before the approval")
    await show.approve_by_signal(lead["workflow_id"], mutation["review"])
    mutation = await show.until_mutation(record, _observed, "an approved effect is written and read back")
    await show.witnessed(record, mutation, writes=1)


async def edited_while_waiting(show: Show, record: str) -> None:
    """A big company waits for a person; meanwhile somebody gives it an owner; the approval then comes too late."""
    mutation = await show.until_mutation(record, _asks, "a big company waits for a person")
    lead = await show.lead(mutation["event_key"])
    await show.witness.person_saves({OWNER: A_SELLER}, record)
    show.say("a person gives it an owner in HubSpot while it waits; the event is delivered again, too")
    again = await show.deliver("contact-creation-retry", record)
    show.expect(again["duplicate"] == 1, "a second delivery starts nothing")
    await show.approve_by_signal(lead["workflow_id"], mutation["review"])
    mutation = await show.until_mutation(record, _divergent("changed_before_write"), "the check before the write stops")
    show.say("the check before the write saw it: nothing was sent, a person is asked")
    await show.witnessed(record, mutation, writes=0)
    show.expect((await show.witness.record(record)).get(OWNER) == A_SELLER, "the person's owner stands")


SCENES: dict[str, Callable[[Show], Awaitable[None]]] = {
    "Ana, again": delivered_again,
    "Bo, answer lost": answer_lost,
    "Cleo, edited": edited_unseen,
    "Fay, by Claude": planned_by_claude,
    "Gus, to Salesforce": routed_to_salesforce,
}
"""Scenes that begin by themselves."""

BIG_SCENES: dict[str, Callable[[Show, str], Awaitable[None]]] = {
    "Dia, approved": approved,
    "Eli, too late": edited_while_waiting,
}
"""Scenes about two big companies that come in one delivery."""


def _form(email: str, message: str) -> dict[str, Any]:
    first, last = (name.capitalize() for name in email.partition("@")[0].split("."))
    return {
        "source_record_id": f"form-{email.partition('@')[0]}",
        "event_kind": "form.submitted",
        "occurrence": "1",
        "occurred_at": datetime.now(UTC).isoformat(),
        "lead": {
            "email": email,
            "first_name": first,
            "last_name": last,
            "company": SMALL["company"],
            "country": "IE",
            "message": message,
        },
    }


async def _delivered_twice(show: Show, record: str) -> None:
    first = await show.deliver("contact-creation", record)
    second = await show.deliver("contact-creation-retry", record)
    show.expect((first["started"], second["duplicate"]) == (1, 1), "two deliveries of one event start one run")


def _observed(mutation: dict[str, Any]) -> bool:
    return bool(mutation["status"] == "observed")


def _all_observed(mutations: list[dict[str, Any]]) -> bool:
    return len(mutations) == 2 and all(_observed(mutation) for mutation in mutations)


def _asks(mutation: dict[str, Any]) -> bool:
    return mutation["reason"] == "needs_approval" and _open(mutation)


def _divergent(reason: str) -> Callable[[dict[str, Any]], bool]:
    return lambda mutation: (mutation["status"], mutation["reason"]) == ("divergent", reason) and _open(mutation)


def _open(mutation: dict[str, Any]) -> bool:
    return mutation["review"] is not None and mutation["review"]["state"] == "open"


async def _run(show: Show, workflow_id: str) -> str | None:
    """The run that Temporal has under an ID."""
    from temporalio.service import RPCError, RPCStatusCode

    try:
        return (await show.temporal.get_workflow_handle(workflow_id).describe()).run_id
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise


async def _closed(show: Show, workflow_id: str, run_id: str | None = None) -> None:
    async def look() -> bool:
        run = await show.temporal.get_workflow_handle(workflow_id, run_id=run_id).describe()
        return run.close_time is not None

    await show.until(look, "the end of a run")


async def _reset_run(show: Show, workflow_id: str) -> None:
    """Reset a run to its first workflow task, and wait for the end of the run that begins there."""
    import uuid

    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest

    history = await show.temporal.get_workflow_handle(workflow_id).fetch_history()
    first = next(
        event.event_id for event in history.events if event.HasField("workflow_task_completed_event_attributes")
    )
    begun = await show.temporal.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=show.temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            reason="shown in the demonstration",
            workflow_task_finish_event_id=first,
            request_id=str(uuid.uuid4()),
        )
    )
    await _closed(show, workflow_id, begun.run_id)


async def _delete_run(show: Show, workflow_id: str) -> None:
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

    await show.temporal.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=show.temporal.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
        )
    )

    async def look() -> bool:
        return await _run(show, workflow_id) is None

    await show.until(look, "the deletion of a run")
