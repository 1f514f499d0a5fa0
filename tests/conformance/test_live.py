"""The live suite, with a sandbox in the place of the real systems; its control plane is the witness."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from sandbox.server import running
from tests.conformance.cases import CASES, Case
from tests.conformance.clocks import Skipping
from tests.conformance.live.__main__ import run
from tests.conformance.live.behaviours import behaviour_of, behaviours
from tests.conformance.live.running import KINDS
from tests.conformance.stage import Stage
from tests.sandbox.control import Control

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[2]
TOKEN = "token-that-no-report-may-hold"
SOMEBODY = {"LastName": "Somebody", "Company": "Else", "Email": "x@example.org"}


class Real(NamedTuple):
    """A sandbox that is taken for a real account."""

    address: str
    control: Control
    name: str = "hubspot"
    account: str = "62515"
    kind: str = "contacts"

    @property
    def environment(self) -> dict[str, str]:
        if self.name == "salesforce":
            return {
                "LEADPROOF_LIVE": f"{self.name}:{self.account}",
                "LEADPROOF_SALESFORCE_URL": self.address,
                "LEADPROOF_SALESFORCE_CLIENT_ID": "leadproof",
                "LEADPROOF_SALESFORCE_CLIENT_SECRET": TOKEN,
            }
        return {
            "LEADPROOF_LIVE": f"{self.name}:{self.account}",
            "LEADPROOF_HUBSPOT_TOKEN": TOKEN,
            "LEADPROOF_HUBSPOT_BASE_URL": f"{self.address}/hubspot",
            "LEADPROOF_HUBSPOT_APP_ID": "54321",
        }

    @property
    def clock(self) -> Skipping:
        return Skipping(self.control.advance)

    def somebody(self) -> str:
        """A record that is none of ours; its id."""
        given = {"hubspot": {"email": "x@example.org", "firstname": "Somebody"}, "salesforce": SOMEBODY}[self.name]
        asked = {"provider": self.name, "object": self.kind, "user": "", "properties": given}
        return str(self.control.put("/records", asked)["id"])

    def records(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control.get("/records", provider=self.name, object=self.kind)
        return rows

    def there(self) -> list[str]:
        """Records that nobody took away."""
        return [row["id"] for row in self.records() if not row["archived"] and not row["mergedInto"]]

    def writes(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control.get("/requests", provider=self.name)
        return [row for row in rows if row["applied"]]


@pytest.fixture(scope="module")
def _sandbox() -> Iterator[Real]:
    with running() as address, httpx.Client(base_url=address, trust_env=False) as browser:
        yield Real(address, Control(browser))


@pytest.fixture
def real(_sandbox: Real) -> Real:
    _sandbox.control.post("/reset")
    return _sandbox


@pytest.fixture(params=["hubspot", "salesforce"])
def each(real: Real, request: pytest.FixtureRequest) -> Real:
    if request.param == "hubspot":
        return real
    return real._replace(name="salesforce", account="00Dxx0000001gPL", kind="leads")


def reported(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("*.json")
    system: dict[str, Any] = json.loads(path.read_text("utf-8"))["systems"][0]
    return system


def differing(folder: Path) -> dict[str, list[dict[str, Any]]]:
    rows = reported(folder)["behaviours"]
    return {row["behaviour"]: row["differences"] for row in rows if row["verdict"] == "differed"}


def test_without_consent_nothing_is_tried(real: Real, tmp_path: Path) -> None:
    status, said = run(real.environment | {"LEADPROOF_LIVE": ""}, tmp_path)
    assert (status, len(said)) == (0, 1)
    assert "nothing was tried" in said[0]
    assert real.control.get("/requests") == []
    assert list(tmp_path.iterdir()) == []


def test_without_consent_make_ends_before_it_installs_anything(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    ended = subprocess.run(
        ["make", "live"], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("nothing was tried")
    assert ended.stdout.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


@pytest.mark.parametrize(
    ("consent", "why"),
    [
        ("hubspot", "has to name the account"),
        ("hubspot:", "has to name the account"),
        ("pipedrive:1", "names 'pipedrive'"),
        ("hubspot:62515,hubspot:62515", "names hubspot twice"),
        ("hubspot:62516", "names HubSpot account 62516 and the credentials open 62515"),
        ("salesforce:62515", "names no organization of Salesforce"),
    ],
)
def test_an_account_that_was_not_named_is_never_written_to(real: Real, tmp_path: Path, consent: str, why: str) -> None:
    status, said = run(real.environment | {"LEADPROOF_LIVE": consent}, tmp_path)
    assert status == 2
    assert len(said) == 1
    assert why in said[0]
    assert real.writes() == []


def test_an_org_that_was_not_named_is_never_written_to(real: Real, tmp_path: Path) -> None:
    org = real._replace(name="salesforce", account="00Dxx0000001gPM", kind="leads")
    status, said = run(org.environment, tmp_path)
    assert (status, len(said)) == (2, 1)
    assert "names Salesforce account 00Dxx0000001gPMEAY and the credentials open 00Dxx0000001gPLEAY" in said[0]
    assert org.writes() == []


def test_credentials_that_are_refused_are_told_so(real: Real, tmp_path: Path) -> None:
    real.control.fault("reject_auth", "account.read")
    status, said = run(real.environment, tmp_path)
    assert (status, said) == (2, ["HubSpot answers 401 to the access token; nothing was written"])
    status, said = run({"LEADPROOF_LIVE": "hubspot:62515"}, tmp_path)
    assert (status, said) == (2, ["HubSpot has no access token; set LEADPROOF_HUBSPOT_TOKEN"])


def leaves_nothing(real: Real, folder: Path, standing: str, said: list[str]) -> None:
    """All of a run's records are gone and nobody else's, and nothing personal and no secret is told."""
    assert real.there() == [standing]
    assert reported(folder)["removal"]["removed"] > 20
    assert reported(folder)["removal"]["left"] == []
    texts = [path.read_text("utf-8") for path in folder.iterdir()] + said
    assert not any(hidden in text for text in texts for hidden in (TOKEN, "@", "Somebody", "Reyes"))


@pytest.mark.parametrize("setting", ["HUBSPOT_MARKER_PROPERTY", "SALESFORCE_EXTERNAL_ID_FIELD"])
def test_an_account_without_our_fields_is_not_written_to(real: Real, tmp_path: Path, setting: str) -> None:
    named = real if setting.startswith("HUBSPOT") else real._replace(name="salesforce", account="00Dxx0000001gPL")
    status, said = run(named.environment | {f"LEADPROOF_{setting}": "not_made__c"}, tmp_path)
    assert (status, len(said)) == (2, 1)
    assert "leadproof doctor" in said[0]
    assert named.writes() == []


def test_the_cases_hold_on_a_real_account_and_nothing_is_left_of_them(each: Real, tmp_path: Path) -> None:
    standing = each.somebody()
    status, said = run(each.environment, tmp_path, clock=each.clock, only=[*CASES])
    found = reported(tmp_path)["cases"]
    assert [case for case in found if case["result"] == "failed"] == []
    assert status == 0
    results = {case["case"]: case["result"] for case in found}
    beyond = {"salesforce": {"a_record_that_was_merged_away_is_a_persons_question"}}.get(each.name, set())
    assert results == {name: "not tried" if case.faults or name in beyond else "held" for name, case in CASES.items()}
    leaves_nothing(each, tmp_path, standing, said)


def test_the_sandbox_agrees_with_itself_and_nothing_is_left_of_it(each: Real, tmp_path: Path) -> None:
    standing = each.somebody()
    status, said = run(each.environment, tmp_path, clock=each.clock, cases={})
    found = reported(tmp_path)
    assert differing(tmp_path) == {}
    assert status == 0
    verdicts = [row["verdict"] for row in found["behaviours"]]
    assert verdicts.count("agreed") == len(KINDS[each.name].probes)
    assert len(verdicts) == len(behaviours(each.name))
    assert all(row["why"] for row in found["behaviours"] if row["verdict"] == "not tried")
    leaves_nothing(each, tmp_path, standing, said)


def test_what_the_real_system_does_otherwise_is_told(real: Real, tmp_path: Path) -> None:
    # an account in which automation fills what is emptied
    real.control.fault("rewrite", after=1, args={"fields": {"jobtitle": "Head of everything"}})
    status, _ = run(real.environment, tmp_path, clock=real.clock, only=["a cleared value is"])
    assert status == 0
    (differences,) = differing(tmp_path).values()
    assert [(one["what"], one["sandbox"]) for one in differences] == [("a cleared value", "")]
    (page,) = tmp_path.glob("*.md")
    assert "differed" in page.read_text("utf-8")
    assert real.there() == []


def test_a_status_that_is_another_one_is_told(real: Real, tmp_path: Path) -> None:
    real.control.fault("status", "contacts.read", after=1, args={"status": 410})
    run(real.environment, tmp_path, clock=real.clock, only=["archived: 404"])
    (differences,) = differing(tmp_path).values()
    assert differences[0] == {"what": "status of a read of archived ones", "sandbox": 200, "real": 410}


def test_a_case_that_does_not_hold_is_told_by_its_line(real: Real, tmp_path: Path) -> None:
    real.control.fault("rewrite", after=1, args={"fields": {"hs_lead_status": "CONNECTED"}})
    status, said = run(real.environment, tmp_path, clock=real.clock, only=["an_update_is_made_and_read_back"])
    assert status == 1
    (case,) = reported(tmp_path)["cases"]
    assert case["result"] == "failed"
    assert case["why"].startswith("it does not hold that: assert (mutation.status, mutation.reason)")
    assert "1 failed" in said[0]
    assert real.there() == []


def test_a_run_that_is_interrupted_leaves_nothing(real: Real, tmp_path: Path) -> None:
    def interrupted(stage: Stage) -> None:
        stage.create()
        stage.attempt()
        stage.person(email=stage.address())
        assert len(real.there()) == 2
        raise KeyboardInterrupt

    status, said = run(real.environment, tmp_path, clock=real.clock, cases={"interrupted": Case(interrupted, False)})
    assert status == 130
    assert "2 records removed, 0 left" in said[0]
    assert real.there() == []
    assert "Incomplete" in next(tmp_path.glob("*.md")).read_text("utf-8")


class InterruptedWhileWaiting(Skipping):
    """Somebody presses Ctrl-C whenever there is something to wait for."""

    def wait(self, seconds: float) -> None:
        raise KeyboardInterrupt


def test_a_run_that_is_interrupted_while_it_cleans_up_lists_the_rest(real: Real, tmp_path: Path) -> None:
    def two(stage: Stage) -> None:
        for _ in range(2):
            stage.person(email=stage.address())

    real.control.fault("rate_limit", "contacts.archive")
    clock = InterruptedWhileWaiting(real.control.advance)
    status, said = run(real.environment, tmp_path, clock=clock, cases={"two": Case(two, False)}, only=["two"])
    assert status == 1
    assert [line.rpartition(": ")[2] for line in said[2:]] == ["interrupted again"] * 2
    assert [line.split(": ")[1] for line in said[2:]] == real.there()


def test_a_record_whose_making_was_not_answered_is_removed(real: Real, tmp_path: Path) -> None:
    real.control.fault("drop_after_apply")
    status, _ = run(real.environment, tmp_path, clock=real.clock, only=["a cleared value is"])
    assert status == 0
    assert [row["archived"] for row in real.records()] == [True]
    (tried,) = [row for row in reported(tmp_path)["behaviours"] if row["behaviour"].startswith("a cleared value")]
    assert tried["verdict"] == "not tried"
    assert "broke off" in tried["why"]


def test_what_cannot_be_removed_is_listed(real: Real, tmp_path: Path) -> None:
    real.control.fault("status", "contacts.archive", times=1000, args={"status": 403})
    status, said = run(real.environment, tmp_path, clock=real.clock, only=["a cleared value is"])
    assert status == 1
    (left,) = real.there()
    assert said[-1] == f"left behind in HubSpot: {left}: the deletion was answered 403"
    assert reported(tmp_path)["removal"]["left"] == [f"{left}: the deletion was answered 403"]


@pytest.mark.parametrize("name", KINDS)
def test_every_behaviour_is_tried_or_says_why_not(name: str) -> None:
    kind = KINDS[name]
    named = [probe.behaviour for probe in kind.probes] + list(kind.untried)
    assert sorted(behaviour_of(beginning, name).text for beginning in named) == sorted(
        row.text for row in behaviours(name)
    )
