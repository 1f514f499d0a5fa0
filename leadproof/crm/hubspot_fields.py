"""Our field names and HubSpot's contact properties, both ways. Imports no client, so that the starter can use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from leadproof.domain.errors import MalformedValue, PolicyRefused
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType, Normal, normal
from leadproof.domain.policy import TargetField

BUILT_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "email": "email",
        "phone": "phone",
        "first_name": "firstname",
        "last_name": "lastname",
        "company": "company",
        "website": "website",
        "title": "jobtitle",
        "country": "country",
        "region": "state",
        "employees": "numemployees",
        "message": "message",
        "utm_source": "utm_source",
        "utm_medium": "utm_medium",
        "utm_campaign": "utm_campaign",
        "utm_term": "utm_term",
        "utm_content": "utm_content",
        "email_opt_out": "hs_email_optout",
        "owner": "hubspot_owner_id",
        "lifecycle_stage": "lifecyclestage",
        "lead_status": "hs_lead_status",
        "disqualification_reason": "disqualification_reason",
        "qualification_summary": "qualification_summary",
    }
)
"""Our field name to contact property. `utm_*`, `disqualification_reason` and `qualification_summary` are custom
properties in HubSpot; the policy names others where an account has others."""

_RANGE = re.compile(r"\s*(\d+)\s*(?:[-–]\s*\d+|\+)\s*")


class HubSpotFields:
    """The fields of one deployment.

    Args:
        further: the policy's fields for the target `hubspot`, which add to the built-in ones or replace them.

    Raises:
        PolicyRefused: two fields name one property, so that one write would set it twice.
    """

    def __init__(self, further: Mapping[str, TargetField] | None = None) -> None:
        added = further or {}
        self._properties = {**BUILT_IN, **{name: field.property for name, field in added.items()}}
        self._specs = {**CATALOG, **{name: field.spec for name, field in added.items()}}
        self._names: dict[str, str] = {}
        for name, hubspot_property in self._properties.items():
            other = self._names.setdefault(hubspot_property, name)
            if other != name:
                raise PolicyRefused(f"{other} and {name} both name the HubSpot property {hubspot_property}")

    def property_of(self, name: str) -> str | None:
        """HubSpot's property of our field; `None` for a field that HubSpot has none for."""
        return self._properties.get(name)

    def name_of(self, hubspot_property: str) -> str | None:
        """Our field of HubSpot's property; `None` for a property that is no field of ours."""
        return self._names.get(hubspot_property)

    def properties(self) -> tuple[str, ...]:
        """HubSpot's properties of all our fields."""
        return tuple(self._properties.values())

    def spec(self, name: str) -> FieldSpec:
        return self._specs.get(name, FieldSpec())

    def by_name(self) -> dict[str, str]:
        """HubSpot's property of each of our fields."""
        return dict(self._properties)

    def properties_of(self, names: Iterable[str]) -> dict[str, str]:
        """Our names to properties, for those that have one."""
        return {name: self._properties[name] for name in names if name in self._properties}

    def normalised(self, name: str, raw: str | None) -> Normal:
        """The normal form of a property's value; a value that its type cannot read stays as text."""
        spec = self.spec(name)
        if spec.type is FieldType.NUMBER and raw and (bounds := _RANGE.fullmatch(raw)):
            raw = bounds[1]  # HubSpot's own numemployees holds ranges ("100-500", "1000+"): the lower bound counts
        try:
            return normal(spec, raw)
        except MalformedValue:
            return normal(FieldSpec(), raw)

    def to_property(self, name: str, value: Any) -> str:
        """A value as HubSpot takes it: always text, and an empty one clears the property.

        Raises:
            MalformedValue: the value is none of the field's type.
        """
        form = normal(self.spec(name), value)
        if form is None:
            return ""
        if isinstance(form, bool):
            return "true" if form else "false"
        # a list never begins with ";", which would add to what stands there instead of replacing it
        return ";".join(form) if isinstance(form, list) else form
