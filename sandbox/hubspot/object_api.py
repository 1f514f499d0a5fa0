"""Single contacts over HTTP."""

from collections.abc import Iterable
from typing import Any

from sandbox.hubspot.contact import Contact
from sandbox.hubspot.contacts import Contacts, chosen
from sandbox.hubspot.errors import invalid_input, not_found
from sandbox.hubspot.reading import Reader
from sandbox.hubspot.shapes import page, shown
from sandbox.hubspot.source import Source
from sandbox.provider import Influence
from sandbox.wire import Answer, Call

PAGE = 10
MAX_PAGE = 100
MAX_PAGE_WITH_HISTORY = 50


class ObjectApi:
    def __init__(self, contacts: Contacts, reader: Reader, source: Source) -> None:
        self._contacts = contacts
        self._reader = reader
        self._source = source

    def read(self, call: Call, influence: Influence) -> Answer:
        found = self._reader.by_key(
            call.segments[-1],
            call.one("idProperty"),
            archived=call.flag("archived"),
            stale=influence.stale,
            merged=True,
        )
        if found is None:
            raise not_found()
        return Answer(200, self._reader.show(found, call.many("properties"), call.many("propertiesWithHistory")))

    def page(self, call: Call, influence: Influence) -> Answer:
        limit, after = call.number("limit", PAGE), call.number("after", 0)
        history = call.many("propertiesWithHistory")
        if limit > (MAX_PAGE_WITH_HISTORY if history else MAX_PAGE):
            raise invalid_input(f"limit {limit} is too large")
        rows = [
            contact
            for contact in chosen(self._contacts, call.flag("archived"))
            if int(contact.id) >= after and (not influence.stale or contact.before)
        ]
        shown_now = [
            self._reader.show(
                (contact, (influence.stale and contact.before) or contact.now), call.many("properties"), history
            )
            for contact in rows[:limit]
        ]
        return Answer(200, page(shown_now, rows[limit].id if len(rows) > limit else None))

    def create(self, call: Call, influence: Influence) -> Answer:
        fields = properties_of(call.body)
        contact = self._contacts.create(fields, self._source, influence)
        return self._written(201, contact, fields)

    def update(self, call: Call, influence: Influence) -> Answer:
        fields = properties_of(call.body)
        contact = self._contacts.living(call.segments[-1], call.one("idProperty"))
        self._contacts.update(contact, fields, self._source, influence)
        return self._written(200, contact, fields)

    def archive(self, call: Call, _: Influence) -> Answer:
        contact = self._contacts.get(call.segments[-1])
        if contact is None or not contact.now.live:
            return Answer(204)
        self._contacts.archive(contact, self._source)
        return Answer(204, applied=True, ids=(contact.id,))

    def merge(self, call: Call, _: Influence) -> Answer:
        body = call.body if isinstance(call.body, dict) else {}
        winner = self._contacts.living(str(body.get("primaryObjectId", "")))
        loser = self._contacts.living(str(body.get("objectIdToMerge", "")))
        if winner is loser:
            raise invalid_input("Cannot merge a contact with itself")
        self._contacts.merge(winner, loser, self._source)
        answer = self._written(200, winner, self._reader.names([]))
        answer.ids = (winner.id, loser.id)
        return answer

    def _written(self, status: int, contact: Contact, names: Iterable[str]) -> Answer:
        return Answer(status, shown(contact, contact.now, names), applied=True, ids=(contact.id,))


def properties_of(item: Any) -> dict[str, Any]:
    """The properties of a request body or of one input of a batch."""
    if not isinstance(item, dict) or not isinstance(item.get("properties"), dict):
        raise invalid_input("Invalid input JSON: properties are required")
    return dict(item["properties"])
