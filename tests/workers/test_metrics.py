"""What a worker tells Prometheus of its targets' calls."""

from __future__ import annotations

import socket
from dataclasses import dataclass

import httpx
import pytest

from leadproof.crm.salesforce_budget import Budget, Pace
from leadproof.domain.errors import ConfigurationRefused
from tests.workers.clinic import Clinic
from tests.workers.salesforce_clinic import SalesforceClinic
from workers.compose import crms_of
from workers.metrics import serving


@dataclass
class Adapter:
    pace: Pace

    def budget(self) -> Budget:
        return self.pace.budget()


def told(port: int | None) -> dict[str, float]:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    lines = [line for line in text.splitlines() if line.startswith("leadproof_target")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_the_calls_of_a_target_are_those_that_its_latest_answer_told() -> None:
    pace = Pace()
    with serving("127.0.0.1:0", {"salesforce": Adapter(pace), "hubspot": object()}) as port:
        assert told(port) == {'leadproof_target_calls_held_total{target="salesforce"}': 0}
        pace.heard({"Sforce-Limit-Info": "api-usage=4990/5000"})
        assert pace.turn(0)[0]
        assert not pace.turn(0)[0]
        assert told(port) == {
            'leadproof_target_calls_used{target="salesforce"}': 4990,
            'leadproof_target_calls_limit{target="salesforce"}': 5000,
            'leadproof_target_calls_held_total{target="salesforce"}': 1,
        }


def test_a_workers_salesforce_counts_the_calls_of_its_org(clinic: Clinic, address: str) -> None:
    org = SalesforceClinic(clinic, address)
    org.control.post("/salesforce", {"daily_limit": 5000, "daily_used": 100})
    crms = crms_of(clinic.settings(), clinic.policy())
    with serving("127.0.0.1:0", crms) as port:
        crms["salesforce"].describe("lead")
        calls = told(port)
    asked = [row for row in org.requests() if row["operation"] != "token.create"]
    assert calls['leadproof_target_calls_used{target="salesforce"}'] == 100 + len(asked)
    assert calls['leadproof_target_calls_limit{target="salesforce"}'] == 5000


def test_without_an_address_nothing_is_served() -> None:
    with serving(None, {}) as port:
        assert port is None


def test_an_address_that_is_taken_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigurationRefused) as refused, serving(address, {}):
            pass
    assert str(refused.value) == (
        f"the worker's metrics cannot be served at {address} (Address already in use); "
        "set LEADPROOF_WORKER_METRICS to a free one"
    )
