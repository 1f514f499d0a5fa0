"""The policy of an embedded stack: the one in the package, or that with Claude as a planner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal

from console.data_dir import DataDir

Planning = Literal["rules", "claude", "forms"]
"""Who plans: the rules everything, Claude everything, or Claude what comes from the website's form."""

_PACKAGED: Final = files("leadproof") / "embedded_policy.toml"

_PLANNED_BY_CLAUDE: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "claude": ('planner = "rules"\n', 'planner = "claude"\n'),
        "forms": ('kind = "form.submitted"\n', 'kind = "form.submitted"\nplanner = "claude"\n'),
    }
)

_CLAUDE: Final = '''

# ---- How Claude is asked ---------------------------------------------------------------------------------------------

[claude]
instructions = """
Whoever names a project, a number of seats or a date goes to kofi as a salesqualifiedlead with the status OPEN.
Everybody else goes to mira as a marketingqualifiedlead with the status NEW.
Give a disqualification_reason only where the lead itself says that nothing will come of it.
"""
'''


def policy_path(planning: Planning, data_dir: DataDir) -> str:
    """The path of the policy; what is not in the package is written into the data directory."""
    if planning == "rules":
        return str(_PACKAGED)
    return str(data_dir.write("policy.toml", policy_text(planning)))


def policy_text(planning: Planning) -> str:
    """The text of the policy; each choice is a version of its own, so that each lead keeps what it was planned by."""
    text = _PACKAGED.read_text(encoding="utf-8")
    if planning == "rules":
        return text
    old, new = _PLANNED_BY_CLAUDE[planning]
    if text.count(old) != 1:
        raise LookupError(f"the embedded policy does not say {old.strip()!r} exactly once")
    text = re.sub(
        r'^version = "(.+)"$', rf'version = "\1-{planning}"', text.replace(old, new), count=1, flags=re.MULTILINE
    )
    return text.rstrip("\n") + "\n" + _CLAUDE
