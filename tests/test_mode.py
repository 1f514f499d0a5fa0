"""Live or shadow: what a deployment says of itself, and what follows for its names."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings, check_mode, load
from starter import serve
from workers import lifecycle
from workflows import contract


@pytest.mark.parametrize(("mode", "environment"), [("live", "production"), ("shadow", "production-shadow")])
def test_a_mode_with_an_environment_of_its_own_is_taken(mode: str, environment: str) -> None:
    check_mode(load({"LEADPROOF_MODE": mode, "LEADPROOF_ENVIRONMENT": environment}, dotenv=None))


@pytest.mark.parametrize(
    ("mode", "environment", "says"),
    [
        ("shadow", "production", "such as production-shadow"),
        ("live", "production-shadow", "set LEADPROOF_MODE=shadow"),
    ],
)
async def test_no_process_starts_in_a_mode_that_its_environment_denies(mode: str, environment: str, says: str) -> None:
    settings = load({"LEADPROOF_MODE": mode, "LEADPROOF_ENVIRONMENT": environment}, dotenv=None)
    for start in (lifecycle.run, serve.serve):
        with pytest.raises(ConfigurationRefused, match=says):
            await start(settings)


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationRefused, match="LEADPROOF_MODE"):
        load({"LEADPROOF_MODE": "dry-run"}, dotenv=None)


def test_live_is_what_holds_unless_it_is_said() -> None:
    check_mode(Settings())


def test_shadow_mode_has_a_queue_and_a_sweep_of_its_own() -> None:
    names = (contract.queue_of, contract.sweep_schedule_of, contract.sweep_id_of)
    assert [name("dev") for name in names] == ["leads", "leadproof-sweep", "leadproof-sweep-run"]
    assert [name("dev-shadow") for name in names] == [
        "leads-shadow",
        "leadproof-sweep-shadow",
        "leadproof-sweep-run-shadow",
    ]
