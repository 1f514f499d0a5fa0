"""From a guarded plan to the mutations that it reserves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain import keys
from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import Lead
from leadproof.domain.field_catalog import EMAIL, specs_for
from leadproof.domain.mutation import Intent, Mutation, Reason, RecordRef, Status
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Verdict
from leadproof.domain.policy import Policy
from leadproof.domain.records import FoundRecord, LookUp, Presence
from leadproof.domain.references import reference, references_in

UNIQUE_FIELDS = (EMAIL,)
"""Our names of the fields by which a target itself keeps its records apart."""


class TargetState(BaseModel):
    """A target's record as it was looked up before the plan was made.

    Attributes:
        found: *one* or *absent*, or what speaks against a write (*removed*, *several*).
        read_at: when.
        without_history: fields that an action sets and of which the target keeps no history.
        of_the_event: it is the source record itself, and no record that was found for the lead.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    found: LookUp
    read_at: datetime
    without_history: frozenset[str] = frozenset()
    of_the_event: bool = False

    def blind(self, action: Action) -> tuple[str, ...]:
        """The fields in which an edit that the action's write replaces would not be seen; none where there is no
        record."""
        return tuple(sorted(self.without_history & set(action.fields))) if self.found.record is not None else ()

    @property
    def base(self) -> dict[str, Any] | None:
        """The record's fields; `None` where there is no record."""
        return self.found.record.fields if self.found.record is not None else None


def settle_verdicts(
    guarded: Sequence[GuardedAction],
    targets: Mapping[tuple[str, str], TargetState],
    own_external_id: str,
    policy: Policy,
) -> tuple[GuardedAction, ...]:
    """The guard's verdicts once the target records are known.

    An action that met a record which is not linked to this lead is the policy's question: what a lead says of itself,
    its e-mail address included, gives nobody a hold on another one's record. A create makes no second record; any other
    action on a record that neither exists nor is created before it is refused; what depends on a refused action is
    refused too.
    """
    settled: list[GuardedAction] = []
    for guard in guarded:
        refused = [n for n in guard.action.depends_on if settled[n].verdict is Verdict.REFUSED]
        if guard.verdict is Verdict.REFUSED:
            settled.append(guard)
        elif refused:
            settled.append(_refuse(guard, f"it depends on action {refused[0]}, which was refused"))
        else:
            settled.append(_against_record(guard, targets, settled, own_external_id, policy))
    return tuple(settled)


def _refuse(guard: GuardedAction, why: str) -> GuardedAction:
    return guard.model_copy(update={"verdict": Verdict.REFUSED, "why": why})


def _against_record(
    guard: GuardedAction,
    targets: Mapping[tuple[str, str], TargetState],
    before: Sequence[GuardedAction],
    own_external_id: str,
    policy: Policy,
) -> GuardedAction:
    action = guard.action
    state = targets.get((action.target_system, action.target_object))
    if state is None:
        return _refuse(guard, "nothing here can write to the target")
    record = state.found.record
    blind = state.blind(action)
    permission = policy.permission(action.kind, action.target_system, action.target_object)
    if blind and not (permission is not None and permission.without_history):
        return _refuse(guard, f"the target keeps no history of {', '.join(blind)}, and the policy does not allow that")
    if action.kind is not ActionKind.CREATE:
        if state.found.presence is Presence.ABSENT and not _made_before(action, before):
            return _refuse(guard, "there is no record to write to")
        if state.of_the_event or _asked_before(action, before):
            return guard
    if record is None or record.external_id == own_external_id:
        return guard
    if record.external_id is None and policy.targets[action.target_system].found_unlinked == "link":
        return guard
    why = (
        "a record with the same e-mail stands there and does not carry our external id"
        if record.external_id is None
        else "the record that was found carries our external id of another source record"
    )
    return guard.model_copy(
        update={
            "verdict": Verdict.FOR_A_PERSON,
            # who approves for another reason is told this one as well
            "why": f"{guard.why}; {why}" if guard.why else why,
            "queue": guard.queue or "default",
        }
    )


def _asked_before(action: Action, before: Sequence[GuardedAction]) -> bool:
    """Whether it waits for an action on the same record, which has put the question that there is about it."""
    where = (action.target_system, action.target_object)
    needed = (before[ordinal].action for ordinal in action.depends_on)
    return any((one.target_system, one.target_object) == where for one in needed)


