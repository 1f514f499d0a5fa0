"""`python -m bench`: measures everything and writes bench/RESULTS.md; `--only NAME` prints one section."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench import (
    acknowledgement,
    five_hundred,
    machine,
    one_lead,
    planning,
    protections,
    report,
    reviewing,
    throughput,
    two_systems,
    weight,
)
from bench.report import Section
from bench.stage import Stage, Stopwatch, stage

RESULTS = Path(__file__).with_name("RESULTS.md")
MEASUREMENTS: dict[str, Callable[[Stage], Awaitable[Section]]] = {
    "acknowledgement": acknowledgement.measure,
    "throughput": throughput.measure,
    "one-lead": one_lead.measure,
    "two-systems": two_systems.measure,
    "protections": protections.measure,
    "planning": planning.measure,
    "reviewing": reviewing.measure,
    "weight": weight.measure,
    "five-hundred": five_hundred.measure,
}


async def _measure(names: list[str]) -> list[Section]:
    sections = []
    with tempfile.TemporaryDirectory(prefix="leadproof-bench-") as folder:
        async with stage(Path(folder)) as built:
            for name in names:
                print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
                watch = Stopwatch()
                sections.append(await MEASUREMENTS[name](built))
                print(f"{watch.seconds():.0f} s", file=sys.stderr, flush=True)
    return sections


def main() -> int:
    """Measure; 0 also where a goal is missed, since the results say so."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(MEASUREMENTS), help="print this; write nothing")
    only = parser.parse_args().only
    sections = asyncio.run(_measure(only or list(MEASUREMENTS)))
    text = report.document(machine.described(), sections)
    if not only:
        RESULTS.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
