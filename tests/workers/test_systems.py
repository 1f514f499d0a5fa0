"""Which client libraries a composition loads, and which policies it refuses before it opens anything."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings
from tests.domain.samples import POLICY, policy
from tests.workers.salesforce_clinic import POLICY as SALESFORCE_POLICY
from workers.compose import crms_of, our_field

LIBRARIES = ("hubspot", "simple_salesforce", "zeep")
COMPOSES = """\
import json, sys
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import load
from workers.compose import check_targets, compose, crms_of
text = sys.stdin.read()
given = {"HUBSPOT_TOKEN": "a", "SALESFORCE_URL": "http://127.0.0.1:1", "SALESFORCE_CLIENT_ID": "b",
         "SALESFORCE_CLIENT_SECRET": "c"}
settings = load({f"LEADPROOF_{name}": value for name, value in given.items()}, dotenv=None)
loaded = [sorted(sys.modules)]
crms = crms_of(settings, parse_policy(text))
print(json.dumps([sorted(crms), *([name for name in LIBRARIES if name in some] for some in (*loaded, sys.modules))]))
"""


def composed(text: str) -> list[list[str]]:
    """Of a worker with this policy: its CRMs, and the libraries that were loaded before and after they were made."""
    code = f"LIBRARIES = {LIBRARIES!r}\n{COMPOSES}"
    done = subprocess.run([sys.executable, "-c", code], input=text.encode(), check=True, capture_output=True)
    told: list[list[str]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(
    ("text", "crm", "libraries"),
    [(POLICY, "hubspot", ["hubspot"]), (SALESFORCE_POLICY, "salesforce", ["simple_salesforce", "zeep"])],
)
def test_a_worker_loads_the_library_of_the_crm_that_its_policy_names_and_no_other(
    text: str, crm: str, libraries: list[str]
) -> None:
    assert composed(text) == [[crm], [], libraries]


def test_a_target_without_an_adapter_is_refused() -> None:
    text = SALESFORCE_POLICY.replace("salesforce", "pipedrive")
    with pytest.raises(ConfigurationRefused, match=r"^the policy has the target pipedrive, and there is an adapter"):
        crms_of(Settings(), parse_policy(text))


def test_a_field_is_called_as_the_policy_of_the_system_has_it() -> None:
    salesforce = parse_policy(
        SALESFORCE_POLICY.replace(
            "[owners.salesforce]",
            '[target.salesforce.fields.website]\nproperty = "Site__c"\n\n[owners.salesforce]',
        )
    )
    assert our_field("salesforce", "status", salesforce) == "lead_status"
    assert our_field("salesforce", "MailingCountryCode", salesforce) == "country"
    assert [our_field("salesforce", name, salesforce) for name in ("Site__c", "Website", "Other")] == [
        "website",
        None,
        None,
    ]
    assert our_field("salesforce", "Status", policy()) is None
    assert our_field("hubspot", "hs_lead_status", policy()) == "lead_status"
    assert our_field("website", "any", policy()) is None
