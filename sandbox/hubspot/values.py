"""Property values as HubSpot takes and keeps them: always strings."""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.clock import rfc3339
from sandbox.hubspot.definitions import Definition
from sandbox.hubspot.errors import InvalidValue

EMAIL = re.compile(r"[^@\s\"<>(),;:]+@[^@\s.\"<>(),;:]+(\.[^@\s.\"<>(),;:]+)+")
OWNER = "hubspot_owner_id"
DAY = 86_400_000


def as_text(raw: Any) -> str | None:
    """A JSON value as HubSpot stores it; none if it is no single value."""
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str):
        return raw
    if isinstance(raw, int | float):
        return str(raw)
    return None


def normalise(definition: Definition, raw: Any, current: str, owners: Collection[str]) -> str:
    """The value as it will be stored.

    Args:
        definition: the property.
        raw: what was sent.
        current: what is stored now; a multiple selection may be added to.
        owners: the ids of the owners that a record may be given to.

    Raises:
        InvalidValue: HubSpot would refuse the value.
    """
    name = definition["name"]
    value = as_text(raw)
    if value is None:
        raise InvalidValue(name, "INVALID_TYPE", f"{name} takes a single value")
    if value == "":
        return value
    if name == OWNER:
        return _owner(name, value, owners)
    if name == "email":
        return _email(name, value)
    normal = _BY_TYPE.get(definition["type"])
    if normal:
        return normal(name, value)
    if definition["type"] == "enumeration" and not definition["externalOptions"]:
        return _selected(definition, value, current)
    return value


def _email(name: str, value: str) -> str:
    if not EMAIL.fullmatch(value.strip()):
        raise InvalidValue(name, "INVALID_EMAIL", f"Email address {value} is invalid")
    return value.strip().lower()


def _owner(name: str, value: str, owners: Collection[str]) -> str:
    if value not in owners:
        raise InvalidValue(name, "INVALID_OWNER", f"{value} is not the id of an active owner")
    return value


def _selected(definition: Definition, value: str, current: str) -> str:
    name = definition["name"]
    allowed = [option["value"] for option in definition["options"]]
    several = definition["fieldType"] == "checkbox"
    chosen = [part for part in value.split(";") if part] if several else [value]
    for part in chosen:
        if part not in allowed:
            raise InvalidValue(name, "INVALID_OPTION", f"{part} was not one of the allowed options: {allowed}")
    if several and value.startswith(";"):
        chosen = [*(part for part in current.split(";") if part and part not in chosen), *chosen]
    return ";".join(dict.fromkeys(chosen))


def _number(name: str, value: str) -> str:
    try:
        finite = Decimal(value).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        raise InvalidValue(name, "INVALID_INTEGER", f"{value} was not a valid number")
    return value


def _boolean(name: str, value: str) -> str:
    if value.lower() not in {"true", "false"}:
        raise InvalidValue(name, "INVALID_OPTION", f"{value} was not one of the allowed options: [true, false]")
    return value.lower()


def _date(name: str, value: str) -> str:
    moment = epoch(value)
    if moment is None:
        raise InvalidValue(name, "INVALID_DATE", f"{value} was not a valid date")
    if moment % DAY:
        at = datetime.fromtimestamp(moment / 1000, UTC)
        clock = f"{at:%H:%M:%S}.{moment % 1000}"
        raise InvalidValue(name, "INVALID_DATE", f"{value} is at {clock} UTC, not midnight!")
    return rfc3339(moment)[:10]


def _datetime(name: str, value: str) -> str:
    moment = epoch(value)
    if moment is None:
        raise InvalidValue(name, "INVALID_DATE", f"{value} was not a valid date")
    return rfc3339(moment)


def epoch(value: str) -> int | None:
    """Milliseconds of an ISO date, an ISO time or a number of milliseconds."""
    if value.lstrip("-").isdigit():
        return int(value)
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


_BY_TYPE: dict[str, Callable[[str, str], str]] = {
    "number": _number,
    "bool": _boolean,
    "date": _date,
    "datetime": _datetime,
}
