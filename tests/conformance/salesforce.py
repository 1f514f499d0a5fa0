"""Salesforce's leads, for the cases of conformance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from leadproof.crm.salesforce import SalesforceCrm
from leadproof.crm.salesforce_fields import SalesforceFields
from leadproof.crm.salesforce_sign_in import ClientCredentials
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.plan import TargetObject
from tests.conformance.hands import Standing
from tests.conformance.systems import System

EXTERNAL_ID, MARKER = "Leadproof_External_Id__c", "Leadproof_Effect__c"


def _adapter(address: str, connect: float, call: float) -> SalesforceCrm:
    return SalesforceCrm(
        url=address,
        sign_in=ClientCredentials("leadproof", "secret"),
        api_version="62.0",
        fields=SalesforceFields(),
        external_id_field=EXTERNAL_ID,
        marker_field=MARKER,
        connect_timeout=connect,
        call_timeout=call,
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    values = row["properties"]
    marks = [version["value"] for version in row["history"].get(MARKER, ()) if version["value"]]
    return Standing(
        record_id=row["id"],
        external_id=values.get(EXTERNAL_ID),
        marks=tuple(reversed(marks)),
        values=values,
        live=not row["archived"] and not values.get("IsConverted"),
    )


SALESFORCE: Final = System(
    name="salesforce",
    target_object=TargetObject.LEAD,
    kind="leads",
    properties={
        "email": "Email",
        "first_name": "FirstName",
        "last_name": "LastName",
        "company": "Company",
        "title": "Title",
        "owner": "OwnerId",
        "lead_status": "Status",
        "disqualification_reason": "Disqualification_Reason__c",
    },
    external_id=EXTERNAL_ID,
    marker=MARKER,
    required=("company",),
    person="005xx000001Sv6BAAS",
    owner="005xx000001Sv6CAAS",
    other_owner="00Gxx000000Qu1BEAS",
    inactive_owner="005xx000001Sv6DAAS",
    status="Working - Contacted",
    other_status="Closed - Not Converted",
    unusable={"disqualification_reason": "no such reason"},
    missing_id="00Qxx0000zzzzzzEAA",
    rate_limited=AnswerClass.REFUSES_US,
    refusals=2,
    silent_updates=True,
    precondition=True,
    rewriter="automation:",
    refuses_unsent=True,
    standing=_standing,
    adapter=_adapter,
)
