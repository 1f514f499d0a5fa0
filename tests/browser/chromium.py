"""Which Chromium the tests drive, and how."""

from __future__ import annotations

import os
import shutil

HOW_TO_GET = "no Chromium was found: `apt install chromium`, or name one with LEADPROOF_TEST_CHROMIUM"

ARGUMENTS = [
    "--no-sandbox",  # it cannot have one where tests run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
]


def chromium() -> str | None:
    """The program that the environment names, else Debian's; `None`: there is none."""
    return shutil.which(os.environ.get("LEADPROOF_TEST_CHROMIUM") or "chromium")
