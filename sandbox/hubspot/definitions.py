"""A portal's property definitions."""

from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.clock import Clock, rfc3339
from sandbox.hubspot.errors import HubSpotError, invalid_input, not_found

Definition = dict[str, Any]

MAX_UNIQUE = 10
EDITABLE = (
    "label",
    "type",
    "fieldType",
    "groupName",
    "options",
    "description",
    "displayOrder",
    "hidden",
    "formField",
    "calculationFormula",
)
TYPES = frozenset({"string", "number", "bool", "date", "datetime", "enumeration", "phone_number", "object_coordinates"})
BORN = "2019-10-30T03:30:17.883Z"


class Definitions:
    """Definitions by name; an archived one is kept apart and is not there for records."""

    def __init__(self, seed: Iterable[Mapping[str, Any]], clock: Clock) -> None:
        self._clock = clock
        self._live = {item["name"]: _full(item, at=BORN) for item in seed}
        self._archived: dict[str, Definition] = {}

    def get(self, name: str) -> Definition | None:
        return self._live.get(name)

    def all(self, *, archived: bool = False) -> list[Definition]:
        return list((self._archived if archived else self._live).values())

    def one(self, name: str, *, archived: bool = False) -> Definition:
        found = (self._archived if archived else self._live).get(name)
        if found is None:
            raise _no_property(name)
        return found

    def unique(self) -> list[str]:
        return [name for name, item in self._live.items() if item["hasUniqueValue"]]

    def is_unique(self, name: str) -> bool:
        definition = self._live.get(name)
        return definition is not None and bool(definition["hasUniqueValue"])

    def create(self, body: Any) -> Definition:
        if not isinstance(body, dict):
            raise invalid_input("Invalid input JSON: an object is required")
        for key in ("name", "label", "type", "fieldType", "groupName"):
            if not isinstance(body.get(key), str) or not body[key]:
                raise invalid_input(f"Some required fields were not set: [{key}]")
        name = body["name"]
        if body["type"] not in TYPES:
            raise invalid_input(f"Invalid property type {body['type']}")
        _check_options(body)
        if name in self._live:
            raise HubSpotError(
                409,
                f"A property named '{name}' already exists.",
                "OBJECT_ALREADY_EXISTS",
                subCategory="Properties.PROPERTY_EXISTS",
            )
        if body.get("hasUniqueValue") and len(self.unique()) >= MAX_UNIQUE:
            raise invalid_input(f"An object can have at most {MAX_UNIQUE} properties with unique values")
        at = rfc3339(self._clock.now())
        self._archived.pop(name, None)
        self._live[name] = _full({**body, "hubspotDefined": False}, at=at)
        return self._live[name]

    def update(self, name: str, body: Any) -> Definition:
        found = self.one(name)
        if not isinstance(body, dict):
            raise invalid_input("Invalid input JSON: an object is required")
        changed = {key: body[key] for key in EDITABLE if key in body}
        self._live[name] = _full({**found, **changed, "updatedAt": rfc3339(self._clock.now())}, at=found["createdAt"])
        return self._live[name]

    def archive(self, name: str) -> None:
        found = self._live.get(name)
        if found is None:
            return
        if found["hubspotDefined"]:
            raise invalid_input(f"{name} is defined by HubSpot and cannot be archived")
        at = rfc3339(self._clock.now())
        self._archived[name] = {**found, "archived": True, "archivedAt": at, "updatedAt": at}
        del self._live[name]


def _check_options(body: Mapping[str, Any]) -> None:
    options = body.get("options") or []
    if body["type"] == "enumeration" and not body.get("externalOptions") and not options:
        raise invalid_input("An enumeration property needs options")
    for key in ("label", "value"):
        given = [option.get(key) if isinstance(option, dict) else None for option in options]
        if not all(isinstance(text, str) and text for text in given) or len(set(given)) < len(given):
            raise invalid_input(f"Each option needs a {key} of its own")


def _full(item: Mapping[str, Any], at: str) -> Definition:
    ours = not item.get("hubspotDefined", True)
    read_only = bool(item.get("readOnlyValue", item.get("modificationMetadata", {}).get("readOnlyValue", False)))
    definition: Definition = {
        "updatedAt": item.get("updatedAt", at),
        "createdAt": at,
        "name": item["name"],
        "label": item["label"],
        "type": item["type"],
        "fieldType": item["fieldType"],
        "description": item.get("description", ""),
        "groupName": item["groupName"],
        "options": [_option(option, order) for order, option in enumerate(item.get("options") or [])],
        "displayOrder": item.get("displayOrder", -1),
        "calculated": bool(item.get("calculated", False)),
        "externalOptions": bool(item.get("externalOptions", False)),
        "archived": False,
        "hasUniqueValue": bool(item.get("hasUniqueValue", False)),
        "hidden": bool(item.get("hidden", False)),
        "hubspotDefined": not ours,
        "modificationMetadata": {
            "archivable": ours,
            "readOnlyDefinition": not ours,
            "readOnlyValue": read_only,
        },
        "formField": bool(item.get("formField", not read_only)),
    }
    for key in ("referencedObjectType", "calculationFormula"):
        if item.get(key):
            definition[key] = item[key]
    return definition


def _option(option: Mapping[str, Any], order: int) -> dict[str, Any]:
    return {
        "label": str(option["label"]),
        "value": str(option["value"]),
        "description": option.get("description", ""),
        "displayOrder": option.get("displayOrder", order),
        "hidden": bool(option.get("hidden", False)),
    }


def _no_property(name: str) -> HubSpotError:
    error = not_found()
    error.message = f"Property {name} does not exist"
    error.details["subCategory"] = "Properties.PROPERTY_NOT_FOUND"
    return error
