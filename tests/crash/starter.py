"""`python -m tests.crash.starter POINTS`: the real starter over a watched ledger; it stops at those points."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from leadproof import settings
from starter import serve
from starter.app import create_app
from tests.crash.stopping import Stops, Watched, read_points


def run(points: Path) -> None:
    """Run a starter as `leadproof starter` does."""
    stops = Stops(read_points(points))
    stops.watch()

    def watched(*arguments: Any, ledger: Any, **named: Any) -> FastAPI:
        return create_app(*arguments, ledger=Watched(ledger, "ledger", stops), **named)

    setattr(serve, "create_app", watched)  # noqa: B010 - a name of that module, for this process alone
    serve.run(settings.load())


if __name__ == "__main__":
    run(Path(sys.argv[1]))
