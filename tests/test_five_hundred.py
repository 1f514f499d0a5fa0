"""Many leads at once, each delivered three times in random order, through the processes of a deployment.

`make test` takes fewer leads; the whole number: `SCALE_LEADS=500 python -m pytest tests/test_five_hundred.py`, and
`make bench`, which reports what was counted.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.five_hundred import in_a_deployment_of_their_own

LEADS = int(os.environ.get("SCALE_LEADS", "40"))


@pytest.mark.timeout(300)  # five processes, beside whatever else the machine does
async def test_each_lead_has_one_run_one_plan_and_one_effect(tmp_path: Path) -> None:
    counts = await in_a_deployment_of_their_own(tmp_path, LEADS)
    assert counts.wrong() == []
