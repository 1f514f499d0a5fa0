"""From what a source said to a lead event with its key: accepted, left alone, or held back with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.domain import keys
from leadproof.domain.errors import MalformedKey, MalformedValue
from leadproof.domain.events import LeadEvent, Scope, SourceEvent
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.policy import Policy
from leadproof.domain.steps import EchoQuestion
from leadproof.inbound import hubspot, salesforce
from leadproof.inbound.reading import Ignored, Reading, Unusable
from leadproof.inbound.signatures import TOLERANCE_SECONDS
from leadproof.ports import Ledger
from leadproof.settings import Settings

MALFORMED: Final = "malformed"
FOREIGN_ACCOUNT: Final = "foreign_account"
CONFLICT: Final = "conflict"
FUTURE: Final = "future"

CLOCK_MARGIN: Final = timedelta(seconds=TOLERANCE_SECONDS)
"""How far ahead of our clock an event's time may lie: as far as a signature's, so that a source whose deliveries are
accepted has its events accepted, too. An event of the year 2999 would supersede every later one of its record."""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """Nothing that this deployment acts on."""

    why: str


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An event that can't be used.

    Attributes:
        reason: `malformed`, `foreign_account` or `future`.
        why: one sentence, without values.
    """

    reason: str
    why: str


class SourceFields(Protocol):
    """A source system's names of our fields."""

    def name_of(self, hubspot_property: str, /) -> str | None: ...

    def normalised(self, name: str, raw: str | None, /) -> Any: ...


def source_fields(policy: Policy) -> dict[str, SourceFields]:
    """Per source system that is a target too, its names of our fields."""
    target = policy.targets.get(hubspot.SOURCE)
    return {hubspot.SOURCE: HubSpotFields(target.fields if target is not None else None)}


def judge_reading(
    reading: Reading, *, policy: Policy, settings: Settings, fields: Mapping[str, SourceFields], now: datetime
) -> tuple[LeadEvent, SourceEvent] | LeftAlone | HeldBack:
    """Decide at the door what one reading of a delivery is; see `judge`."""
    if isinstance(reading, Ignored):
        return LeftAlone("nothing that happens to a lead's own record")
    if isinstance(reading, Unusable):
        return HeldBack(MALFORMED, reading.why)
    judged = judge(reading.event, policy=policy, settings=settings, fields=fields, now=now)
    return (judged, reading.event) if isinstance(judged, LeadEvent) else judged


def judge(
    event: SourceEvent, *, policy: Policy, settings: Settings, fields: Mapping[str, SourceFields], now: datetime
) -> LeadEvent | LeftAlone | HeldBack:
    """Decide at the door what an event is.

    The scope that its key has is the one that held when it occurred, so that a redelivery keeps its key for ever.

    Args:
        fields: per source system that is a target too, its names of our fields.
        now: our clock; an event that says it occurs later is held back.
    """
    if not _is_ours(event, settings):
        return HeldBack(FOREIGN_ACCOUNT, "the event names another account than this deployment's")
    kind = policy.event_kind(event.source_system, event.event_kind)
    if kind is None:
        return LeftAlone("the policy names no such event kind")
    if kind.properties and event.changed_field not in kind.properties:
        return LeftAlone("the policy does not name the property that changed")
    if event.occurred_at > now + CLOCK_MARGIN:
        return HeldBack(
            FUTURE, f"occurred_at: more than {CLOCK_MARGIN.total_seconds() / 60:g} minutes ahead of the clock here"
        )
    scope = kind.scope_at(event.occurred_at)
    if scope is Scope.EVENT and event.occurrence is None:
        return HeldBack(MALFORMED, "occurrence: needed, since this event kind counts once per event")
    occurrence = event.occurrence if scope is Scope.EVENT else None
    try:
        return LeadEvent(
            event_key=keys.event_key(
                tenant=settings.tenant,
                environment=settings.environment,
                source_system=event.source_system,
                source_record_id=event.source_record_id,
                event_kind=event.event_kind,
                occurrence=occurrence,
            ),
            tenant=settings.tenant,
            environment=settings.environment,
            source_system=event.source_system,
            source_record_id=event.source_record_id,
            event_kind=event.event_kind,
            occurrence=occurrence,
            occurred_at=event.occurred_at,
            fingerprint=keys.event_fingerprint(
                event_kind=event.event_kind, occurrence=occurrence, lead=_sent(event, scope), specs=CATALOG
            ),
            lead={"lead": _in_our_names(event, fields), "extra": _evidence(event, scope)},
            policy_version=policy.version,
        )
    except (MalformedKey, MalformedValue) as error:
        return HeldBack(MALFORMED, str(error))


def echo_question(event: SourceEvent, *, policy: Policy, fields: Mapping[str, SourceFields]) -> EchoQuestion | None:
    """What to ask the ledger before an event may be dropped as our own echo; `None`: it may not be dropped.

    Only a change that the source ascribes to software, of a field that is ours, in a system that we write to.
    """
    target = policy.targets.get(event.source_system)
    names = fields.get(event.source_system)
    if event.by_person is not False or event.changed_field is None or event.changed_value is None:
        return None
    if target is None or names is None:
        return None
    field = names.name_of(event.changed_field)
    if field is None:
        return None
    return EchoQuestion(
        target_system=event.source_system,
        record_id=event.source_record_id,
        field=field,
        value=names.normalised(field, event.changed_value),
        quiescence=target.quiescence,
    )


def echo_at_the_door(
    event: SourceEvent, *, ledger: Ledger, policy: Policy, fields: Mapping[str, SourceFields]
) -> str | None:
    """The mutation of ours that an event echoes, by the narrow rule of the door; `None`: it is let in."""
    question = echo_question(event, policy=policy, fields=fields)
    if question is None:
        return None
    return ledger.echo_of(question, occurred_at=event.occurred_at)


def _is_ours(event: SourceEvent, settings: Settings) -> bool:
    accounts = {hubspot.SOURCE: settings.hubspot_portal_id, salesforce.SOURCE: settings.salesforce_org_id}
    ours = accounts.get(event.source_system)
    return ours is None or event.account == ours


def _in_our_names(event: SourceEvent, fields: Mapping[str, SourceFields]) -> dict[str, Any]:
    names = fields.get(event.source_system)
    field = names.name_of(event.changed_field) if names is not None and event.changed_field is not None else None
    return event.lead if field is None else {**event.lead, field: event.changed_value}


def _sent(event: SourceEvent, scope: Scope) -> dict[str, Any]:
    """The lead fields that came with the event.

    A changed property stands under the source's own name of it: our name is the policy's choice, and a fingerprint that
    moved with the policy would turn a redelivery into a conflict. Where a kind counts once per record, a later change
    is the same event again, whatever its value.
    """
    if event.changed_field is None or scope is Scope.RECORD:
        return event.lead
    return {**event.lead, f"{event.source_system}:{event.changed_field}": event.changed_value}


def _evidence(event: SourceEvent, scope: Scope) -> dict[str, Any]:
    if scope is Scope.RECORD and event.occurrence is not None:
        return {**event.extra, "sent_occurrence": event.occurrence}
    return event.extra
