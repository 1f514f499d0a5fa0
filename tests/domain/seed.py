"""What the local HubSpot says of itself when it holds only its seed, for a policy without a server."""

from __future__ import annotations

import json
from pathlib import Path

from leadproof.domain.policy import Policy
from leadproof.domain.records import Description, FieldDescription, OwnerDescription

SEED = Path(__file__).parents[2] / "sandbox" / "seed" / "hubspot.json"
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
