"""A worker that must not start says why in one sentence."""

from __future__ import annotations

import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.errors import ConfigurationRefused
from leadproof.ledger.schema import upgrade
from tests.console.commands import environment, run_here
from tests.workers.clinic import Clinic
from tests.workers.salesforce_clinic import SalesforceClinic
from workers import lifecycle

NO_NAMESPACE = (
    "Temporal does not have what was asked for (Namespace nope is not found); see LEADPROOF_TEMPORAL_NAMESPACE"
)


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


def test_settings_that_are_wrong_are_a_sentence_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEADPROOF_POLICY", "nowhere.toml")
    with pytest.raises(SystemExit) as left, ThreadPoolExecutor(1) as alone:  # the session's event loop is this thread's
        alone.submit(runpy.run_module, "workers", run_name="__main__").result()
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "leadproof worker: the policy nowhere.toml cannot be read; set LEADPROOF_POLICY to a policy.toml\n"
    )


@pytest.mark.stack
def test_as_a_process_too_it_is_a_sentence_and_no_stack_trace(
    clinic: Clinic, temporal: WorkflowEnvironment, tmp_path: Path
) -> None:
    given = _in_no_namespace(clinic, temporal)
    ended = subprocess.run(
        [sys.executable, "-m", "workers"],
        cwd=tmp_path,
        env=environment(given),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (2, f"leadproof worker: {NO_NAMESPACE}\n")


def test_as_a_command_too(clinic: Clinic, temporal: WorkflowEnvironment, tmp_path: Path) -> None:
    ended = run_here("worker", cwd=tmp_path, more=_in_no_namespace(clinic, temporal))
    assert (ended.returncode, ended.stderr) == (2, f"leadproof: {NO_NAMESPACE}\n")


def _in_no_namespace(clinic: Clinic, temporal: WorkflowEnvironment) -> dict[str, str]:
    address = temporal.client.service_client.config.target_host
    given = clinic.variables(temporal_address=address, temporal_namespace="nope")
    upgrade(given["LEADPROOF_LEDGER_URL"])
    return given
