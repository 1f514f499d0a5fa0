"""What importing the workflow adds, and how large a worker process is."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.deployment import ROOT, environment
from bench.report import Goal, Section
from bench.samples import median_of
from bench.stage import Stage, all_done
from bench.throughput import through

_TIMES = 5
_SECONDS, _MEGABYTES, _WORKER_MEGABYTES = 0.15, 10.0, 200.0
_LEADS, _AT_ONCE = 100, 20

_TEMPORAL = "import temporalio.workflow, temporalio.activity, temporalio.contrib.pydantic"
_OURS = f"{_TEMPORAL}\nimport workflows.lead"
_PROGRAM = """
import json, os, sys, time
began = time.perf_counter()
{imports}
seconds = time.perf_counter() - began
print(json.dumps([os.getpid(), seconds, len(sys.modules)]), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class _Import:
    seconds: float
    megabytes: float
    modules: int


async def measure(stage: Stage) -> Section:
    """Fresh processes in turns; then the worker, after some leads."""
    temporal, ours = [], []
    for turn in range(_TIMES + 1):
        pair = _imported(_TEMPORAL), _imported(_OURS)
        if turn:  # the first fills the file cache
            temporal.append(pair[0])
            ours.append(pair[1])
    seconds = median_of([one.seconds for one in ours]) - median_of([one.seconds for one in temporal])
    megabytes = median_of([one.megabytes for one in ours]) - median_of([one.megabytes for one in temporal])
    record_ids = stage.house.contacts(_LEADS)
    await through(stage.lead, record_ids, _AT_ONCE)
    all_done(stage.house, record_ids)
    ((done,),) = stage.house.rows("SELECT count(*) FROM lead_event")
    worker = resident(stage.house.worker_pid)

    section = Section("Imports and memory")
    section.say(f"Each import in a fresh process, in turns, the median of {_TIMES}.")
    section.table(
        ("import", "seconds", "MB", "modules"),
        [
            (what, f"{median_of([one.seconds for one in got]):.3f}", _megabytes(got), got[0].modules)
            for what, got in (("`temporalio` workflow, activity, pydantic", temporal), ("and `workflows.lead`", ours))
        ]
        + [("**added**", f"**{seconds:.3f}**", f"**{megabytes:.1f}**", ours[0].modules - temporal[0].modules)],
    )
    section.say(f"A worker process (`leadproof worker`) after {done} leads: **{worker:.0f} MB** resident.")
    section.goals += [
        Goal(
            "seconds that importing `workflows.lead` adds",
            f"at most {_SECONDS}",
            f"{seconds:.3f}",
            seconds <= _SECONDS,
        ),
        Goal(
            "memory that importing `workflows.lead` adds",
            f"at most {_MEGABYTES:.0f} MB",
            f"{megabytes:.1f} MB",
            megabytes <= _MEGABYTES,
        ),
        Goal(
            "memory of a worker process",
            f"under {_WORKER_MEGABYTES:.0f} MB",
            f"{worker:.0f} MB",
            worker < _WORKER_MEGABYTES,
        ),
    ]
    return section


def _megabytes(imports: list[_Import]) -> str:
    return f"{median_of([one.megabytes for one in imports]):.1f}"


def _imported(imports: str) -> _Import:
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(imports=imports)],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        pid, seconds, modules = json.loads(process.stdout.readline() if process.stdout else "")
        return _Import(seconds, resident(pid), modules)
    finally:
        process.communicate()


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    asked = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(asked.stdout) / 1024
