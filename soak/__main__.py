"""`python -m soak`: many leads against a seeded schedule of every fault; 0 only if nothing is wrong afterwards."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

from bench.deployment import NotAsExpected
from soak import report, soaking
from soak.schedule import scheduled
from soak.stack import running

_LEADS, _SECONDS = 500, 600


def main() -> int:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--leads", type=int, default=_LEADS, help=f"how many ({_LEADS})")
    parser.add_argument("--seed", type=int, help="of the schedule; another one each time where none is given")
    parser.add_argument("--seconds-limit", type=float, default=_SECONDS, help=f"until all must rest ({_SECONDS})")
    parser.add_argument("--keep", type=Path, help="a new folder for ledger and logs, which are thrown away otherwise")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else secrets.randbelow(1_000_000)
    schedule = scheduled(seed, asked.leads)
    print(f"seed {seed}, {report.of_schedule(schedule)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="leadproof-soak-") as made:
        folder = asked.keep or Path(made)
        folder.mkdir(exist_ok=True)
        try:
            with running(folder) as stack:
                soaked = asyncio.run(soaking.soak(stack, schedule, limit=asked.seconds_limit))
        except NotAsExpected as error:
            print(f"seed {seed}: {error}")
            return 1
    for line in report.lines(soaked):
        print(line)
    return 1 if soaked.wrongs else 0


if __name__ == "__main__":
    sys.exit(main())
