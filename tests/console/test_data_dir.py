import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.data_dir import DataDir
from console.leaving import CommandRefused
from console.process_identity import identity
from leadproof.domain.errors import ConfigurationRefused


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def left_behind(path: Path, pid: int, known: str) -> None:
    (path / "processes.json").write_text(
        json.dumps({"up": {"pid": 1, "identity": "x"}, "children": [{"name": "worker", "pid": pid, "identity": known}]})
    )


def test_a_directory_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    first = DataDir(tmp_path)
    first.take()
    first.record([])
    with pytest.raises(CommandRefused, match=rf"already runs .*process {os.getpid()}"):
        DataDir(tmp_path).take()
    first.release()
    second = DataDir(tmp_path)
    second.take()
    second.release()


def test_what_a_killed_stack_left_running_is_ended(tmp_path: Path, stranger: subprocess.Popen[bytes]) -> None:
    left_behind(tmp_path, stranger.pid, identity(stranger.pid) or "")
    data_dir = DataDir(tmp_path)
    data_dir.take()
    assert stranger.wait(5) < 0
    data_dir.release()


def test_a_later_process_under_the_same_number_is_left_alone(tmp_path: Path, stranger: subprocess.Popen[bytes]) -> None:
    left_behind(tmp_path, stranger.pid, "another boot:12345")
    data_dir = DataDir(tmp_path)
    data_dir.take()
    assert stranger.poll() is None
    data_dir.release()


def test_secrets_are_made_up_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    made = DataDir(tmp_path).kept_secret("hubspot")
    assert len(made) >= 32
    assert DataDir(tmp_path).kept_secret("hubspot") == made
    assert DataDir(tmp_path).kept_secret("api_token") != made
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_variables_are_read_back_by_a_shell(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    data_dir.write_variables(
        {"LEADPROOF_STANDARD_SECRETS": "website=whsec_a b;'c'", "LEADPROOF_TENANT": "acme"}, ["a remark; $(exit 3)"]
    )
    read = subprocess.run(
        ["/bin/sh", "-c", f'. {data_dir.variables}; printf %s "$LEADPROOF_STANDARD_SECRETS"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stdout == "website=whsec_a b;'c'"


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationRefused, match="--data-dir"):
        DataDir(tmp_path / "file" / "below").take()


def test_an_emptied_directory_keeps_its_secrets(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    made = data_dir.kept_secret("hubspot")
    for name in ("ledger.db", "ledger.db-wal", "temporal.db"):
        (tmp_path / name).touch()
    data_dir.empty()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secrets.json"]
    assert data_dir.kept_secret("hubspot") == made
