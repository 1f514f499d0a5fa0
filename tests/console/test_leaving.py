import errno
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from temporalio.service import RPCError, RPCStatusCode

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
from starter.start import TemporalUnavailable
from tests.console.commands import environment, run, run_here


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


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            RPCError("Namespace nope is\nnot found.", RPCStatusCode.NOT_FOUND, b""),
            "Temporal does not have what was asked for (Namespace nope is not found); see LEADPROOF_TEMPORAL_NAMESPACE",
        ),
        (
            RPCError("Request unauthorized.", RPCStatusCode.PERMISSION_DENIED, b""),
            "Temporal refuses our credentials (Request unauthorized); see LEADPROOF_TEMPORAL_API_KEY",
        ),
        (
            RPCError("tcp connect error", RPCStatusCode.UNAVAILABLE, b""),
            "Temporal did not do what was asked (UNAVAILABLE: tcp connect error); see LEADPROOF_TEMPORAL_ADDRESS",
        ),
        (TemporalUnavailable("Temporal did not answer within 2 s"), "Temporal did not answer within 2 s"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/srv/data"),
            "/srv/data cannot be used: Permission denied",
        ),
    ],
)
def test_what_a_library_says_is_one_sentence_too(
    error: Exception, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left, leaving.leaving():
        raise error
    assert left.value.code == 2
    assert capsys.readouterr().err == f"leadproof: {says}\n"


@pytest.mark.parametrize("error", [OSError("no file in it"), RuntimeError("ours"), KeyError("ours")])
def test_an_error_that_names_nothing_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), leaving.leaving():
        raise error


@pytest.mark.parametrize(
    ("run", "command", "name", "value", "says"),
    [
        (run_here, "worker", "SWEEP_SECONDS", "1e12", "these settings are wrong: LEADPROOF_SWEEP_SECONDS: "),
        pytest.param(
            run,
            "starter",
            "LEDGER_URL",
            "sqlite:///../leaving.env",
            "the file that LEADPROOF_LEDGER_URL names is no SQLite",
            marks=pytest.mark.stack,
        ),
    ],
)
def test_a_mistake_in_a_setting_is_one_sentence(
    tmp_path: Path, run: Callable[..., CompletedProcess[str]], command: str, name: str, value: str, says: str
) -> None:
    (tmp_path / "leaving.env").write_text("LEADPROOF_TENANT=acme\n" * 100)
    folder = tmp_path / "here"
    folder.mkdir()
    shutil.copy(Path(__file__).parents[2] / "policy.toml", folder)
    ended = run(command, cwd=folder, more={f"LEADPROOF_{name}": value})
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"leadproof: {says}")


def test_a_file_of_settings_that_is_not_utf_8_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("LEADPROOF_TENANT=é".encode("latin-1"))
    ended = run("config", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "leadproof: the file .env is not UTF-8; save it as UTF-8, or remove it\n"


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
