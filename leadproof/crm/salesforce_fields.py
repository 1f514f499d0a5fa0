"""Our field names and Salesforce's, of leads and contacts, both ways. Imports no client: the starter can use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from leadproof.domain.errors import MalformedValue, PolicyRefused
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType, Normal, normal
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import TargetField
from leadproof.domain.salesforce_ids import salesforce_id

OBJECTS: Final[Mapping[str, str]] = MappingProxyType({TargetObject.LEAD: "Lead", TargetObject.CONTACT: "Contact"})
"""Our name of an object and Salesforce's."""

_BOTH: Final = {
    "email": "Email",
    "phone": "Phone",
    "first_name": "FirstName",
    "last_name": "LastName",
    "title": "Title",
    "message": "Description",
    "utm_source": "Utm_Source__c",
    "utm_medium": "Utm_Medium__c",
    "utm_campaign": "Utm_Campaign__c",
    "utm_term": "Utm_Term__c",
    "utm_content": "Utm_Content__c",
    "email_opt_out": "HasOptedOutOfEmail",
    "do_not_call": "DoNotCall",
    "owner": "OwnerId",
    "disqualification_reason": "Disqualification_Reason__c",
    "qualification_summary": "Qualification_Summary__c",
}

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        TargetObject.LEAD: MappingProxyType(
            {
                **_BOTH,
                "company": "Company",
                "website": "Website",
                "country": "CountryCode",
                "region": "State",
                "employees": "NumberOfEmployees",
                "lead_status": "Status",
            }
        ),
        TargetObject.CONTACT: MappingProxyType({**_BOTH, "country": "MailingCountryCode", "region": "MailingState"}),
    }
)
"""Per object, our field name to Salesforce's. Those with `__c` are custom fields; the policy names others where an org
has others. `CountryCode` takes the codes that we compare, and is there where state and country picklists are on; for an
org without them the policy names the field beside it. Salesforce has no lifecycle stage of its own, a contact has
neither a status nor, but through its account, a company."""

WITHOUT_PICKLISTS: Final[Mapping[str, str]] = MappingProxyType(
    {"CountryCode": "Country", "MailingCountryCode": "MailingCountry"}
)
"""What holds the country where state and country picklists are off."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_IDS = frozenset({FieldType.OWNER, FieldType.RECORD_ID})
_NUMBERS = frozenset({FieldType.NUMBER, FieldType.MONEY})


class SalesforceFields:
    """The fields of one deployment. Salesforce takes a field's name in any case, so here case does not count either.

    Args:
        further: the policy's fields for the target `salesforce`, which add to the built-in ones of both objects or
            replace them.

    Raises:
        PolicyRefused: a name can be no field's, or two of ours name one field, so that one write would set it twice.
    """

    def __init__(self, further: Mapping[str, TargetField] | None = None) -> None:
        added = further or {}
        for name, field in added.items():
            if _NAME.fullmatch(field.property) is None:
                raise PolicyRefused(
                    f"{name} names the Salesforce field {field.property!r}, which can be no field's name"
                )
        self._specs = {**CATALOG, **{name: field.spec for name, field in added.items()}}
        self._fields = {
            target_object: {**built_in, **{name: field.property for name, field in added.items()}}
            for target_object, built_in in BUILT_IN.items()
        }
        self._names: dict[str, dict[str, str]] = {target_object: {} for target_object in BUILT_IN}
        for target_object, fields in self._fields.items():
            names = self._names[target_object]
            for name, theirs in fields.items():
                other = names.setdefault(theirs.casefold(), name)
                if other != name:
                    raise PolicyRefused(f"{other} and {name} both name the Salesforce field {theirs}")

    def field_of(self, target_object: str, name: str) -> str | None:
        """Salesforce's field of ours; `None` for a field that the object has none for."""
        return self._fields.get(target_object, {}).get(name)

    def name_of(self, target_object: str, field: str) -> str | None:
        """Our field of Salesforce's; `None` for one that is no field of ours."""
        return self._names.get(target_object, {}).get(field.casefold())

    def fields_of(self, target_object: str, names: Iterable[str]) -> dict[str, str]:
        """Our names to Salesforce's, for those that the object has."""
        fields = self._fields.get(target_object, {})
        return {name: fields[name] for name in names if name in fields}

    def by_name(self, target_object: str) -> dict[str, str]:
        """Salesforce's field of each of our fields."""
        return dict(self._fields.get(target_object, {}))

    def spec(self, name: str) -> FieldSpec:
        return self._specs.get(name, FieldSpec())

    def normalised(self, name: str, raw: Any) -> Normal:
        """The normal form of a value as Salesforce's JSON has it; a value that its type cannot read stays as text.

        Args:
            raw: text, a boolean, a number (an exact one, where it was read so), or `None`.
        """
        spec = self.spec(name)
        try:
            form = normal(spec, raw)
        except MalformedValue:
            return normal(FieldSpec(), raw if isinstance(raw, str | bool | int | Decimal) else str(raw))
        return _as_id(form) if spec.type in _IDS else form

    def to_value(self, name: str, value: Any) -> str | bool | int | float | None:
        """A value as Salesforce takes it in JSON; `None` clears the field.

        Raises:
            MalformedValue: the value is none of the field's type, or a number with more digits than JSON carries.
        """
        spec = self.spec(name)
        form = normal(spec, value)
        if form is None or isinstance(form, bool):
            return form
        if isinstance(form, list):
            return ";".join(form)
        if spec.type in _IDS:
            return salesforce_id(form)
        return _number(spec, form) if spec.type in _NUMBERS else form


def _as_id(form: Normal) -> Normal:
    try:
        return salesforce_id(form)
    except MalformedValue:
        return form


def _number(spec: FieldSpec, form: str) -> int | float:
    exact = Decimal(form)
    if exact == exact.to_integral_value() and abs(exact) < 2**53:
        return int(exact)
    nearest = float(exact)
    if Decimal(repr(nearest)) != exact:
        raise MalformedValue(spec.type, "it has more digits than a number in JSON carries")
    return nearest
