"""Objects and their fields, as an org defines them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

LEAD = "Lead"
CONTACT = "Contact"
HISTORIES = {LEAD: "LeadHistory", CONTACT: "ContactHistory"}


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    active: bool = True
    default: bool = False
    of: tuple[str, ...] = ()
    """The values of the controlling field that it goes with."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    label: str
    type: str
    length: int = 0
    required: bool = False
    read_only: bool = False
    tracked: bool = False
    unique: bool = False
    case_sensitive: bool = False
    external_id: bool = False
    id_lookup: bool = False
    restricted: bool = False
    options: tuple[Option, ...] = ()
    default: str | None = None
    references: tuple[str, ...] = ()
    controller: str | None = None

    @property
    def custom(self) -> bool:
        return self.name.endswith("__c")

    @property
    def word(self) -> str:
        """Its type, as a comparison has to know it."""
        return "case_sensitive_string" if self.case_sensitive else self.type

    @property
    def finds_records(self) -> bool:
        """Whether a record can be named by a value of it."""
        return self.external_id or self.id_lookup

    def matches(self, value: str) -> str:
        """The form in which two values of it are equal."""
        return value if self.case_sensitive else value.casefold()


class Object:
    """One object; its fields are found by their names in any case."""

    def __init__(self, settings: Mapping[str, Any], fields: Iterable[Field]) -> None:
        self._settings = settings
        self.name = str(settings["name"])
        self.label = str(settings["label"])
        self.prefix = settings.get("prefix")
        self.writable = bool(settings.get("writable"))
        self.fields = {field.name: field for field in fields}
        self._by_folded = {name.casefold(): name for name in self.fields}

    def copy(self) -> "Object":
        return Object(self._settings, self.fields.values())

    def field(self, name: str) -> Field | None:
        canonical = self._by_folded.get(name.casefold())
        return self.fields[canonical] if canonical else None

    def with_field(self, name: str, changed: Mapping[str, Any] | None) -> None:
        """Define a field anew, change what is known of it, or (with nothing) take it away."""
        known = self.field(name)
        if changed is None:
            if known is None:
                raise ValueError(f"{self.name} has no field {name!r}")
            del self.fields[known.name]
        elif known:
            self.fields[known.name] = replace(known, **_attributes(changed))
        else:
            self.fields[name] = _field({"label": name, "type": "string", **changed, "name": name})
        self._by_folded = {each.casefold(): each for each in self.fields}


class Schema:
    """Every object of an org, found by its name in any case."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._objects = {each.name: each for each in objects}
        self._by_folded = {name.casefold(): name for name in self._objects}

    @classmethod
    def from_seed(cls, seed: Mapping[str, Any]) -> "Schema":
        shared = seed["shared"]
        return cls(
            Object(item, [_field(each) for each in (*item["fields"], *_all(shared, item))]) for item in seed["objects"]
        )

    def copy(self) -> "Schema":
        """The same objects, whose fields can be changed by themselves."""
        return Schema(each.copy() for each in self)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def find(self, name: str) -> Object | None:
        canonical = self._by_folded.get(name.casefold())
        return self._objects[canonical] if canonical else None

    def __getitem__(self, name: str) -> Object:
        return self._objects[name]


def _all(shared: Mapping[str, list[Any]], item: Mapping[str, Any]) -> list[Any]:
    return [field for name in item.get("with", ()) for field in shared[name]]


def _field(item: Mapping[str, Any]) -> Field:
    return Field(name=item["name"], **_attributes(item))


def _attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: item[name] for name in item if name not in {"name", "label", "type", "options", "references"}}
    unknown = set(known) - set(Field.__slots__)
    if unknown:
        raise ValueError(f"a field has no {', '.join(sorted(unknown))}")
    for name in ("label", "type"):
        if name in item:
            known[name] = item[name]
    if "options" in item:
        known["options"] = tuple(_option(each) for each in item["options"])
    if "references" in item:
        known["references"] = tuple(item["references"])
    return known


def _option(item: Any) -> Option:
    if isinstance(item, str):
        return Option(item, item)
    of = tuple(item.get("of", ()))
    return Option(
        item["value"], item.get("label", item["value"]), item.get("active", True), item.get("default", False), of
    )
