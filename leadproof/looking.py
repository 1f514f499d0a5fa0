"""Looking at a record on behalf of a mutation, and storing what the look means; for the check and the read-back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from leadproof.domain.attribution import landed
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Mutation, Observation, Reason, Status
from leadproof.domain.observing import presence
from leadproof.domain.policy import Policy, Target
from leadproof.domain.reconciliation import Finding, Next
from leadproof.domain.records import MARKER, FoundRecord, LookUp, Presence
from leadproof.domain.references import references_in
from leadproof.domain.references import resolved as with_ids
from leadproof.domain.steps import Question, Settled, Settlement
from leadproof.ports import Clock, Crm, Ledger

_MOST_EXPLANATIONS = 10


class Ports(NamedTuple):
    """What the boundary reaches the world through."""

    ledger: Ledger
    crm: Crm
    clock: Clock


class Rules(NamedTuple):
    """What of the policy the boundary needs; and how long after the plan a record is looked at in shadow mode."""

    policy: Policy
    target: Target
    specs: Mapping[str, FieldSpec]
    shadow_after: timedelta = timedelta(0)


class Read(NamedTuple):
    """What was found, and when the look for it began: a write can land while the answer is on its way, so what is read
    is no newer than that."""

    found: LookUp
    at: datetime


def resolved(ports: Ports, mutation: Mutation) -> Mutation:
    """The mutation with the record's id in place of each reference in its intent, as far as it is known.

    For one attempt or one look: the row keeps the reference.
    """
    intent = mutation.intent
    if not references_in(intent.fields):
        return mutation
    fields = with_ids(intent.fields, ports.ledger.mutations_of(mutation.event_key))
    return mutation.model_copy(update={"intended_state": intent.model_copy(update={"fields": fields})})


def asked_id(mutation: Mutation) -> str | None:
    """The target's own id of the record, where one is known."""
    return mutation.provider_record_id or mutation.intent.record.provider_record_id


def find_record(ports: Ports, mutation: Mutation, *, history: bool) -> Read:
    """A fresh look: by the target's id where one is known, else by external id and the target's unique fields."""
    intent, at = mutation.intent, ports.clock.now()
    fields = tuple(dict.fromkeys((*intent.fields, *intent.compare_also)))
    asked = asked_id(mutation)
    if asked is not None:
        return Read(ports.crm.read(mutation.target_object, asked, fields, history=history), at)
    return Read(ports.crm.find(intent.record, fields, history=history), at)


def effects_on(ports: Ports, mutation: Mutation, record: FoundRecord | None) -> dict[str, dict[str, Any]]:
    """Earlier effects of ours that the record's marker and its history name."""
    if record is None:
        return {}
    markers = dict.fromkeys(
        [record.marker, *(change.value for change in record.history.get(MARKER, ()))][:_MOST_EXPLANATIONS]
    )
    effects = {}
    for marker in markers:
        if isinstance(marker, str) and marker and marker != mutation.mutation_key:
            fields = ports.ledger.explains(mutation, marker)
            if fields is not None:
                effects[marker] = fields
    return effects


def missed(ports: Ports, mutation: Mutation) -> tuple[datetime, ...]:
    """When the latest looks, one after the other, did not find the record."""
    receipts = ports.ledger.receipts(mutation.mutation_key)
    before = reversed(receipts.observations) if receipts is not None else ()
    return tuple(one.read_at for one in takewhile(lambda one: presence(one) is Presence.ABSENT, before))


def store_finding(
    ports: Ports, rules: Rules, mutation: Mutation, finding: Finding, read: Read | None, *, asked: bool = False
) -> Settled:
    """Store a finding in one transaction: the observation, the move, and the question for a person.

    Args:
        read: what was read; `None` where the finding rests on the base alone.
        asked: a review item is open already.
    """
    now = ports.clock.now()
    observation = None
    if read is not None:
        observation = Observation(
            mutation_key=mutation.mutation_key,
            number=0,
            read_at=read.at,
            identity=ports.crm.identity,
            verdict=finding.verdict,
            state=_state(read.found, mutation),
            differences=finding.differences,
        )
    record = read.found.record if read is not None else None
    asks = finding.next is Next.ASK and not asked
    status = finding.status or mutation.status
    step = Settlement(
        status=status,
        reason=finding.reason or (mutation.reason if status is mutation.status else None),
        observation=observation,
        differences=finding.differences,
        provider_record_id=record.record_id if record is not None and asked_id(mutation) is None else None,
        question=question(rules, finding.reason, now, status) if asks else None,
    )
    return ports.ledger.settle(mutation.mutation_key, version=mutation.version, step=step)


def _state(found: LookUp, mutation: Mutation) -> dict[str, Any]:
    """The state receipt: as read and as normalised, the marker found, and who changed what since the base."""
    record = found.record
    state: dict[str, Any] = {
        "presence": found.presence.value,
        "record_ids": list(found.record_ids),
        "detail": found.detail,
    }
    if record is None:
        return state
    return state | {
        "record_id": record.record_id,
        "external_id": record.external_id,
        "marker": record.marker,
        "ours": landed(record, mutation.mutation_key),
        "fields": record.fields,
        "raw": record.raw,
        "changes": {
            name: [change.model_dump(mode="json") for change in changes[:5]] for name, changes in record.history.items()
        },
    }


def question(rules: Rules, reason: Reason | None, now: datetime, status: Status | None = None) -> Question:
    """The question that a finding puts to a person, in the default queue."""
    asked = reason or (status.value if status is not None else "uncertain")
    return Question.asked(str(asked), rules.policy.queue(None), now)
