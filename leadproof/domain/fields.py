"""Field types and their normal forms: two spellings of one value become one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from leadproof.domain import countries
from leadproof.domain.errors import MalformedValue

Normal = str | bool | list[str] | None
"""A normal form: JSON, and equal exactly when the values mean the same."""

_ASCII_SPACE = " \t\r\n\f\v"
_LARGEST_EXPONENT = 400
_EXACT = Context(prec=2 * _LARGEST_EXPONENT + 100, Emax=MAX_EMAX, Emin=MIN_EMIN)  # the default one rounds to 28 digits
_DOMAIN = re.compile(r"[a-z0-9._-]+")


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
        decimals: minor units of an amount: 2 for EUR, 0 for JPY.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    type: FieldType = FieldType.TEXT
    free: bool = Field(default=False, strict=True)
    region: str | None = Field(default=None, pattern=r"^[A-Z]{2}$")
    decimals: int = Field(default=2, strict=True, ge=0, le=6)


def _refuse(spec: FieldSpec, why: str) -> MalformedValue:
    return MalformedValue(spec.type.value, why)


def _text(spec: FieldSpec, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return _number(spec, value)
    if not isinstance(value, str):
        raise _refuse(spec, "it is no text")
    if any(one == "\x00" or "\ud800" <= one <= "\udfff" for one in value):
        raise _refuse(spec, "it contains a character that cannot be stored")
    return unicodedata.normalize("NFC", value.strip(_ASCII_SPACE))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())  # case folding takes some letters apart


def _email(spec: FieldSpec, value: object) -> str:
    text = _folded(_text(spec, value))
    local, at, domain = text.rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return text
    return f"{local}@{ascii_domain}" if at and _DOMAIN.fullmatch(ascii_domain) else text


_MOST_READINGS = 5


def _phone(spec: FieldSpec, value: object) -> str:
    text = _text(spec, value)
    for _ in range(_MOST_READINGS):
        form = _read_phone(spec, text)
        if form == text:
            break
        text = form  # leading zeros can be read as a prefix each time: go on until the form stands
    return text


def _read_phone(spec: FieldSpec, text: str) -> str:
    import phonenumbers  # noqa: PLC0415 - its tables cost a workflow worker 60 ms at import, and no workflow reads a number

    digits = "".join(str(unicodedata.digit(one)) for one in unicodedata.normalize("NFKC", text) if one.isdecimal())
    for spelling in (text, digits):
        try:
            parsed = phonenumbers.parse(spelling, spec.region)
        except phonenumbers.NumberParseException:
            continue
        number = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
        again = phonenumbers.format_number(phonenumbers.parse(number, None), phonenumbers.PhoneNumberFormat.E164)
        if again != number:
            continue  # the library reads its own spelling of an impossible number as yet another one
        return f"{number};ext={parsed.extension}" if parsed.extension else number
    return digits or text


def _spelled(spec: FieldSpec, value: object) -> str:
    if not isinstance(value, str | int | float | Decimal):
        raise _refuse(spec, "it is no single value")
    try:
        return str(value).strip(_ASCII_SPACE)
    except ValueError:  # Python spells no integer of more than 4300 digits
        raise _refuse(spec, "it is out of range") from None


def _boolean(spec: FieldSpec, value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = _spelled(spec, value).casefold()
    if text in {"true", "1", "yes"}:
        return True
    if text in {"false", "0", "no"}:
        return False
    raise _refuse(spec, "it is neither true nor false")


def _decimal(spec: FieldSpec, value: object) -> Decimal:
    if isinstance(value, bool):
        raise _refuse(spec, "it is a boolean")
    try:
        number = Decimal(_spelled(spec, value))
    except (InvalidOperation, ValueError):
        raise _refuse(spec, "it is no decimal number") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise _refuse(spec, "it is not finite")
    if not -_LARGEST_EXPONENT <= exponent <= number.adjusted() <= _LARGEST_EXPONENT:
        raise _refuse(spec, "its exponent is out of range")
    return number


def _number(spec: FieldSpec, value: object) -> str:
    number = _decimal(spec, value)
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _money(spec: FieldSpec, value: object) -> str:
    whole, _, fraction = _number(spec, value).partition(".")
    if len(whole.lstrip("-")) + spec.decimals > _LARGEST_EXPONENT + 1:
        raise _refuse(spec, "its minor units are out of range")
    fraction = fraction.ljust(spec.decimals, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _moment(spec: FieldSpec, value: object) -> datetime:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime.combine(value, time(), UTC)
    else:
        text = _spelled(spec, value)
        try:
            if re.fullmatch(r"-?[0-9]{9,16}", text):  # HubSpot's legacy form: milliseconds since the epoch
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
    if not isinstance(value, str | list | tuple | set | frozenset):
        raise _refuse(spec, "it is no list")
    parts: Iterable[object] = [value] if isinstance(value, str) else value
    # the semicolon parts the options wherever it stands, also one that only the text's normal form shows (U+037E)
    return sorted({text for part in parts for one in _text(spec, part).split(";") if (text := _text(spec, one))})


def _record_id(spec: FieldSpec, value: object) -> str:
    return _text(spec, value)


def _country(spec: FieldSpec, value: object) -> str:
    text = _text(spec, value)
    return countries.code(text) or text


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


def canonical(spec: FieldSpec, value: object) -> Normal:
    """The form in which `value` stands in a fingerprint: the normal form, an amount in minor units.

    Raises:
        MalformedValue: the value cannot be read as the declared type.
    """
    form = normal(spec, value)
    if spec.type is FieldType.MONEY and isinstance(form, str):
        return _number(spec, Decimal(form).scaleb(spec.decimals, _EXACT))
    return form
