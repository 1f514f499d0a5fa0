import subprocess
import sys
from pathlib import Path

import pytest

from console import leaving
from console.leaving import CommandRefused
from leadproof.domain.errors import (
    ConfigurationRefused,
    IllegalTransition,
    LeadproofError,
    LedgerOutdated,
    LedgerUnavailable,
    NotFound,
    PolicyRefused,
)
from tests.console.commands import environment, run


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigurationRefused("it is wrong"), 2),
        (PolicyRefused("it is wrong", 3), 2),
        (LedgerOutdated("it is old"), 2),
        (LedgerUnavailable("it is away"), 2),
        (CommandRefused("no"), 1),
        (NotFound("nothing"), 1),
    ],
)
def test_what_people_can_set_right_is_one_sentence(
    error: LeadproofError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left, leaving.leaving():
        raise error
    assert left.value.code == status
    assert capsys.readouterr().err == f"leadproof: {error}\n"


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    with pytest.raises(IllegalTransition), leaving.leaving():
        raise IllegalTransition("never")


def test_an_unknown_setting_ends_a_command_with_a_sentence(tmp_path: Path) -> None:
    ended = run("config", cwd=tmp_path, more={"LEADPROOF_TENNANT": "acme"})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("leadproof: these variables are unknown: LEADPROOF_TENNANT")
    assert "Traceback" not in ended.stderr


def test_help_imports_none_of_the_heavy_libraries() -> None:
    heavy = ("temporalio", "sqlmodel", "sqlalchemy", "fastapi", "anthropic", "hubspot", "httpx", "pydantic")
    code = f"import console.cli, sys; print([name for name in {heavy!r} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=30, check=True
    )
    assert ended.stdout == "[]\n"
