"""Telling a process from a later one that was given the same number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def identity(pid: int) -> str | None:
    """Boot and start time of a running process; `None` where none runs under this number."""
    if sys.platform == "linux":
        return _linux(pid)
    # `ps` is where POSIX says; the start time in full is what tells two processes apart
    answer = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or None


def runs(pid: int, known: str) -> bool:
    """Whether the very process that `known` was read from still runs."""
    return identity(pid) == known


def _linux(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] in {"Z", "X"}:
        return None
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()}:{fields[19]}"


def our_own() -> str:
    return identity(os.getpid()) or ""
