"""Contacts as the API shows them."""

from collections.abc import Iterable
from typing import Any

from sandbox.clock import rfc3339
from sandbox.hubspot.contact import Contact, State

ALWAYS = ("createdate", "hs_object_id", "lastmodifieddate")
BY_DEFAULT = ("createdate", "email", "firstname", "hs_object_id", "lastmodifieddate", "lastname")


def shown(
    contact: Contact,
    state: State,
    names: Iterable[str],
    history: Iterable[str] = (),
) -> dict[str, Any]:
    """One record. A name without a value is null; which names exist is the caller's business."""
    row: dict[str, Any] = {
        "id": contact.id,
        "properties": {name: state.values.get(name) for name in dict.fromkeys((*names, *ALWAYS))},
        "createdAt": rfc3339(contact.created_at),
        "updatedAt": rfc3339(state.at),
        "archived": state.archived_at is not None,
    }
    if state.archived_at is not None:
        row["archivedAt"] = rfc3339(state.archived_at)
    wanted = list(history)
    if wanted:
        row["propertiesWithHistory"] = {name: list(state.history.get(name, ())) for name in wanted}
    return row


def witnessed(contact: Contact) -> dict[str, Any]:
    """One record with everything there is to know about it, for the control plane."""
    state = contact.now
    return {
        "id": contact.id,
        "object": "contacts",
        "properties": dict(state.values),
        "history": {name: list(versions) for name, versions in state.history.items()},
        "createdAt": rfc3339(contact.created_at),
        "updatedAt": rfc3339(state.at),
        "archived": state.archived_at is not None,
        "archivedAt": rfc3339(state.archived_at) if state.archived_at is not None else None,
        "mergedInto": state.merged_into,
    }


def page(rows: list[dict[str, Any]], after: str | None, link: str = "") -> dict[str, Any]:
    """A page of a list, with where the next one starts."""
    body: dict[str, Any] = {"results": rows}
    if after is not None:
        body["paging"] = {"next": {"after": after, "link": link}}
    return body
