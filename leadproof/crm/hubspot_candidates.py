"""Contacts that changed, found through HubSpot's search and then read one by one.

The search (https://developers.hubspot.com/docs/api/crm/search) shows at most 200 a page and 10,000 in all, takes one
sort, allows five requests a second, and is behind by seconds to minutes. So it only tells which records to read, and
pages are turned by moving the lower bound: an offset would pass over a record whenever another one changes meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from leadproof.crm.hubspot_patience import PatientQuestions
from leadproof.crm.patience import Gone
from leadproof.deadline import Response
from leadproof.domain.candidates import Candidate, Version

PAGE: Final = 200

_CHANGED: Final = "lastmodifieddate"
"""HubSpot's name of it for contacts; other objects have `hs_lastmodifieddate`. A creation moves it too."""

_ID: Final = "hs_object_id"
_MADE_BY: Final = ("hs_object_source", "hs_object_source_id")
_NOT_SENSITIVE: Final = (None, "non_sensitive")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class _Hit(NamedTuple):
    record_id: str
    changed: int
    """Milliseconds since the epoch."""


class HubSpotCandidates:
    """The port `Candidates` over HubSpot's contacts.

    Args:
        questions: how HubSpot is asked.
        page: results of one search, at most 200.
    """

    def __init__(self, questions: PatientQuestions, *, page: int = PAGE) -> None:
        self._questions = questions
        self._client = questions.client
        self._page = page
        self._shown: frozenset[str] | None = None

    def account(self) -> str:
        """The portal id that the access token opens."""
        return self._questions.ask(self._client.account_details, lambda details, _: str(details["portalId"]))

    def changed_since(self, since: datetime) -> Iterator[str]:
        """Ids of the contacts that were created or changed, by the time of their last change."""
        seen: set[str] = set()
        bound = _milliseconds(since)
        while True:
            hits = self._search(_filter(_CHANGED, "GTE", bound), by=_CHANGED)
            yield from _new(hits, seen)
            if len(hits) < self._page:
                return
            latest = hits[-1].changed
            if latest <= bound:  # a whole page of one millisecond, as an import can make them
                yield from _new(self._of_one_moment(bound), seen)
                latest = bound + 1
            bound = latest

    def read(self, record_id: str, properties: Sequence[str]) -> Candidate | None:
        """One contact with the history of these properties; `None` where it is archived or merged away."""
        asked: dict[str, Any] = {"properties": list(_MADE_BY)}
        if properties:
            asked["properties_with_history"] = list(properties)
        try:
            found = self._questions.ask(self._client.records.get_by_id, _candidate, record_id, **asked)
        except Gone:
            return None
        if found is None or found.record_id != record_id:
            return None
        shown = self._values_shown() if properties else frozenset()
        return found.model_copy(update={"concealed": frozenset(properties) - shown})

    def close(self) -> None:
        """Close the idle connections; whoever waits for HubSpot waits no longer."""
        self._questions.close()

    def _search(self, *filters: dict[str, str], by: str) -> list[_Hit]:
        query = {
            "filterGroups": [{"filters": list(filters)}],
            "sorts": [{"propertyName": by, "direction": "ASCENDING"}],
            "properties": [_CHANGED],
            "limit": self._page,
        }
        return self._questions.search(query, _hits)

    def _of_one_moment(self, moment: int) -> Iterator[_Hit]:
        """Every contact whose last change is of this millisecond, by id."""
        after = "0"
        while True:
            hits = self._search(_filter(_CHANGED, "EQ", moment), _filter(_ID, "GT", after), by=_ID)
            yield from hits
            if len(hits) < self._page:
                return
            after = hits[-1].record_id

    def _values_shown(self) -> frozenset[str]:
        """The properties whose values webhooks carry; of a sensitive one they say `REDACTED`, and it is not listed."""
        if self._shown is None:
            self._shown = self._questions.ask(self._client.properties.get_all, _not_sensitive, object_type="contacts")
        return self._shown


def _filter(name: str, operator: str, value: object) -> dict[str, str]:
    return {"propertyName": name, "operator": operator, "value": str(value)}


def _new(hits: Iterable[_Hit], seen: set[str]) -> Iterator[str]:
    for hit in hits:
        if hit.record_id not in seen:
            seen.add(hit.record_id)
            yield hit.record_id


def _hits(answer: Any, _: Response) -> list[_Hit]:
    return [
        _Hit(str(hit.id), _milliseconds(_utc(datetime.fromisoformat(hit.properties[_CHANGED]))))
        for hit in answer.results
    ]


def _candidate(contact: Any, _: Response) -> Candidate | None:
    """A contact as it was read, `None` where it is archived."""
    if not contact.id or contact.created_at is None:
        raise ValueError
    if contact.archived:
        return None
    values = contact.properties or {}
    source, source_id = (values.get(name) for name in _MADE_BY)
    versions = contact.properties_with_history or {}
    return Candidate(
        record_id=str(contact.id),
        created=Version(value=None, at=_utc(contact.created_at), source=source, source_id=source_id),
        history={name: _newest_first(entries or ()) for name, entries in versions.items()},
    )


def _newest_first(entries: Iterable[Any]) -> tuple[Version, ...]:
    versions = [
        Version(value=entry.value, at=_utc(entry.timestamp), source=entry.source_type, source_id=entry.source_id)
        for entry in entries
    ]
    return tuple(sorted(versions, key=lambda version: version.at, reverse=True))


def _not_sensitive(_: Any, response: Response) -> frozenset[str]:
    # the client library's model leaves the sensitivity out
    definitions = json.loads(response.body)["results"]
    return frozenset(one["name"] for one in definitions if one.get("dataSensitivity") in _NOT_SENSITIVE)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
