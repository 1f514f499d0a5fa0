"""The file of a trial: a lead as it is sent, and what the trial has to know beside it."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from leadproof import strict_json
from leadproof.domain.errors import MalformedDelivery, MalformedValue
from leadproof.domain.events import SourceEvent, source_object
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.fields import FieldType, normal
from leadproof.domain.plan import Plan, TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.records import FoundRecord
from leadproof.inbound import standard

Link = Literal["nobody", "this_lead", "another_lead"]

_SHOWN_FAULTS: Final = 5
_ANY: Final = "101"


class StandingRecord(BaseModel):
    """The record that stands in the target when the lead comes.

    Attributes:
        target: which target; the policy's only one where it is left out.
        object: what kind of record it is there; by itself the one that the event is about, or that the policy's first
            action on the target is about.
        fields: our field names and their values; an owner by name or id.
        linked_to: whose external id it carries.
        written_by_us: whether it carries an effect of ours already.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str | None = None
    object: TargetObject | None = None
    fields: dict[str, Any] = {}
    linked_to: Link = "nobody"
    written_by_us: bool = False


class _Beside(BaseModel):
    """What stands in the file beside the lead.

    Attributes:
        source: the source system; needed only where several of the policy's have this event kind.
        changed_field: for a change event, the source's name of the field that changed.
        record: the record in the target; none: it is not there, or, where the source is the target, it holds what
            the lead says.
        plan: what Claude could propose, to see what the guard makes of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str | None = None
    changed_field: str | None = None
    record: StandingRecord | None = None
    plan: Plan | None = None


class TrialLead(NamedTuple):
    """A trial's file, read.

    Attributes:
        stands_in: the target and the object that `record` is of.
    """

    event: SourceEvent
    record: FoundRecord | None
    stands_in: tuple[str, str] | None
    linked_to: Link
    plan: Plan | None


def read_lead(policy: Policy, body: bytes) -> TrialLead:
    """Read a trial's file.

    Raises:
        MalformedDelivery: naming what is missing or wrong, without values.
    """
    value = strict_json.read(body)
    if not isinstance(value, dict):
        raise MalformedDelivery("the file holds no lead; it is one object, as for POST /v1/leads")
    try:
        beside = _Beside.model_validate({name: value[name] for name in _Beside.model_fields if name in value})
    except ValidationError as error:
        raise MalformedDelivery(_faults(error)) from None
    sent = {name: part for name, part in value.items() if name not in _Beside.model_fields}
    source = _source(policy, sent.get("event_kind"), beside.source)
    if source in policy.targets:
        # what a CRM sends of itself always carries an identity of its own; here any will do
        sent = {"occurrence": "trial", **sent}
    event = standard.parse_event(sent, source=source).event
    event = event.model_copy(update={"changed_field": beside.changed_field})
    standing = beside.record
    if standing is None and source in policy.targets:
        standing = StandingRecord(target=source)
    if standing is None:
        return TrialLead(event, None, None, "nobody", beside.plan)
    target = _target(policy, standing.target)
    said = event.lead if source == target else {}
    record = FoundRecord(
        record_id=event.source_record_id if source == target else _ANY,
        external_id="of another lead" if standing.linked_to == "another_lead" else None,
        marker="of an earlier effect" if standing.written_by_us else None,
        fields=_standing_fields(policy, target, {**said, **standing.fields}),
    )
    stands_in = (target, _object(policy, target, event, standing.object))
    return TrialLead(event, record, stands_in, standing.linked_to, beside.plan)


def _source(policy: Policy, event_kind: Any, asked: str | None) -> str:
    named = [event.source for event in policy.events if event.kind == event_kind and asked in (None, event.source)]
    if asked is not None:
        return asked
    if len(named) > 1:
        raise MalformedDelivery(f'several sources have this event kind; add "source": one of {", ".join(named)}')
    return named[0] if named else "unknown"


def _target(policy: Policy, asked: str | None) -> str:
    if asked is None and len(policy.targets) == 1:
        return next(iter(policy.targets))
    if asked not in policy.targets:
        known = ", ".join(policy.targets)
        raise MalformedDelivery(f"record.target: say in which of the policy's targets the record stands: {known}")
    return asked


def _object(policy: Policy, target: str, event: SourceEvent, asked: TargetObject | None) -> TargetObject:
    if asked is not None:
        return asked
    if event.source_system == target:
        return source_object(event.event_kind)
    acted_on = (permission.object for permission in policy.actions if permission.target == target)
    return next(acted_on, TargetObject.CONTACT)


def _standing_fields(policy: Policy, target: str, given: dict[str, Any]) -> dict[str, Any]:
    specs, owners = specs_for(policy, target), policy.owners.get(target, {})
    fields: dict[str, Any] = {}
    for name, value in given.items():
        spec = specs.get(name)
        if spec is None:
            raise MalformedDelivery(f"record.fields: {name!r} is no field that the policy knows")
        try:
            form = normal(spec, value)
        except MalformedValue as error:
            raise MalformedDelivery(f"record.fields.{name}: {error}") from None
        fields[name] = owners.get(form, form) if spec.type is FieldType.OWNER and isinstance(form, str) else form
    return fields


def _faults(error: ValidationError) -> str:
    faults = [
        f"{'.'.join(str(part) for part in item['loc'])[:100]}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(faults[:_SHOWN_FAULTS])