def _made_before(action: Action, before: Sequence[GuardedAction]) -> bool:
    needed = (before[ordinal].action for ordinal in action.depends_on)
    where = (action.target_system, action.target_object)
    return any(a.kind is ActionKind.CREATE and (a.target_system, a.target_object) == where for a in needed)


def mutations_from(
    lead: Lead,
    guarded: Sequence[GuardedAction],
    policy: Policy,
    targets: Mapping[tuple[str, str], TargetState],
    now: datetime,
) -> tuple[Mutation, ...]:
    """One mutation per action that the guard allows or holds for a person, in the plan's order.

    Args:
        targets: the looked-up record per target system and object.

    Raises:
        MalformedPlan: two actions have the same key.
    """
    made: dict[int, Mutation] = {}
    for ordinal, guard in enumerate(guarded):
        if guard.verdict is Verdict.REFUSED:
            continue
        action = guard.action
        state = targets[action.target_system, action.target_object]
        needed = tuple(made[i].mutation_key for i in action.depends_on)
        placed = guard.model_copy(update={"action": _by_key(action, made)})
        made[ordinal] = _mutation(lead, placed, policy, state, ordinal=ordinal, depends_on=needed, now=now)
    mutations = tuple(made.values())
    if len({mutation.mutation_key for mutation in mutations}) != len(mutations):
        raise MalformedPlan("two actions of the plan have the same key")
    return mutations


def _by_key(action: Action, made: Mapping[int, Mutation]) -> Action:
    """The action with each reference to another one by that one's mutation key, under which it stands for good."""
    refers = references_in(action.fields)
    by_key = {name: reference(made[to].mutation_key) for name, to in refers.items() if isinstance(to, int)}
    return action.model_copy(update={"fields": {**action.fields, **by_key}})


def _mutation(
    lead: Lead,
    guard: GuardedAction,
    policy: Policy,
    state: TargetState,
    *,
    ordinal: int,
    depends_on: tuple[str, ...],
    now: datetime,
) -> Mutation:
    action = guard.action
    specs = specs_for(policy, action.target_system)
    key = keys.mutation_key(
        event_key=lead.event_key,
        policy_version=policy.version,
        action_kind=action.kind,
        target_system=action.target_system,
        target_object=action.target_object,
        discriminator=action.discriminator,
    )
    record = state.found.record
    permission = policy.permission(action.kind, action.target_system, action.target_object)
    also = permission.compare_also if permission is not None else ()
    ref = _reference(lead, action, record)
    base = None
    if record is not None:
        names = (*action.fields, *also)
        base = {name: record.fields[name] for name in names if name in record.fields}
    reason = Reason.NEEDS_APPROVAL if guard.verdict is Verdict.FOR_A_PERSON else Reason.DEPENDS if depends_on else None
    return Mutation(
        mutation_key=key,
        event_key=lead.event_key,
        ordinal=ordinal,
        depends_on=depends_on,
        tenant=lead.tenant,
        environment=lead.environment,
        source_system=lead.source_system,
        source_record_id=lead.source_record_id,
        policy_version=policy.version,
        action_kind=action.kind,
        target_system=action.target_system,
        target_object=action.target_object,
        target_record=ref.external_id,
        discriminator=action.discriminator,
        fingerprint=keys.intent_fingerprint(action.fields, specs),
        base_state=base,
        intended_state=Intent(
            record=ref,
            creates=action.kind is ActionKind.CREATE and record is None,
            fields=action.fields,
            compare_also=also,
            base_read_at=state.read_at if record is not None else None,
            without_history=state.blind(action),
            reason=action.reason,
            evidence=action.evidence,
            policy_version=policy.version,
            mutation_key=key,
        ),
        status=Status.RESERVED,
        reason=reason,
        provider_record_id=ref.provider_record_id,
        created_at=now,
        updated_at=now,
    )


def _reference(lead: Lead, action: Action, record: FoundRecord | None) -> RecordRef:
    """A record that carries an external id keeps it; one without gets ours with our first write."""
    unique = {name: str(action.fields[name]) for name in UNIQUE_FIELDS if action.fields.get(name)}
    carried = record.external_id if record is not None else None
    return RecordRef(
        target_system=action.target_system,
        target_object=action.target_object,
        external_id=carried or lead.external_id,
        provider_record_id=record.record_id if record is not None else None,
        linked=carried is not None,
        unique_fields=unique,
    )
