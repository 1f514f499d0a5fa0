"""What of a proposed plan stands: allowed, refused with a reason, or held for a person.

A plan is a proposal, and the lead's own text may have had a hand in it. So nothing in a plan is trusted: each action
is measured against the policy and its values are brought into normal form; a refused one stays, with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from leadproof.domain import conditions
from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import LeadSnapshot
from leadproof.domain.field_catalog import ABOUT_THE_LEAD, FIRST_TOUCH, LIFECYCLE_STAGE, specs_for, specs_of_lead
from leadproof.domain.field_values import ValueRefused, usable_value
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import MOST_ACTIONS, Action, ActionKind, GuardedAction, Plan, TargetObject, Verdict
from leadproof.domain.policy import Approval, Policy
from leadproof.domain.records import FoundRecord
from leadproof.domain.references import reference, references_in, referred
from leadproof.domain.stages import may_move_back, moves_back


class _Refused(Exception):
    """One action is refused; the text is the reason."""


class _Guarding(NamedTuple):
    policy: Policy
    snapshot: LeadSnapshot
    records: Mapping[tuple[str, str], FoundRecord | None]
    from_model: bool

    def record(self, action: Action) -> FoundRecord | None:
        return self.records.get((action.target_system, str(action.target_object)))

    def base(self, action: Action) -> Mapping[str, Any]:
        record = self.record(action)
        return record.fields if record is not None else {}


def guard(
    plan: Plan,
    policy: Policy,
    *,
    snapshot: LeadSnapshot,
    records: Mapping[tuple[str, str], FoundRecord | None],
    from_model: bool = False,
) -> tuple[GuardedAction, ...]:
    """Decide what of a plan stands under a policy.

    What a lead says of itself is copied by a model and never made up: a value of such a field that is neither the
    lead's nor the record's is refused.

    A first-touch field that has a value is never overwritten: an action that would is refused as a whole, since what
    is decided together is one effect. A stage move backward is taken out of its action and becomes `clear_stage` and,
    after it, `set_stage`, both for a person; they stand right behind what is left of the action, and what depended on
    the action depends on them too.

    Args:
        snapshot: the lead as it was read; the conditions of approvals look at it.
        records: per target system and object the record as it stands, `None` where there is none.
        from_model: a model proposed the plan, not the policy's own rules.

    Returns:
        One entry for each action in order, values in normal form, `depends_on` counted in this order.

    Raises:
        MalformedPlan: the plan has more than 20 actions or two with the same key, as proposed or after a stage move
            backward was taken apart.
    """
    _recordable(plan.actions)
    guarding = _Guarding(policy, snapshot, records, from_model)
    guarded: list[GuardedAction] = []
    places: list[tuple[int, ...]] = []  # per proposed action, where its parts stand in `guarded`
    for action in plan.actions:
        moved = tuple(dict.fromkeys(place for needed in action.depends_on for place in places[needed]))
        placed = action.model_copy(update={"depends_on": moved})
        try:
            parts = _parts(guarding, _referring(placed, action, places), guarded)
        except _Refused as refused:
            parts = [GuardedAction(action=placed, verdict=Verdict.REFUSED, why=str(refused))]
        places.append(tuple(range(len(guarded), len(guarded) + len(parts))))
        guarded.extend(parts)
    _recordable([one.action for one in guarded])
    return tuple(guarded)


def _referring(placed: Action, proposed: Action, places: list[tuple[int, ...]]) -> Action:
    """The action with its references counted as `placed` is; each is to something that it depends on."""
    refers = references_in(proposed.fields)
    counted = {name: places[to][0] for name, to in refers.items() if isinstance(to, int) and to in proposed.depends_on}
    if len(counted) < len(refers):
        raise _Refused("it refers to the record of an action that it does not depend on")
    fields = {**placed.fields, **{name: reference(place) for name, place in counted.items()}}
    return placed.model_copy(update={"fields": fields})


def _recordable(actions: tuple[Action, ...] | list[Action]) -> None:
    if len(actions) > MOST_ACTIONS:
        raise MalformedPlan(f"a plan has at most {MOST_ACTIONS} actions, this one has {len(actions)}")
    keys = Counter((one.kind, one.target_system, one.target_object, one.discriminator) for one in actions)
    (kind, system, target_object, _), times = max(keys.items(), key=lambda item: item[1], default=((None,) * 4, 0))
    if times > 1:
        raise MalformedPlan(f"a plan has one {kind} of {system!r} {target_object}, this one has {times}")


def _parts(guarding: _Guarding, action: Action, before: list[GuardedAction]) -> list[GuardedAction]:
    _refuse_by_kind(guarding, action, before)
    fields = _usable_fields(guarding, action)
    action = action.model_copy(update={"fields": fields})
    held = _approval(guarding, action)
    policy = guarding.policy
    if not moves_back(policy, action.target_system, guarding.base(action), fields):
        return [_judged(action, held)]
    if not may_move_back(policy, action.target_system, action.target_object):
        raise _Refused("the stage would move backward, and the policy does not permit clear_stage and set_stage")
    rest = {name: value for name, value in fields.items() if name != LIFECYCLE_STAGE}
    remainder = [action.model_copy(update={"fields": rest})] if rest else []
    here = len(before) + len(remainder)
    clear = action.model_copy(update={"kind": ActionKind.CLEAR_STAGE, "fields": {LIFECYCLE_STAGE: None}})
    set_ = action.model_copy(
        update={
            "kind": ActionKind.SET_STAGE,
            "fields": {LIFECYCLE_STAGE: fields[LIFECYCLE_STAGE]},
            "depends_on": (*action.depends_on, here),
        }
    )
    why = "the stage would move backward, which the target only does after it was emptied"
    queue = held.queue if held is not None else "default"
    moves = [GuardedAction(action=one, verdict=Verdict.FOR_A_PERSON, why=why, queue=queue) for one in (clear, set_)]
    return [*(_judged(one, _approval(guarding, one)) for one in remainder), *moves]


def _judged(action: Action, held: Approval | None) -> GuardedAction:
    if held is None:
        return GuardedAction(action=action, verdict=Verdict.ALLOWED)
    return GuardedAction(action=action, verdict=Verdict.FOR_A_PERSON, why=held.why, queue=held.queue)


def _refuse_by_kind(guarding: _Guarding, action: Action, before: list[GuardedAction]) -> None:
    policy = guarding.policy
    if action.target_system not in policy.targets:
        raise _Refused("the target is not in the policy")
    permission = policy.permission(action.kind, action.target_system, action.target_object)
    if permission is None:
        raise _Refused(f"the policy does not permit {action.kind} on {action.target_system} {action.target_object}")
    if action.kind is ActionKind.CLEAR_STAGE:
        raise _Refused("clear_stage is what a stage move backward becomes, it is never proposed")
    if action.target_object is not TargetObject.MESSAGE and action.discriminator is not None:
        raise _Refused("a write to a CRM has no discriminator")
    if not action.fields and action.kind is not ActionKind.LINK:
        raise _Refused("it sets no field")
    if len(set(action.fields) - set(permission.fields)) > 0:
        known = specs_for(policy, action.target_system)
        named = sorted(name for name in set(action.fields) - set(permission.fields) if name in known)
        what = ", ".join(named) if named else "a field that nobody knows"
        raise _Refused(f"the policy does not let {action.kind} set {what}")
    needed = [before[ordinal] for ordinal in action.depends_on]
    if any(one.verdict is Verdict.REFUSED for one in needed):
        raise _Refused("it depends on an action that was refused")
    made = any(one.action.kind is ActionKind.CREATE and _same_record(one.action, action) for one in needed)
    if guarding.record(action) is None and action.kind is not ActionKind.CREATE and not made:
        raise _Refused("there is no record that it could be done to")


def _same_record(one: Action, other: Action) -> bool:
    return (one.target_system, one.target_object) == (other.target_system, other.target_object)


def _usable_fields(guarding: _Guarding, action: Action) -> dict[str, Any]:
    base = guarding.base(action)
    specs = specs_for(guarding.policy, action.target_system)
    fields: dict[str, Any] = {}
    for name, value in action.fields.items():
        holds_id = name in specs and specs[name].type is FieldType.RECORD_ID
        if guarding.from_model and holds_id:
            raise _Refused(f"{name} is the id of a record, which no model proposes")
        if referred(value) is not None:
            if not holds_id:
                raise _Refused(f"{name} cannot be the id of a record")
            fields[name] = value
            continue
        try:
            fields[name] = usable_value(guarding.policy, action.target_system, name, value)
        except ValueRefused as refused:
            raise _Refused(str(refused)) from None
        if guarding.from_model and name in ABOUT_THE_LEAD and not _said(guarding, action, name, fields[name]):
            raise _Refused(f"{name} is neither what the lead says nor what the record holds, and is never made up")
        if guarding.from_model and fields[name] in (None, "", []):
            raise _Refused(f"{name} would be emptied, and a model empties nothing")
        if name in FIRST_TOUCH and base.get(name) is not None and base[name] != fields[name]:
            raise _Refused(f"{name} already has a value, and the first touch is never overwritten")
    return fields


def _said(guarding: _Guarding, action: Action, name: str, form: object) -> bool:
    if form is None or guarding.base(action).get(name) == form:
        return form is not None
    try:
        said = usable_value(guarding.policy, action.target_system, name, guarding.snapshot.fields.get(name))
    except ValueRefused:
        return False
    return said == form


def _approval(guarding: _Guarding, action: Action) -> Approval | None:
    specs = specs_of_lead(guarding.policy, guarding.snapshot.source_system, action.target_system)
    for approval in guarding.policy.approvals:
        unsure = approval.below_confidence
        record = guarding.record(action)
        if (
            (approval.action is None or approval.action is action.kind)
            and (not approval.sets or set(approval.sets) & set(action.fields))
            and (not approval.changes or _changes(guarding.base(action), action.fields, approval.changes))
            and (not approval.first_write or (record is not None and record.marker is None))
            and (unsure is None or action.confidence is None or action.confidence < unsure)
            and conditions.holds(approval.when, guarding.snapshot, specs)
        ):
            return approval
    return None


def _changes(base: Mapping[str, Any], fields: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return any(base.get(name) is not None and name in fields and fields[name] != base[name] for name in names)
