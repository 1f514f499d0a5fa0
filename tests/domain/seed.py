"""What the local HubSpot and Salesforce say of themselves when they hold only their seeds, without a server."""

from __future__ import annotations

import json
from pathlib import Path

from leadproof.crm.salesforce_fields import SalesforceFields
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.records import Description, FieldDescription, OwnerDescription

SEEDS = Path(__file__).parents[2] / "sandbox" / "seed"
SEED = SEEDS / "hubspot.json"
PROPERTIES = {
    "first_name": "firstname",
    "last_name": "lastname",
    "title": "jobtitle",
    "region": "state",
    "owner": "hubspot_owner_id",
    "lifecycle_stage": "lifecyclestage",
    "lead_status": "hs_lead_status",
}


def described_seed(policy: Policy) -> Description:
    """The seed's account, owners, and those properties that the policy's actions name."""
    seed = json.loads(SEED.read_text(encoding="utf-8"))
    properties = {one["name"]: one for one in seed["properties"]}
    further = {name: field.property for name, field in policy.targets["hubspot"].fields.items()}
    names = {name for permission in policy.actions for name in (*permission.fields, *permission.compare_also)}
    found = {name: properties.get({**PROPERTIES, **further}.get(name, name)) for name in names}
    return Description(
        system="hubspot",
        account=str(seed["portal"]["portalId"]),
        owners=tuple(
            OwnerDescription(owner_id=one["id"], active=not one.get("archived", False)) for one in seed["owners"]
        ),
        fields={
            name: FieldDescription(
                name=one["name"],
                options=tuple(option["value"] for option in one.get("options", ())),
                writable=not one.get("readOnlyValue", False),
            )
            for name, one in found.items()
            if one is not None
        },
    )


def described_org(policy: Policy) -> Description:
    """The seed's organization, users, queues, and the fields of a lead."""
    seed = json.loads((SEEDS / "salesforce.json").read_text(encoding="utf-8"))
    target = policy.targets.get("salesforce")
    names = SalesforceFields(target.fields if target is not None else None).by_name(TargetObject.LEAD)
    (lead,) = (one for one in seed["objects"] if one["name"] == "Lead")
    fields = {one["name"]: one for one in lead["fields"]}
    people = (OwnerDescription(owner_id=one["Id"], active=one["IsActive"]) for one in seed["users"])
    queues = (OwnerDescription(owner_id=one["Id"], active=True, queue=True) for one in seed["queues"])
    return Description(
        system="salesforce",
        account=seed["organization"]["Id"],
        target_object=TargetObject.LEAD,
        owners=(*people, *queues),
        fields={
            name: FieldDescription(
                name=theirs,
                options=tuple(
                    option["value"] if isinstance(option, dict) else option
                    for option in fields[theirs].get("options", ())
                ),
                writable=not fields[theirs].get("read_only", False),
            )
            for name, theirs in names.items()
            if theirs in fields
        },
        names=names,
    )
