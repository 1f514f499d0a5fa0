"""Every case over every CRM: the adapter and its real client, the boundary, a ledger; the sandbox is the witness."""

from __future__ import annotations

import pytest

from tests.conformance.cases import CASES
from tests.conformance.conftest import MakeStage
from tests.conformance.hubspot import HUBSPOT
from tests.conformance.salesforce import SALESFORCE
from tests.conformance.systems import System

SYSTEMS = (HUBSPOT, SALESFORCE)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_case(system: System, case: str, make_stage: MakeStage) -> None:
    CASES[case].play(make_stage(system))
