"""What a workflow start pays for: importing the workflow pulls in no client, no database and no server."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("sqlmodel", "sqlalchemy", "hubspot", "simple_salesforce", "anthropic", "httpx", "requests", "fastapi", "typer")
OURS = ("leadproof.crm", "leadproof.ledger", "leadproof.planners", "leadproof.inbound", "leadproof.settings", "starter")


MODULES = ("workflows.lead", "workflows.sweep", "activities.effects", "leadproof.boundary")


def test_importing_them_pulls_in_nothing_heavy() -> None:
    code = f"import json, sys, {', '.join(MODULES)}; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout))
    assert loaded.issuperset(MODULES)
    assert {name for name in loaded if name.startswith(HEAVY + OURS)} == set()
