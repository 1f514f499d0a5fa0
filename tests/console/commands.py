"""Runs commands as a person does, in a directory of its own: in a process of its own, or quicker in this one."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from console.cli import app

COMMAND = (sys.executable, "-m", "console")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without settings of ours."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("LEADPROOF_", "TEMPORAL_"))}
    root = Path(__file__).parents[2]
    return {**bare, "PYTHONPATH": str(root), **(more or {})}


def run(
    *arguments: str, cwd: Path, more: Mapping[str, str] | None = None, seconds: float = 30
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(more),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def run_here(*arguments: str, cwd: Path, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """As `run`, in this process: for tests of what a command says, to which it is the same."""
    said, complained = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment(more), clear=True),
        chdir(cwd),
        redirect_stdout(said),
        redirect_stderr(complained),
        ThreadPoolExecutor(1) as alone,  # the session's event loop is this thread's
    ):
        status = alone.submit(_status, arguments).result()
    return subprocess.CompletedProcess(arguments, status, said.getvalue(), complained.getvalue())


def _status(arguments: tuple[str, ...]) -> int:
    try:
        app(list(arguments))
    except SystemExit as left:
        return int(left.code or 0)
    return 0
