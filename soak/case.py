"""Holds one mutation to what the witness saw: one key, one effect, its receipts, its status, and nobody's edit lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from soak import policy
from soak.evidence import Evidence
from soak.fault_decks import CALL_SECONDS
from soak.ledger import Ledger, Row, moment
from soak.witness import Record, Version, plain

_ALWAYS_UNSENT = frozenset({"changed_before_write", "needs_approval", "refuses_this", "dependency"})
"""Questions about what never changed the target."""

_ELSEWHERE = frozenset({"removed", "several", "merged"})
"""What is said of records that are not where they were; in a soak nobody takes one away."""

_BASE_AGE = timedelta(seconds=policy.BASE_AGE_SECONDS)
_SLOW_READ = timedelta(seconds=CALL_SECONDS)
_CLOCKS = timedelta(seconds=policy.MARGIN_SECONDS)


class Case:
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
        self._faults = evidence.faults_of(mutation["source_record_id"])
        known = mutation["provider_record_id"] or intent.get("record", {}).get("provider_record_id")
        self._record = evidence.witness.record(mutation["target_system"], known)
        self._effects = self._record.effects(self._key) if self._record is not None else []

    def wrongs(self) -> Iterator[str]:
        yield from self._one_key()
        yield from self._one_effect()
        yield from self._complete()
        yield from self._class()
        yield from self._unchecked()
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
        if "stale_read" not in self._faults:  # such a read can show a new record as none at all
            asked = {item["reason"] for item in self._items} & _ELSEWHERE
            yield from (f"was said to be {what}, and its record stands alone where it was" for what in asked)
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
        elif self._record is not None and self._reason not in _ELSEWHERE:
            if not self._effects:
                yield "is divergent after its write, and the witness never carried it out"
            elif not self._differed(self._record, self._effects[0].at):
                yield "is divergent, and the record always stood as intended"

    def _differed(self, record: Record, since: datetime) -> bool:
        times = {since, *(e.at for name in self._intended for e in record.versions.get(name, ()) if e.at > since)}
        return any(record.value_at(name, at) != value for at in times for name, value in self._intended.items())

    def _unchecked(self) -> Iterator[str]:
        """Whether an edit was replaced that stood there when the check before the write looked.

        A first attempt that waited for nothing may stand on its base for as long as the policy says; a read that was
        answered slowly is older than its row says, and one that was stale shows nothing of the kind.
        """
        if "stale_read" in self._faults:
            return
        held = self._mutation["depends_on"] or any(item["reason"] == "needs_approval" for item in self._items)
        base = None if held else (self._mutation["intended_state"] or {}).get("base_read_at")
        for name, version in self._replaced():
            before = [one for one in self._attempts if moment(one["started_at"]) <= self._effects[0].at]
            if not before:
                continue
            looked = moment(before[-1]["started_at"])
            if len(before) == 1 and base is not None and looked - moment(base) < _BASE_AGE:
                looked = moment(base) - _SLOW_READ
            if version.at < looked - _CLOCKS:
                yield f"replaced {name} of {version.by}, which stood there at the check before the write"

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
