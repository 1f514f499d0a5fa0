"""Holds the ledger to what the witness saw: every lead, every mutation, every request, every decision. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from soak.case import Case
from soak.evidence import Evidence, Wrong
from soak.ledger import FINAL_OUTCOMES

_FIRST_KINDS = frozenset({"contact.creation", "form.submitted", "lead.saved"})


def wrongs(evidence: Evidence) -> list[Wrong]:
    """Everything that is wrong, by lead."""
    names = _names(evidence)
    found = [*_leads(evidence), *_strangers(evidence), *_decisions(evidence)]
    for mutation in evidence.ledger.mutations:
        name = names.get(mutation["source_record_id"], f"record {mutation['source_record_id']}")
        lead = f"{name}, {mutation['action_kind']} {mutation['mutation_key'][:12]}"
        found += [Wrong(lead, what) for what in Case(evidence, mutation).wrongs()]
    return sorted(found, key=lambda wrong: wrong.lead)


def _names(evidence: Evidence) -> dict[str, str]:
    kinds = {lead.number: lead.kind for lead in evidence.schedule.leads}
    return {record: f"lead {number} ({kinds[number]})" for number, record in evidence.told.record_ids.items()}


def _leads(evidence: Evidence) -> Iterator[Wrong]:
    """Each lead was admitted, with all its deliveries, and stands once in each CRM; no outcome hides a question."""
    told, ledger = evidence.told, evidence.ledger
    first = {lead["source_record_id"]: lead for lead in ledger.leads if lead["event_kind"] in _FIRST_KINDS}
    asked = {item["event_key"] for item in ledger.items if item["state"] == "open"}
    for scheduled in evidence.schedule.leads:
        name = f"lead {scheduled.number} ({scheduled.kind})"
        record_id = told.record_ids.get(scheduled.number, "")
        admitted = first.get(record_id)
        if admitted is None:
            yield Wrong(name, "was told and is not in the ledger")
            continue
        if scheduled.kind != "salesforce" and admitted["deliveries"] < told.acknowledged[scheduled.number]:
            yield Wrong(name, f"{told.acknowledged[scheduled.number]} deliveries were acknowledged and not all counted")
        for system in ("hubspot", "salesforce"):
            stand = len(evidence.witness.of_address(system, scheduled.email))
            if stand > 1:
                yield Wrong(name, f"{stand} records stand for it in {system}")
    for lead in ledger.leads:
        if lead["outcome"] == "review" and lead["event_key"] not in asked:
            yield Wrong(f"event {lead['event_key'][:12]}", "is in review, and no question is open")
        if lead["outcome"] == "gone" and "stale_read" not in evidence.faults_of(lead["source_record_id"]):
            yield Wrong(f"event {lead['event_key'][:12]}", "is gone, and its record is where it was")
        if lead["outcome"] in FINAL_OUTCOMES and lead["event_key"] in asked:
            yield Wrong(f"event {lead['event_key'][:12]}", f"is {lead['outcome']}, and a question is open")


def _strangers(evidence: Evidence) -> Iterator[Wrong]:
    """No request and no marker at the witness without a mutation that stands for it; no external id twice."""
    known = {mutation["mutation_key"] for mutation in evidence.ledger.mutations}
    for write in evidence.witness.writes:
        if write.marker not in known:
            yield Wrong(f"{write.system}", f"a write at {write.at:%H:%M:%S} names no mutation of the ledger")
    carried = Counter((record.system, record.fields.get("external_id")) for record in evidence.witness.records)
    for (system, external_id), count in carried.items():
        if external_id and count > 1:
            yield Wrong(system, f"{count} records carry one external id")


def _decisions(evidence: Evidence) -> Iterator[Wrong]:
    """Each decision that was sent and answered has its row, with the verdict that was answered."""
    for sent in evidence.decisions.values():
        row = evidence.ledger.decisions.get(sent.decision_id)
        name = f"decision {sent.decision_id}"
        if row is None:
            if sent.status is not None and sent.status < 500:
                yield Wrong(name, f"was answered {sent.status} and is not in the ledger")
        elif row["verdict"] == "pending":
            yield Wrong(name, "is pending for ever")
        elif sent.status == 200 and row["verdict"] != "applied":
            yield Wrong(name, f"was answered 200 and is {row['verdict']}")
