"""Contacts as HubSpot shows them, in our names and normal forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from leadproof.crm import hubspot_refusal
from leadproof.crm.answers import lost, retry_after
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.hubspot_history import Attribution
from leadproof.deadline import Deadline, Exchange
from leadproof.domain.fields import Normal
from leadproof.domain.mutation import AnswerClass, RecordRef
from leadproof.domain.records import MARKER, FoundRecord, LookUp, Presence

ADDITIONAL_EMAILS = "hs_additional_emails"
_EMAIL = "email"
_ABSENT = LookUp(presence=Presence.ABSENT)


class Reader:
    """Look-ups of contacts. None of them raises; what cannot be trusted is *unknown*."""

    def __init__(
        self,
        client: HubSpotClient,
        fields: HubSpotFields,
        *,
        external_id_property: str,
        marker_property: str,
        app_id: str | None,
    ) -> None:
        self._client = client
        self._fields = fields
        self._external_id = external_id_property
        self._marker = marker_property
        self._attribution = Attribution(app_id)

    def by_id(self, record_id: str, fields: Sequence[str], deadline: Deadline, *, history: bool) -> LookUp:
        return self._by_key(record_id, None, fields, deadline, history=history)

    def find(self, record: RecordRef, fields: Sequence[str], deadline: Deadline, *, history: bool) -> LookUp:
        """Every unique value of the record is looked up; they agree on one record, or *several* is the answer."""
        found = [self._by_key(record.external_id, self._external_id, fields, deadline, history=history)]
        for name, value in record.unique_fields.items():
            unique = self._fields.property_of(name)
            if unique is None:
                found.append(_unknown(f"HubSpot has no property for the unique field {name}"))
                continue
            by_value = self._by_key(value, unique, fields, deadline, history=history)
            if by_value.presence is Presence.ABSENT and unique == _EMAIL:
                by_value = self._by_additional_email(value, fields, deadline, history=history)
            found.append(by_value)
        return _together(found)

    def _by_key(
        self, key: str, id_property: str | None, fields: Sequence[str], deadline: Deadline, *, history: bool
    ) -> LookUp:
        """Among the live records, then among the archived ones."""
        if not key.strip("."):  # the path's own parts "." and ".." are no ids either
            return _unknown("there is nothing to look up by")
        live = self._get(key, id_property, fields, deadline, history=history, archived=False)
        if live.presence is not Presence.ABSENT:
            return live
        return self._get(key, id_property, fields, deadline, history=history, archived=True)

    def _get(
        self,
        key: str,
        id_property: str | None,
        fields: Sequence[str],
        deadline: Deadline,
        *,
        history: bool,
        archived: bool,
    ) -> LookUp:
        properties = [*self._fields.properties_of(fields).values(), self._external_id, self._marker]
        asked: dict[str, Any] = {"properties": properties}
        if history:
            asked["properties_with_history"] = properties
        if id_property is not None:
            asked["id_property"] = id_property
        if archived:
            asked["archived"] = True
        exchange = self._client.call(self._client.records.get_by_id, key, deadline=deadline, **asked)
        problem = self._problem(exchange)
        if problem is not None:
            # our own id is always well-formed: a 400 says that the property is missing or not unique
            unusable = id_property == self._external_id and exchange.status == 400
            return problem.model_copy(update={"refuses_us": True}) if unusable else problem
        return self._interpreted(exchange.value, fields, archived=archived)

    def _interpreted(self, contact: Any, fields: Sequence[str], *, archived: bool) -> LookUp:
        try:
            record = self._record(contact, fields)
            is_archived = contact.archived
        except Exception as error:  # the models promise nothing about a body that is not what it should be
            return _unknown(f"the answer could not be used ({type(error).__name__})")
        if record is None:
            return _unknown("the answer was a success without a record in it")
        if is_archived:
            return LookUp(presence=Presence.REMOVED, record_ids=(record.record_id,))
        if archived:
            return _unknown("the record came back while it was looked for")
        return LookUp(presence=Presence.ONE, record=record, record_ids=(record.record_id,))

    def _by_additional_email(self, value: str, fields: Sequence[str], deadline: Deadline, *, history: bool) -> LookUp:
        """A secondary address makes a create fail, and not every look-up by e-mail sees it.

        The search index is late, so a hit is only a hint where to read, and no hit proves nothing.
        """
        query = {
            "filterGroups": [
                {"filters": [{"propertyName": ADDITIONAL_EMAILS, "operator": "CONTAINS_TOKEN", "value": value}]}
            ],
            "properties": [ADDITIONAL_EMAILS],
            "limit": 10,
        }
        exchange = self._client.call(self._client.searches.do_search, query, deadline=deadline)
        problem = self._problem(exchange)
        if problem is not None:
            return problem if problem.presence is Presence.UNKNOWN else _unknown("HubSpot has no search")
        try:
            results: Any = exchange.value
            hits = [str(hit.id) for hit in results.results if hit.id and _holds(hit.properties, value)]
        except Exception as error:  # the models promise nothing about a body that is not what it should be
            return _unknown(f"the search's answer could not be used ({type(error).__name__})")
        reads = [self._by_key(hit, None, fields, deadline, history=history) for hit in dict.fromkeys(hits)]
        return _together(reads)

    def _problem(self, exchange: Exchange[Any]) -> LookUp | None:
        """*unknown* or *absent* where the exchange brought no record; `None` where the answer is a success."""
        nothing = lost(exchange)
        if nothing is not None or exchange.response is None:
            return _unknown((nothing.detail if nothing else None) or "no answer")
        response = exchange.response
        if 200 <= response.status < 300:
            if exchange.fault is not None or exchange.value is None:
                return _unknown(f"the answer {response.status} could not be used ({exchange.fault})")
            return None
        refusal = hubspot_refusal.of_response(response, (self._external_id, self._marker))
        if response.status == 404 and "OBJECT_NOT_FOUND" in refusal.codes:
            return _ABSENT
        meaning = refusal.meaning(response.status)
        told = retry_after(response.headers)
        return LookUp(
            presence=Presence.UNKNOWN,
            detail=f"HubSpot answered {response.status} {refusal.codes[0] if refusal.codes else ''}".rstrip(),
            refuses_us=meaning.outcome is AnswerClass.REFUSES_US,
            retry_after_seconds=meaning.wait if told is None else told,
        )

    def _record(self, contact: Any, fields: Sequence[str]) -> FoundRecord | None:
        if not contact.id:
            return None
        values: dict[str, str | None] = dict(contact.properties or {})
        versions: dict[str, list[Any]] = dict(contact.properties_with_history or {})
        returned = {
            name: values[hubspot_property]
            for name, hubspot_property in self._fields.properties_of(fields).items()
            if hubspot_property in values
        }
        named = self._fields.properties_of(fields) | {MARKER: self._marker}
        history = {
            name: self._attribution.changes(
                versions[hubspot_property] or (),
                versions.get(self._marker) or (),
                partial(self._form, name),
            )
            for name, hubspot_property in named.items()
            if hubspot_property in versions
        }
        latest = max((changes[0] for changes in history.values() if changes), key=lambda c: c.at, default=None)
        return FoundRecord(
            record_id=str(contact.id),
            external_id=values.get(self._external_id) or None,
            marker=values.get(self._marker) or None,
            fields={name: self._fields.normalised(name, raw) for name, raw in returned.items()},
            raw=returned,
            history=history,
            changed_by=latest.by if latest else None,
            changed_at=latest.at if latest else _utc(contact.updated_at),
        )

    def _form(self, name: str, value: str | None) -> Normal:
        return (value or None) if name == MARKER else self._fields.normalised(name, value)


def _together(found: Iterable[LookUp]) -> LookUp:
    """What several look-ups of one record say together: *several* needs two different records, *absent* all of them."""
    reads = list(found)
    live = {read.record.record_id: read for read in reads if read.record is not None}
    if len(live) > 1:
        return LookUp(presence=Presence.SEVERAL, record_ids=tuple(live))
    unclear = [read for read in reads if read.presence is Presence.UNKNOWN]
    if unclear:
        return next((read for read in unclear if read.refuses_us), unclear[0])
    several = [read for read in reads if read.presence is Presence.SEVERAL]
    if several:
        return several[0]
    if live:
        return next(iter(live.values()))
    removed = dict.fromkeys(record_id for read in reads for record_id in read.record_ids)
    return LookUp(presence=Presence.REMOVED, record_ids=tuple(removed)) if removed else _ABSENT


def _holds(properties: dict[str, str | None] | None, email: str) -> bool:
    addresses = ((properties or {}).get(ADDITIONAL_EMAILS) or "").casefold().split(";")
    return email.strip().casefold() in addresses


def _unknown(why: str) -> LookUp:
    return LookUp(presence=Presence.UNKNOWN, detail=why)


def _utc(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
