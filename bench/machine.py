"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from importlib.metadata import version

from console import temporal_server
from leadproof.settings import Settings

_LIBRARIES = ("temporalio", "fastapi", "uvicorn", "SQLAlchemy", "pydantic", "hubspot-api-client", "urllib3")


def described() -> list[tuple[str, str]]:
    """Cores, system, and the versions of what takes part."""
    cli = subprocess.run(
        [temporal_server.binary(Settings()), "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return [
        ("cores", str(os.cpu_count())),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Temporal", f"development server with a database file, as `leadproof up` starts it; {cli}"),
        ("libraries", ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)),
    ]
