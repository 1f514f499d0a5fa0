"""Holds the ledger to what the witness saw: every lead, every mutation, every request. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from soak.ledger import FINAL_OUTCOMES, Ledger, Row, moment
from soak.reviewer import Decision
from soak.schedule import Schedule
from soak.source import Told
from soak.witness import Record, Version, Witness, plain

_ALWAYS_UNSENT = frozenset({"changed_before_write", "needs_approval", "refuses_this", "dependency"})
"""Questions about what never changed the target."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is not as it must be."""

    lead: str
    what: str

    def __str__(self) -> str:
        return f"{self.lead}: {self.what}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known after a soak.

    Attributes:
        read_at: when the ledger was read.
        quiescence: the policy's.
    """

    schedule: Schedule
    told: Told
    ledger: Ledger
    witness: Witness
    decisions: Mapping[str, Decision]
    read_at: datetime
    quiescence: timedelta


def wrongs(evidence: Evidence) -> list[Wrong]:
    """Everything that is wrong, by lead."""
    names = _names(evidence)
    found = [*_leads(evidence), *_strangers(evidence), *_decisions(evidence)]
    for mutation in evidence.ledger.mutations:
        name = names.get(mutation["source_record_id"], f"record {mutation['source_record_id']}")
        lead = f"{name}, {mutation['action_kind']} {mutation['mutation_key'][:12]}"
        found += [Wrong(lead, what) for what in _Case(evidence, mutation).wrongs()]
    return sorted(found, key=lambda wrong: wrong.lead)


def _names(evidence: Evidence) -> dict[str, str]:
    kinds = {lead.number: lead.kind for lead in evidence.schedule.leads}
    return {record: f"lead {number} ({kinds[number]})" for number, record in evidence.told.record_ids.items()}


def _leads(evidence: Evidence) -> Iterator[Wrong]:
    """Each lead was admitted once under each of its events, planned once, and stands once in each CRM."""
    told, ledger = evidence.told, evidence.ledger
    by_record = Counter(lead["source_record_id"] for lead in ledger.leads)
    first = {lead["source_record_id"]: lead for lead in ledger.leads if lead["event_kind"] in _FIRST_KINDS}
    asked = {item["event_key"] for item in ledger.items if item["state"] == "open"}
    for scheduled in evidence.schedule.leads:
        name = f"lead {scheduled.number} ({scheduled.kind})"
        record_id = told.record_ids.get(scheduled.number, "")
        admitted = first.get(record_id)
        if admitted is None or not by_record[record_id]:
            yield Wrong(name, "was told and is not in the ledger")
            continue
        if scheduled.kind != "salesforce" and admitted["deliveries"] < told.acknowledged[scheduled.number]:
            yield Wrong(name, f"{told.acknowledged[scheduled.number]} deliveries were acknowledged and not all counted")
        for system in ("hubspot", "salesforce"):
            same = [
                r for r in evidence.witness.records if r.system == system and r.fields.get("email") == scheduled.email
            ]
            if len(same) > 1:
                yield Wrong(name, f"{len(same)} records stand for it in {system}")
    for lead in ledger.leads:
        if (lead["outcome"] == "review") != (lead["event_key"] in asked) and lead["outcome"] not in FINAL_OUTCOMES:
            yield Wrong(f"event {lead['event_key'][:12]}", f"outcome {lead['outcome']}, open questions or not")
        if lead["outcome"] in FINAL_OUTCOMES and lead["event_key"] in asked:
            yield Wrong(f"event {lead['event_key'][:12]}", f"is {lead['outcome']}, and a question is open")


_FIRST_KINDS = frozenset({"contact.creation", "form.submitted", "lead.saved"})


def _strangers(evidence: Evidence) -> Iterator[Wrong]:
    """No request and no marker at the witness without a mutation that stands for it; no external id twice."""
    known = {mutation["mutation_key"] for mutation in evidence.ledger.mutations}
    for write in evidence.witness.writes:
        if write.marker not in known:
            yield Wrong(f"{write.system}", f"a write at {write.at:%H:%M:%S} names no mutation of the ledger")
    ids = Counter(
        (record.system, external)
        for record in evidence.witness.records
        if (external := record.fields.get("external_id"))
    )
    yield from (
        Wrong(system, f"{count} records carry one external id") for (system, _), count in ids.items() if count > 1
    )


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


class _Case:
    """One mutation, with all that both sides know of it."""

    def __init__(self, evidence: Evidence, mutation: Row) -> None:
        self._evidence = evidence
        self._mutation = mutation
        self._key: str = mutation["mutation_key"]
        self._status: str = mutation["status"]
        self._reason: str | None = mutation["reason"]
        intent = mutation["intended_state"] or {}
        self._intended = _intended(evidence.ledger, intent.get("fields", {}))
        self._attempts = evidence.ledger.attempts.get(self._key, ())
        self._observations = evidence.ledger.observations.get(self._key, ())
        self._items = evidence.ledger.items_of(self._key)
        self._writes = evidence.witness.writes_of(self._key)
        self._applied = [write for write in self._writes if write.applied]
        known = mutation["provider_record_id"] or intent.get("record", {}).get("provider_record_id")
        self._record = evidence.witness.record(mutation["target_system"], known)
        self._effects = self._record.effects(self._key) if self._record is not None else []

    def wrongs(self) -> Iterator[str]:
        yield from self._one_key()
        yield from self._one_effect()
        yield from self._complete()
        yield from self._class()
        yield from self._lost_update()

    def _one_key(self) -> Iterator[str]:
        if len(self._applied) > 1:
            yield f"the witness carried it out {len(self._applied)} times"
        if len(self._effects) > 1:
            yield f"its marker came to stand on the record {len(self._effects)} times"
        elsewhere = [
            record
            for record in self._evidence.witness.records
            if record is not self._record and record.effects(self._key)
        ]
        if elsewhere and self._status not in {"submitted", "uncertain"}:
            yield "its marker stands on a record that the ledger does not name"

    def _one_effect(self) -> Iterator[str]:
        for write in self._writes:
            if write.values != self._intended:
                names = sorted({*write.values, *self._intended})
                other = [name for name in names if write.values.get(name) != self._intended.get(name)]
                yield f"a request sets {', '.join(other)} otherwise than it intends"

    def _complete(self) -> Iterator[str]:
        left = [one for one in self._attempts if one["outcome"] != "not_sent"]
        received = [write for write in self._writes if not write.refused_session]
        if len(received) > len(left):
            yield f"the witness received {len(received)} requests, the ledger has {len(left)} attempts"
        for attempt in self._attempts:
            quiet = moment(attempt["send_before"]) + self._evidence.quiescence
            if attempt["outcome"] is None and self._evidence.read_at < quiet:
                yield f"attempt {attempt['number']} is open and not yet quiet"
            if attempt["outcome"] is not None and (attempt["ended_at"] is None or attempt["answer"] is None):
                yield f"attempt {attempt['number']} is completed without its answer"
        if any(one["outcome"] == "accepted" for one in self._attempts) and not self._mutation["acceptance_receipt"]:
            yield "was accepted and has no acceptance receipt"
        if self._mutation["intended_state"] is None:
            yield "has no intent receipt"
        if self._status == "observed" and not (self._mutation["observed_state"] and self._observations):
            yield "is observed and has no state receipt"
        if self._status == "observed" and not self._attempts:
            yield "is observed and has no attempt"

    def _class(self) -> Iterator[str]:
        """Whether what stands in the record agrees with the status."""
        if self._status == "submitted":
            yield "is submitted, and nothing goes on"
        elif self._status == "observed":
            yield from self._observed()
        elif self._status == "divergent":
            yield from self._divergent()
        elif self._never_sent() and (self._applied or self._effects):
            yield f"is {self._status} ({self._reason}), and the witness carried it out"

    def _never_sent(self) -> bool:
        """Whether the status says that the target was never changed by it."""
        if self._status in {"reserved", "rejected"} or self._reason == "newer_event":
            return True
        asked = {item["reason"] for item in self._items}
        if self._status == "abandoned":
            return asked <= _ALWAYS_UNSENT
        return self._status == "superseded" and asked == {"changed_before_write"}

    def _observed(self) -> Iterator[str]:
        if self._record is None:
            yield "is observed on a record that the witness does not have"
            return
        if self._reason == "already_so":
            if self._applied:
                yield "is called already so, and the witness carried it out"
            elif not self._record.stood(self._intended, None):
                yield "is called already so, and was never so"
            return
        if not self._applied or not self._effects:
            yield "is observed, and the witness never carried it out"
        elif not self._record.stood(self._intended, self._effects[0].at):
            yield "is observed, and the record never stood as intended"

    def _divergent(self) -> Iterator[str]:
        if self._reason == "changed_before_write":
            if self._applied or self._effects:
                yield "is said to have changed before the write, and the witness carried it out"
        elif self._reason == "overwrote_unseen_edit":
            if not self._replaced():
                yield "is said to have replaced an unseen edit, and the history shows none"
        elif self._reason in {"removed", "several", "merged"}:
            yield f"is said to be {self._reason}, and its record stands alone where it was"
        elif self._record is not None:
            if not self._effects:
                yield "is divergent after its write, and the witness never carried it out"
            elif not self._differed(self._record, self._effects[0].at):
                yield "is divergent, and the record always stood as intended"

    def _differed(self, record: Record, since: datetime) -> bool:
        times = {since, *(e.at for name in self._intended for e in record.versions.get(name, ()) if e.at > since)}
        return any(record.value_at(name, at) != value for at in times for name, value in self._intended.items())

    def _lost_update(self) -> Iterator[str]:
        flagged = self._reason == "overwrote_unseen_edit" or any(
            item["reason"] == "overwrote_unseen_edit" for item in self._items
        )
        if self._status not in {"uncertain", "submitted"} and not flagged:
            for name, version in self._replaced():
                yield f"replaced {name} of {version.by}, saved {version.at:%H:%M:%S.%f}, and nobody was told"

    def _replaced(self) -> list[tuple[str, Version]]:
        """Versions by others that its write replaced, and that neither its base nor its intent has."""
        if self._record is None:
            return []
        base: Mapping[str, Any] = self._mutation["base_state"] or {}
        found = []
        for effect in self._effects:
            for name, value in self._intended.items():
                older = [entry for entry in self._record.versions.get(name, ()) if entry.at < effect.at]
                if older and not older[-1].ours and older[-1].value not in {plain(base.get(name)), value}:
                    found.append((name, older[-1]))
        return found


def _intended(ledger: Ledger, fields: Mapping[str, Any]) -> dict[str, str]:
    """The intent in plain values, with the record's id in place of a reference."""
    records = {mutation["mutation_key"]: mutation["provider_record_id"] for mutation in ledger.mutations}
    return {
        name: plain(records.get(value["record_id_of"]) if isinstance(value, dict) else value)
        for name, value in fields.items()
    }
