"""Field values as Salesforce takes and keeps them."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from sandbox.salesforce import ids, times
from sandbox.salesforce.errors import SalesforceError, malformed_id, unreadable
from sandbox.salesforce.schema import Field

Value = str | bool | int | float | datetime | None

EMAIL = re.compile(r"[^@\s\"<>(),;:]+@[^@\s.\"<>(),;:]+(\.[^@\s.\"<>(),;:]+)+")
BLANKS = " \t\r\n\f\v"
MAX_HISTORY = 255


def normalise(field: Field, raw: Any) -> Value:
    """The value as it will be stored: blanks of ASCII are cut off, and an empty text is no value.

    Raises:
        SalesforceError: Salesforce would refuse the value.
    """
    if raw is None:
        return False if field.type == "boolean" else None
    take = _BY_TYPE.get(field.type)
    if take:
        return take(field, raw)
    if not isinstance(raw, str):
        raise unreadable(f"Cannot deserialize instance of string from {_token(raw)} value {_told(raw)}")
    text = raw.strip(BLANKS)
    return _BY_WORD.get(field.type, _text)(field, text) if text else None


def json_value(value: Any) -> Any:
    """A value as an answer shows it."""
    if isinstance(value, datetime):
        return times.shown(value)
    if isinstance(value, date):
        return value.isoformat()
    return value


def in_history(field: Field, value: Value) -> Value:
    """A value as the history of a field keeps it: nothing of a long text or of several choices."""
    if field.type == "multipicklist" or (field.type == "textarea" and field.length > MAX_HISTORY):
        return None
    if isinstance(value, datetime):
        return times.shown(value)
    return value


def as_reference(field: Field, raw: Any, prefixes: Mapping[str, str]) -> str | None:
    """The id of a related record, in 18 characters; `prefixes` are those of the objects."""
    if not isinstance(raw, str):
        raise unreadable(f"Cannot deserialize instance of reference from {_token(raw)} value {_told(raw)}")
    if not raw.strip(BLANKS):
        return None
    whole = ids.read(raw.strip(BLANKS))
    if whole is None:
        raise malformed_id(raw)
    if whole[:3] not in {prefixes.get(name) for name in field.references}:
        message = f"{field.label}: id value of incorrect type: {whole}"
        raise SalesforceError(400, "MALFORMED_ID", message, [field.name])
    return whole


def _text(field: Field, text: str) -> str:
    if field.length and len(text) > field.length:
        message = f"{field.label}: data value too large: {text} (max length={field.length})"
        raise SalesforceError(400, "STRING_TOO_LONG", message, [field.name])
    return text


def _email(field: Field, text: str) -> str:
    if not EMAIL.fullmatch(text):
        message = f"{field.label}: invalid email address: {text}"
        raise SalesforceError(400, "INVALID_EMAIL_ADDRESS", message, [field.name])
    return _text(field, text)


def _chosen(field: Field, text: str) -> str:
    if field.restricted and field.controller is None and not field.name.endswith("CountryCode"):
        _refuse_unknown(field, text)
    return _text(field, text)


def _several(field: Field, text: str) -> str:
    chosen = [part.strip(BLANKS) for part in text.split(";") if part.strip(BLANKS)]
    if field.restricted:
        for part in chosen:
            _refuse_unknown(field, part)
    order = [option.value for option in field.options]
    return ";".join(sorted(dict.fromkeys(chosen), key=lambda part: order.index(part) if part in order else len(order)))


def _refuse_unknown(field: Field, text: str) -> None:
    if text not in {option.value for option in field.options if option.active}:
        message = f"{field.label}: bad value for restricted picklist field: {text}"
        raise SalesforceError(400, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", message, [field.name])


def _number(field: Field, raw: Any) -> float | int | None:
    if isinstance(raw, str) and not raw.strip(BLANKS):
        return None
    try:
        number = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or (field.type == "int" and not number.is_integer()):
        raise unreadable(f"Cannot deserialize instance of {field.type} from {_token(raw)} value {_told(raw)}")
    return int(number) if field.type == "int" else number


def _boolean(field: Field, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in {"true", "false"}:
        return raw.lower() == "true"
    raise unreadable(f"Cannot deserialize instance of boolean from {_token(raw)} value {_told(raw)}")


def _datetime(field: Field, raw: Any) -> datetime | None:
    if raw == "":
        return None
    at = times.from_text(raw) if isinstance(raw, str) else None
    if at is None:
        raise unreadable(f"Cannot deserialize instance of datetime from {_token(raw)} value {_told(raw)}")
    return at


def _date(field: Field, raw: Any) -> str | None:
    if raw == "":
        return None
    try:
        return date.fromisoformat(raw[:10]).isoformat()
    except (TypeError, ValueError):
        raise unreadable(f"Cannot deserialize instance of date from {_token(raw)} value {_told(raw)}") from None


def _token(raw: Any) -> str:
    if isinstance(raw, bool):
        return f"VALUE_{str(raw).upper()}"
    if isinstance(raw, str):
        return "VALUE_STRING"
    if isinstance(raw, int | float):
        return "VALUE_NUMBER_INT" if isinstance(raw, int) else "VALUE_NUMBER_FLOAT"
    return "START_ARRAY" if isinstance(raw, list) else "START_OBJECT"


def _told(raw: Any) -> str:
    return str(raw) if isinstance(raw, str | int | float) else ""


_BY_TYPE: dict[str, Callable[[Field, Any], Value]] = {
    "int": _number,
    "double": _number,
    "currency": _number,
    "boolean": _boolean,
    "datetime": _datetime,
    "date": _date,
}
_BY_WORD: dict[str, Callable[[Field, str], str]] = {
    "email": _email,
    "picklist": _chosen,
    "multipicklist": _several,
}
