"""Which records a request means, and every word by which a fault may be tied to it."""

from typing import Any

from sandbox.hubspot.contact import Contact
from sandbox.hubspot.contacts import Contacts
from sandbox.hubspot.definitions import Definitions
from sandbox.hubspot.errors import HubSpotError
from sandbox.provider import Named
from sandbox.wire import Call


class Naming:
    def __init__(self, contacts: Contacts, definitions: Definitions) -> None:
        self._contacts = contacts
        self._definitions = definitions

    def call(self, call: Call) -> list[Named]:
        """One entry per input of a batch, in order; one for any other request."""
        body = call.body if isinstance(call.body, dict) else {}
        if isinstance(body.get("inputs"), list):
            shared = body.get("idProperty")
            return [self.item(item, shared) for item in body["inputs"] if isinstance(item, dict)]
        if "primaryObjectId" in body:
            ids = [str(body["primaryObjectId"]), str(body.get("objectIdToMerge", ""))]
            return [Named(record, frozenset([record])) for record in ids]
        if isinstance(body.get("filterGroups"), list):
            return [Named(None, frozenset(_search_words(body["filterGroups"])))]
        return [self.item({**body, "id": _key(call), "idProperty": call.one("idProperty")}, None)]

    def item(self, item: dict[str, Any], shared: str | None = None) -> Named:
        properties = item.get("properties")
        fields = properties if isinstance(properties, dict) else {}
        words = {str(value) for value in fields.values()}
        contact = None
        if item.get("id") is not None:
            words.add(str(item["id"]))
            contact = self._find(str(item["id"]), item.get("idProperty") or shared)
        else:
            contact = self._holder(fields)
        if contact:
            words.add(contact.id)
        return Named(contact.id if contact else None, frozenset([*words, *(word.lower() for word in words)]))

    def _find(self, key: str, id_property: str | None) -> Contact | None:
        try:
            return self._contacts.find(key, id_property)
        except HubSpotError:
            return None

    def _holder(self, fields: dict[str, Any]) -> Contact | None:
        for name in ("email", *self._definitions.unique()):
            found = self._contacts.by_value(name, str(fields[name])) if fields.get(name) else None
            if found:
                return found
        return None


def _key(call: Call) -> str | None:
    """The last segment, if it names one record and not a collection."""
    collections = {"contacts", "contact", "0-1", "owners"}
    return call.segments[-1] if call.segments[-2:-1] and call.segments[-2] in collections else None


def _search_words(groups: Any) -> list[str]:
    return [
        str(value)
        for group in groups
        if isinstance(group, dict)
        for item in group.get("filters") or ()
        if isinstance(item, dict)
        for value in (item.get("value"), *(item.get("values") or ()))
        if value is not None
    ]
