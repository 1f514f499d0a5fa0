"""The page about the sandbox names everything that there is."""

import re
from pathlib import Path

from starlette.routing import Mount, Route

from sandbox.anthropic import api
from sandbox.anthropic.scripts import SCRIPTS, WRONG_KINDS
from sandbox.app import create_app
from sandbox.faults import KINDS
from sandbox.hubspot.routes import OPERATIONS
from sandbox.hubspot.webhooks import TYPES
from sandbox.salesforce import routes as salesforce
from sandbox.salesforce.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"


def named() -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", PAGE.read_text("utf-8")))


def test_page_names_every_fault_kind() -> None:
    assert set(KINDS) - named() == set()


def test_page_names_every_operation_and_subscription() -> None:
    assert {*OPERATIONS, *api.OPERATIONS, *salesforce.OPERATIONS} - named() == set()
    assert set(TYPES) - named() == set()


def test_page_names_every_setting_of_the_org() -> None:
    assert set(Settings.__slots__) - named() == set()


def test_page_names_every_script_and_what_it_takes() -> None:
    rows = {row.partition("`")[0]: row for row in PAGE.read_text("utf-8").split("\n| `")}
    assert set(SCRIPTS) - set(rows) == set()
    takes = {(script, arg) for script, args in SCRIPTS.items() for arg in args if "as `plan`" not in rows[script]}
    assert {(script, arg) for script, arg in takes if f"`{arg}`" not in rows[script]} == set()
    assert set(WRONG_KINDS) - set(re.findall(r"`(\w+)`", rows["invalid_json"])) == set()


def test_page_names_every_control_call() -> None:
    plane = next(route for route in create_app().routes if isinstance(route, Mount) and route.path == "/_sandbox")
    calls = {
        f"{method} /_sandbox{route.path}"
        for route in plane.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert calls
    assert {call for call in calls if not any(name.startswith(call) for name in named())} == set()


def test_every_behaviour_is_labelled() -> None:
    rows = re.findall(r"^\| .* \| (\S+) \| [^|]+ \|$", PAGE.read_text("utf-8").split("## Behaviours")[1], re.MULTILINE)
    labels = {label for label in rows if label != "---"} - {"label"}
    assert labels == {"*documented*", "*observed*", "*assumed*"}
