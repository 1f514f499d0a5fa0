"""A worker that must not start says why in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from tests.workers.clinic import Clinic
from tests.workers.salesforce_clinic import SalesforceClinic
from workers import lifecycle

MISSING = "HubSpot has no contact property our_own; `leadproof doctor --create` makes it"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (
            "hubspot_external_id_property",
            "HubSpot has no contact property our_own; `leadproof doctor --create` makes it",
        ),
        ("hubspot_marker_property", "HubSpot has no contact property our_own; `leadproof doctor --create` makes it"),
        ("hubspot_portal_id", "the HubSpot token opens account 62515, LEADPROOF_HUBSPOT_PORTAL_ID names 99"),
    ],
)
async def test_what_hubspot_does_not_have_stops_a_worker(
    clinic: Clinic, temporal: WorkflowEnvironment, setting: str, says: str
) -> None:
    address = temporal.client.service_client.config.target_host
    given = "99" if setting == "hubspot_portal_id" else "our_own"
    settings = clinic.settings(temporal_address=address, **{setting: given})
    upgrade(settings.ledger_url)
    with pytest.raises(ConfigurationRefused) as refused:
        await lifecycle.run(settings)
    assert str(refused.value) == says


@pytest.mark.parametrize(
    ("setting", "given", "says"),
    [
        (
            "salesforce_marker_field",
            "Our_Own__c",
            "Salesforce has no lead field Our_Own__c; `leadproof doctor` says what it has to be and where it is made",
        ),
        (
            "salesforce_org_id",
            "00Dxx0000001gPMEAY",
            "the Salesforce token opens organization 00Dxx0000001gPLEAY, LEADPROOF_SALESFORCE_ORG_ID names "
            "00Dxx0000001gPMEAY",
        ),
    ],
)
async def test_what_salesforce_does_not_have_stops_a_worker(
    clinic: Clinic, address: str, temporal: WorkflowEnvironment, setting: str, given: str, says: str
) -> None:
    SalesforceClinic(clinic, address)
    target = temporal.client.service_client.config.target_host
    settings = clinic.settings(temporal_address=target, **{setting: given})
    upgrade(settings.ledger_url)
    with pytest.raises(ConfigurationRefused) as refused:
        await lifecycle.run(settings)
    assert str(refused.value) == says


def test_as_a_process_too_it_is_a_sentence_and_no_stack_trace(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LEADPROOF_")}
    given = {**bare, "LEADPROOF_POLICY": "nowhere.toml", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-m", "workers"],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "leadproof worker: the policy nowhere.toml cannot be read; set LEADPROOF_POLICY to a policy.toml\n"
    )


@pytest.mark.parametrize("command", [["workers"], ["console", "worker"]])
def test_a_namespace_that_temporal_does_not_have_is_a_sentence(
    clinic: Clinic, temporal: WorkflowEnvironment, command: list[str], tmp_path: Path
) -> None:
    address = temporal.client.service_client.config.target_host
    given = clinic.variables(temporal_address=address, temporal_namespace="nope")
    upgrade(given["LEADPROOF_LEDGER_URL"])
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LEADPROOF_")}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tmp_path,
        env={**bare, **given, "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith(
        ": Temporal does not have what was asked for (Namespace nope is not found); see LEADPROOF_TEMPORAL_NAMESPACE\n"
    )
