"""Reading the source record of a lead event, and recognising our own echo before anything is planned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.foreign import unknown
from activities.messages import LeadView, Reading, ReadingKind
from activities.names import SOURCE_UNREADABLE
from leadproof.adapters import Adapters
from leadproof.domain.attribution import SAME_WRITE, US, together
from leadproof.domain.comparison import moved
from leadproof.domain.events import Lead, LeadSnapshot, Outcome, source_object
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.field_values import readable_values
from leadproof.domain.mutation import Mutation
from leadproof.domain.observing import looked_for, pause
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy, Target
from leadproof.domain.records import MARKER, FoundRecord, Presence
from leadproof.ports import Clock, Crm, Ledger
from leadproof.rulebook import Rulebook

SAVED = ".saved"
"""How the kind of an event ends that says of a record that it was saved, and of no field that it changed."""

TOLD_WITHIN = timedelta(hours=24)
"""After this time a source that tells of saves gives up telling of one (Salesforce's outbound messages)."""


class SourceActivities:
    """Args:
    crms: the CRMs that are sources of records; any other source's leads came whole with their event.
    our_field: turns a source's own name of a field into ours, per system; `None` where we have none.
    """

    def __init__(
        self,
        ledger: Ledger,
        crms: Adapters,
        rulebook: Rulebook,
        clock: Clock,
        our_field: Callable[[str, str, Policy], str | None],
    ) -> None:
        self._ledger = ledger
        self._crms = crms
        self._rulebook = rulebook
        self._clock = clock
        self._our_field = our_field

    @activity.defn(no_thread_cancel_exception=True)
    def read_source(self, event_key: str, missed: Sequence[datetime] = ()) -> Reading:
        """Read the lead's row and, where it has no plan yet, the source record.

        Args:
            missed: when this run did not find the record.
        """
        lead = self._ledger.lead(event_key)
        if lead is None:
            raise unknown("lead")
        if lead.outcome.final:
            return Reading(kind=ReadingKind.CLOSED, lead=LeadView.of(lead))
        if self._ledger.plan_of(event_key, lead.policy_version) is not None:
            return Reading(kind=ReadingKind.PLANNED, lead=LeadView.of(lead))
        policy = self._rulebook.policy(lead.policy_version)
        crm = self._crms.of(lead.source_system, policy)
        if crm is None:
            return Reading(kind=ReadingKind.READY, lead=LeadView.of(lead), snapshot=self._as_sent(lead))
        return self._from_crm(lead, crm, policy, missed)

    def _from_crm(self, lead: Lead, crm: Crm, policy: Policy, missed: Sequence[datetime]) -> Reading:
        fields = tuple(specs_for(policy, crm.system))
        asked_at = self._clock.now()  # what is read is no newer than the question, however late its answer comes
        found = crm.read(source_object(lead.event_kind), lead.source_record_id, fields, history=True)
        if found.presence is Presence.UNKNOWN:
            raise ApplicationError(
                "the source record could not be read",
                type=SOURCE_UNREADABLE,
                next_retry_delay=timedelta(seconds=found.retry_after_seconds) if found.retry_after_seconds else None,
            )
        record = found.record
        merged = record is not None and record.record_id != lead.source_record_id
        if found.presence is Presence.REMOVED or merged:
            return self._closed(lead, Outcome.GONE)
        if record is None:
            return self._not_found(lead, policy.targets[crm.system], missed, asked_at)
        echo_of = self._echo(lead, record, policy)
        echo = self._closed_as_echo(lead, echo_of) if echo_of is not None else None
        if echo is not None:
            return echo
        snapshot = LeadSnapshot(
            source_system=lead.source_system,
            source_object=source_object(lead.event_kind),
            source_record_id=lead.source_record_id,
            fields=record.fields,
            record=record.model_copy(update={"history": {}, "raw": {}}),
            read_at=asked_at,
        )
        return Reading(kind=ReadingKind.READY, lead=LeadView.of(lead), snapshot=snapshot)

    def _not_found(self, lead: Lead, target: Target, missed: Sequence[datetime], asked_at: datetime) -> Reading:
        """A creation can be told before its record can be read: it is looked for, and gone only when it was looked for
        throughout the observation window, however long the event waited for a worker before."""
        left = target.observation_window - looked_for(min(missed, default=asked_at), missed, asked_at, target)
        if left <= timedelta(0):
            return self._closed(lead, Outcome.GONE)
        at = self._clock.now() + min(pause(len(missed) + 1, target), left)
        return Reading(kind=ReadingKind.LATER, lead=LeadView.of(lead), at=at, missed=(*missed, asked_at))

    def _closed(self, lead: Lead, outcome: Outcome, *, echo_of: str | None = None) -> Reading:
        closed = self._ledger.close_event(lead.event_key, outcome, echo_of=echo_of)
        return Reading(kind=ReadingKind.CLOSED, lead=LeadView.of(closed))

    def _closed_as_echo(self, lead: Lead, mutation_key: str) -> Reading | None:
        """Close an event as our own echo; `None` where it is none after all.

        Each save is told once. Where nothing shows that a save was ours but that we came last (the write stood on the
        plan of another record), a second one about the same write is somebody else's, told late: whichever of the two
        it is, the record is planned as it is now.
        """
        mutation = self._ledger.mutation(mutation_key)
        of_another = mutation is not None and not _about(mutation, lead)
        if not (of_another and lead.event_kind.endswith(SAVED)):
            return self._closed(lead, Outcome.ECHO, echo_of=mutation_key)
        closed = self._ledger.close_as_echo(lead.event_key, mutation_key)
        return Reading(kind=ReadingKind.CLOSED, lead=LeadView.of(closed)) if closed is not None else None

    def _echo(self, lead: Lead, record: FoundRecord, policy: Policy) -> str | None:
        """The mutation of ours that this event echoes, decided from the record.

        A change is an echo where the record's history shows its value written together with a marker of ours; a
        creation, where the record carries the external id of a create of ours; a save, as `_echo_of_save` says.
        """
        if lead.event_kind.endswith(SAVED):
            return self._echo_of_save(lead, record, policy)
        changed = lead.changed_field
        if changed is None:
            if lead.event_kind.endswith(".creation") and record.external_id is not None:
                return self._ledger.creator_of(record.external_id)
            return None
        field = self._our_field(lead.source_system, changed, policy)
        if field is None:
            return None
        if field not in record.history:
            return self._echo_without_history(record, field)
        near = [c for c in record.history[field] if abs(c.at - lead.occurred_at) <= SAME_WRITE]
        if not near:
            return None
        # the event is about one change: a person's and ours can stand within the same second
        change = min(near, key=lambda c: abs(c.at - lead.occurred_at))
        for marker in record.history.get(MARKER, ()):
            if together(marker, change) and marker.value and self._ledger.wrote(marker.value, field, change.value):
                return str(marker.value)
        return None

    def _echo_without_history(self, record: FoundRecord, field: str) -> str | None:
        """Where the field has no history: we changed the record last, and it carries the marker of what we wrote."""
        if record.changed_by != US or record.marker is None:
            return None
        written = self._ledger.wrote(record.marker, field, record.fields.get(field))
        return record.marker if written else None

    def _echo_of_save(self, lead: Lead, record: FoundRecord, policy: Policy) -> str | None:
        """Where events name no field: we changed the record last, it carries our marker, and nothing else happened.

        A person's save that was told late comes with the time of our write behind it, and must not be taken for ours.
        Where the write stood on a plan about this record, it is an echo only if the record is as that plan saw it, but
        for what was written. Otherwise it is one only if the save is no older than our write, and if of whatever others
        changed before, as far as history tells it, another event has told.
        """
        if record.changed_by != US or record.marker is None:
            return None
        mutation = self._ledger.mutation(record.marker)
        if mutation is None or mutation.intended_state is None:
            return None
        if not _about(mutation, lead):
            if record.changed_at is None or lead.occurred_at < record.changed_at or self._untold(lead, record):
                return None
            return record.marker
        plan = self._ledger.plan_of(mutation.event_key, mutation.policy_version)
        if plan is None or plan.snapshot is None:
            return None
        unwritten = tuple(name for name in record.fields if name not in mutation.intended_state.fields)
        unseen = moved(plan.snapshot["fields"], record, unwritten, specs_for(policy, lead.source_system))
        return None if unseen else record.marker

    def _untold(self, lead: Lead, record: FoundRecord) -> bool:
        """Whether others changed the record lately and no earlier event came since: a save of theirs that is told only
        now carries the time of our write behind it."""
        since = lead.first_seen_at - TOLD_WITHIN
        others = [
            change.at
            for changes in record.history.values()
            for change in changes
            if change.by not in {US, None} and change.at >= since
        ]
        return bool(others) and not self._ledger.told_since(lead, max(others))

    def _as_sent(self, lead: Lead) -> LeadSnapshot:
        return LeadSnapshot(
            source_system=lead.source_system,
            source_object=TargetObject.LEAD,
            source_record_id=lead.source_record_id,
            fields=readable_values((lead.lead or {}).get("lead", {})),
            read_at=self._clock.now(),
        )


def _about(mutation: Mutation, lead: Lead) -> bool:
    """Whether a mutation was planned from the same source record."""
    return (mutation.source_system, mutation.source_record_id) == (lead.source_system, lead.source_record_id)
