"""The lead schema of our own: `POST /v1/leads`, and generic sources: Standard Webhooks, or a shared secret."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from leadproof import strict_json
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.domain.field_catalog import CONSENT, FIRST_TOUCH
from leadproof.inbound.reading import Usable
from leadproof.inbound.times import RFC_3339, storable

LARGEST_EXTRA: Final = 65_536
"""Characters of JSON that are kept as evidence only."""

_SHOWN_FAULTS: Final = 5


def _blank_is_absent(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _null_is_empty(value: Any) -> Any:
    return {} if value is None else value


def _is_rfc_3339(value: Any) -> Any:
    if not isinstance(value, str) or RFC_3339.fullmatch(value) is None:
        raise ValueError("a time is RFC 3339 text with its offset")
    return value


def _without_nulls(value: Any) -> Any:
    return {name: one for name, one in value.items() if one is not None} if isinstance(value, dict) else value


def _whole_is_integer(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


_BLANK: Final = BeforeValidator(_blank_is_absent)
_EMPTY: Final = BeforeValidator(_null_is_empty)

Id = Annotated[str, StringConstraints(max_length=200, pattern=r"^\S(.*\S)?$")]
Kind = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
Occurrence = Annotated[str, StringConstraints(max_length=500, pattern=r"^\S(.*\S)?$")]
Time = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_is_rfc_3339), AfterValidator(storable)]
Email = Annotated[str | None, Field(max_length=320, pattern=r"^\s*[^\s@]+@[^\s@]+\s*$"), _BLANK]
Short = Annotated[str | None, Field(max_length=300), _BLANK]
Url = Annotated[str | None, Field(max_length=2000), _BLANK]
Long = Annotated[str | None, Field(max_length=20_000), _BLANK]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class LeadFields(BaseModel):
    """The lead; a field of another name is kept as evidence."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    email: Email = None
    phone: Annotated[str | None, Field(max_length=64), _BLANK] = None
    first_name: Short = None
    last_name: Short = None
    company: Short = None
    website: Url = None
    title: Short = None
    country: Short = None
    region: Short = None
    employees: Annotated[int | None, Field(ge=0, le=100_000_000), BeforeValidator(_whole_is_integer)] = None
    message: Long = None
    utm: Annotated[
        dict[Name, Annotated[str, StringConstraints(max_length=1000)]],
        Field(max_length=30),
        BeforeValidator(_without_nulls),
        _EMPTY,
    ] = {}
    consent: Annotated[dict[Name, bool | str | int | None], Field(max_length=30), _EMPTY] = {}

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.email is None and self.phone is None:
            raise ValueError("a lead has an e-mail address or a phone number")
        return self


class LeadDelivery(BaseModel):
    """One lead event as a form or another system sends it.

    Attributes:
        occurrence: the sender's own stable identity of the event, needed where the event kind counts once per event.
        extra: anything else, kept as evidence.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    source_record_id: Id
    event_kind: Kind
    occurrence: Occurrence | None = None
    occurred_at: Time
    lead: LeadFields
    extra: Annotated[dict[str, Any], _EMPTY] = {}


def parse(body: bytes, *, source: str) -> Usable:
    """Read a body that carries one lead event in our schema.

    Args:
        source: name of the source system, which the body does not choose.

    Raises:
        MalformedDelivery: naming the fields that are missing or wrong, without their values.
    """
    return parse_event(strict_json.read(body), source=source)


def parse_event(value: Any, *, source: str) -> Usable:
    """Read one lead event that is already JSON.

    Raises:
        MalformedDelivery: as `parse`.
    """
    strict_json.check(value)
    try:
        delivery = LeadDelivery.model_validate(value)
    except ValidationError as error:
        raise MalformedDelivery(_faults(error)) from None
    lead, further = _split(delivery.lead)
    extra = {**further, **delivery.extra}
    if len(strict_json.text_of(extra)) > LARGEST_EXTRA:
        raise MalformedDelivery(f"extra: more than {LARGEST_EXTRA} characters")
    event = SourceEvent(
        source_system=source,
        source_record_id=delivery.source_record_id,
        event_kind=delivery.event_kind,
        occurrence=delivery.occurrence,
        occurred_at=delivery.occurred_at,
        lead=lead,
        extra=extra,
    )
    return Usable(value, event)


def _split(fields: LeadFields) -> tuple[dict[str, Any], dict[str, Any]]:
    """The lead in our flat field names, and what has none among them."""
    given = fields.model_dump(exclude={"utm", "consent"}, exclude_none=True)
    lead = {name: value for name, value in given.items() if name in LeadFields.model_fields}
    further = {name: value for name, value in given.items() if name not in lead}
    utm = {f"utm_{name.removeprefix('utm_')}": value for name, value in fields.utm.items()}
    consent = fields.consent
    lead |= {name: value for name, value in utm.items() if name in FIRST_TOUCH and value.strip()}
    lead |= {name: value for name, value in consent.items() if name in CONSENT and isinstance(value, bool)}
    for group, values in (("utm", utm), ("consent", consent)):
        rest = {name: value for name, value in values.items() if name not in lead}
        if rest:
            further[group] = rest
    return lead, further


def _faults(error: ValidationError) -> str:
    faults = [
        f"{'.'.join(str(part) for part in item['loc'])[:100] or 'body'}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(faults[:_SHOWN_FAULTS])
