"""Runs commands as a person does: in a process of its own, in a directory of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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
