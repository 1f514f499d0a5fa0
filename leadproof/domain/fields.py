"""Field types and their normal forms: two spellings of one value become one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import StrEnum

import phonenumbers
from pydantic import BaseModel, ConfigDict

from leadproof.domain.errors import MalformedValue

Normal = str | bool | list[str] | None
"""A normal form: JSON, and equal exactly when the values mean the same."""

_ASCII_SPACE = " \t\r\n\f\v"


class FieldType(StrEnum):
    """How a field's values are read and compared."""

    TEXT = "text"
    EMAIL = "email"
    PHONE = "phone"
    BOOLEAN = "boolean"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    DATETIME = "datetime"
    PICKLIST = "picklist"
    MULTI_PICKLIST = "multi_picklist"
    OWNER = "owner"
    COUNTRY = "country"
    RECORD_ID = "record_id"


class FieldSpec(BaseModel):
    """The declaration of one field.

    Attributes:
        type: decides the normal form.
        free: free text; it is in no key and no fingerprint.
        region: ISO 3166 code that a phone number without a country code is read in.
        decimals: minor units of an amount.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: FieldType = FieldType.TEXT
    free: bool = False
    region: str | None = None
    decimals: int = 2


def _refuse(spec: FieldSpec, why: str) -> MalformedValue:
    return MalformedValue(spec.type.value, why)


def _text(spec: FieldSpec, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return _number(spec, value)
    if not isinstance(value, str):
        raise _refuse(spec, "it is no text")
    return unicodedata.normalize("NFC", value.strip(_ASCII_SPACE))


def _email(spec: FieldSpec, value: object) -> str:
    text = _text(spec, value)
    local, at, domain = text.rpartition("@")
    if not at:
        return text.casefold()
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        ascii_domain = domain
    return f"{local.casefold()}@{ascii_domain.casefold()}"


def _phone(spec: FieldSpec, value: object) -> str:
    text = _text(spec, value)
    try:
        parsed = phonenumbers.parse(text, spec.region)
    except phonenumbers.NumberParseException:
        digits = re.sub(r"\D", "", unicodedata.normalize("NFKC", text))
        return digits or text
    number = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return f"{number};ext={parsed.extension}" if parsed.extension else number


def _boolean(spec: FieldSpec, value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip(_ASCII_SPACE).casefold()
    if text in {"true", "1", "yes"}:
        return True
    if text in {"false", "0", "no"}:
        return False
    raise _refuse(spec, "it is neither true nor false")


def _decimal(spec: FieldSpec, value: object) -> Decimal:
    if isinstance(value, bool):
        raise _refuse(spec, "it is a boolean")
    try:
        number = Decimal(str(value).strip(_ASCII_SPACE))
    except InvalidOperation:
        raise _refuse(spec, "it is no decimal number") from None
    if not number.is_finite():
        raise _refuse(spec, "it is not finite")
    if abs(number.adjusted()) > 400:
        raise _refuse(spec, "its exponent is out of range")
    return number


def _number(spec: FieldSpec, value: object) -> str:
    number = _decimal(spec, value)
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _money(spec: FieldSpec, value: object) -> str:
    return _number(spec, _decimal(spec, value).scaleb(spec.decimals))


def _moment(spec: FieldSpec, value: object) -> datetime:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime.combine(value, time(), UTC)
    else:
        text = str(value).strip(_ASCII_SPACE)
        try:
            if re.fullmatch(r"-?\d{9,16}", text):  # HubSpot's legacy form: milliseconds since the epoch
                moment = datetime.fromtimestamp(int(text) / 1000, UTC)
            else:
                moment = datetime.fromisoformat(text)
        except (ValueError, OverflowError, OSError):
            raise _refuse(spec, "it is no time") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise _refuse(spec, "it is out of range") from None


def _date(spec: FieldSpec, value: object) -> str:
    return _moment(spec, value).date().isoformat()


def _datetime(spec: FieldSpec, value: object) -> str:
    # Salesforce drops the milliseconds of what it was given (facts: read-back equality), so whole seconds are compared
    return _moment(spec, value).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _multi(spec: FieldSpec, value: object) -> list[str]:
    parts: Iterable[object] = value.split(";") if isinstance(value, str) else value  # type: ignore[assignment]
    if not isinstance(value, str | list | tuple | set | frozenset):
        raise _refuse(spec, "it is no list")
    return sorted({text for part in parts if (text := _text(spec, part))})


def _record_id(spec: FieldSpec, value: object) -> str:
    return _text(spec, value)


def _country(spec: FieldSpec, value: object) -> str:
    return _text(spec, value).casefold()


_NORMAL: dict[FieldType, Callable[[FieldSpec, object], Normal]] = {
    FieldType.TEXT: _text,
    FieldType.EMAIL: _email,
    FieldType.PHONE: _phone,
    FieldType.BOOLEAN: _boolean,
    FieldType.NUMBER: _number,
    FieldType.MONEY: _money,
    FieldType.DATE: _date,
    FieldType.DATETIME: _datetime,
    FieldType.PICKLIST: _text,
    FieldType.MULTI_PICKLIST: _multi,
    FieldType.OWNER: _text,
    FieldType.COUNTRY: _country,
    FieldType.RECORD_ID: _record_id,
}


def normal(spec: FieldSpec, value: object) -> Normal:
    """The normal form of `value`.

    `None`, an empty text and an empty list all mean *empty* and become `None`; whether a field was returned at all is
    told apart by its absence from a mapping, never by a value.

    Raises:
        MalformedValue: the value cannot be read as the declared type.
    """
    if value is None or value == "" or (isinstance(value, list | tuple | set | frozenset) and not value):
        return None
    form = _NORMAL[spec.type](spec, value)
    return None if form in ("", []) else form
