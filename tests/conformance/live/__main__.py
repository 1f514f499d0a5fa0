"""`python -m tests.conformance.live` (`make live`): the cases and the sandbox's behaviours on named real accounts."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import load
from tests.conformance.cases import CASES, Case
from tests.conformance.clocks import Real, Waiting
from tests.conformance.live.consent import VARIABLE, named_accounts
from tests.conformance.live.report import Report
from tests.conformance.live.running import KINDS, lines, new_run, open_accounts, play

FOLDER: Final = Path(".leadproof") / "live"
_NOTHING: Final = f"nothing was tried: {VARIABLE} names no account that may be written to (docs/live.md says how)"


def run(
    environment: Mapping[str, str],
    folder: Path,
    *,
    clock: Waiting | None = None,
    only: Sequence[str] = (),
    cases: Mapping[str, Case] = CASES,
) -> tuple[int, list[str]]:
    """One run; the exit status and what to say.

    Args:
        environment: the settings and the consent.
        folder: where the report goes.
        only: beginnings of the cases and behaviours to play; empty: all.
        cases: the cases that there are.
    """
    consent = environment.get(VARIABLE, "").strip()
    if not consent:
        return 0, [_NOTHING]
    time = clock or Real()
    report = Report(new_run(), datetime.now(UTC).isoformat(timespec="seconds"))
    status = 0
    try:
        settings = load({name: value for name, value in environment.items() if name != VARIABLE}, dotenv=None)
        accounts = open_accounts(settings, named_accounts(consent, tuple(KINDS)), time, report.run)
    except ConfigurationRefused as refused:
        return 2, [str(refused)]

    def wanted(name: str) -> bool:
        return not only or any(name.startswith(beginning) for beginning in only)

    try:
        for ready in accounts:
            chosen = {name: case for name, case in cases.items() if wanted(name)}
            play(report, settings, ready, time, cases=chosen, wanted=wanted)
    except KeyboardInterrupt:
        report.interrupted, status = True, 130
    finally:
        for ready in accounts:
            ready.account.close()
    paths = report.save(folder)
    if status == 0 and any(system.failed for system in report.systems):
        status = 1
    return status, lines(report, paths)


def main() -> int:
    """Run over the process's own environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.live", description=__doc__)
    parser.add_argument("--report", type=Path, default=FOLDER, metavar="DIR", help="where the report is written")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="play only cases and behaviours that begin so"
    )
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with everything taken away
    status, said = run(os.environ, asked.report, only=asked.only)
    sys.stdout.write("\n".join(said) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
