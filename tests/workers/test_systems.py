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

COMPOSES = """\
import json, sys
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import load
from workers.compose import check_targets, compose, crms_of
given = {"HUBSPOT_TOKEN": "a", "SALESFORCE_URL": "http://127.0.0.1:1", "SALESFORCE_CLIENT_ID": "b",
         "SALESFORCE_CLIENT_SECRET": "c"}
settings = load({f"LEADPROOF_{name}": value for name, value in given.items()}, dotenv=None)
def libraries():
    return [name for name in ("hubspot", "simple_salesforce", "zeep") if name in sys.modules]
loaded = [libraries()]
for text in json.load(sys.stdin):
    loaded.append([*crms_of(settings, parse_policy(text)), *libraries()])
print(json.dumps(loaded))
"""


@pytest.mark.stack
def test_a_worker_loads_the_libraries_of_the_crms_that_its_policy_names_and_no_others() -> None:
    policies = json.dumps([POLICY, SALESFORCE_POLICY]).encode()
    done = subprocess.run([sys.executable, "-c", COMPOSES], input=policies, check=True, capture_output=True)
    assert json.loads(done.stdout) == [
        [],
        ["hubspot", "hubspot"],
        ["salesforce", "hubspot", "simple_salesforce", "zeep"],
    ]


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
