"""What the doctor says of who plans."""

from __future__ import annotations

import pytest

from tests.workers.clinic import Clinic, found, said
from workers.doctor import planner
from workers.doctor.report import Report, State


async def examined(clinic: Clinic, model: str | None = None, *, key: str | None = "a-key-of-the-tests") -> Report:
    if model is not None:
        claude = f'planner = "claude"\n\n[claude]\nmodel = "{model}"\n'
        clinic.write_policy(**{'planner = "rules"\n': claude})
    report = Report()
    await planner.examine(clinic.settings(anthropic_api_key=key), clinic.policy(), report)
    return report


async def test_rules_need_nobody(clinic: Clinic) -> None:
    assert found(await examined(clinic, key=None), "planner").state is State.OK
    report = Report()
    await planner.examine(clinic.settings(), None, report)
    assert found(report, "planner").state is State.SKIPPED


@pytest.mark.parametrize(
    ("model", "state", "says"),
    [
        ("claude-haiku-5-5", State.OK, "the key is accepted"),
        ("claude-nobody-1", State.WRONG, "no model claude-nobody-1"),
        ("claude-sonnet-4-5-20250929", State.WARN, "is deprecated and ends on 2026-11-30"),
    ],
)
async def test_a_model_has_to_be_there(clinic: Clinic, model: str, state: State, says: str) -> None:
    finding = found(await examined(clinic, model), "planner")
    assert finding.state is state
    assert says in finding.says


async def test_a_key_that_is_missing_or_not_accepted(clinic: Clinic) -> None:
    state, text = said(found(await examined(clinic, "claude-haiku-5-5", key=None), "planner"))
    assert (state, "LEADPROOF_ANTHROPIC_API_KEY" in text) == (State.WRONG, True)
    clinic.write_policy()
    fault = {"provider": "anthropic", "operation": "models.retrieve", "kind": "reject_auth", "times": 1}
    clinic.control.post("/faults", fault)
    state, text = said(found(await examined(clinic, "claude-haiku-5-5", key="s3cret"), "planner"))
    assert state is State.WRONG
    assert "not accepted" in text
    assert "s3cret" not in text
