"""The wheel holds what runs: built, installed elsewhere and run from there."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[1]
PACKAGES = ("leadproof", "activities", "workflows", "workers", "starter", "console", "sandbox")


def files_of(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:  # a copy: building leaves its own directories in the tree
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    ran(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built), str(source), cwd=source)
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index")
    ran(*pip, "--no-compile", "--target", str(target), str(wheel), cwd=target)
    return target


def ran(*command: str, cwd: Path, more: dict[str, str] | None = None) -> str:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LEADPROOF_")}
    ended = subprocess.run(
        command, cwd=cwd, env={**bare, **(more or {})}, capture_output=True, text=True, timeout=50, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert files_of(ROOT) - held == set()
    for needed in (
        "leadproof/default_policy.toml",
        "leadproof/embedded_policy.toml",
        "leadproof/ledger/migrations/script.py.mako",
        "console/deliveries/contact-creation.json",
        "sandbox/seed/hubspot.json",
    ):
        assert needed in held


def test_the_command_runs_where_only_the_wheel_is(installed: Path, tmp_path: Path) -> None:
    here = {"PYTHONPATH": str(installed), "LEADPROOF_LEDGER_URL": f"sqlite:///{tmp_path}/ledger.db"}
    command = (sys.executable, str(installed / "bin" / "leadproof"))
    assert "LEADPROOF_TENANT" in ran(*command, "config", cwd=tmp_path, more=here)
    upgrade = "import console.cli as cli; print(cli.__file__, flush=True); cli.app(['ledger', 'upgrade'])"
    where = ran(sys.executable, "-c", upgrade, cwd=tmp_path, more=here).splitlines()[0]
    assert Path(where).is_relative_to(installed)
    assert (tmp_path / "ledger.db").stat().st_size > 0
