"""Documents that can't go stale: settings, commands and tables are listed as they are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from console.cli import app
from leadproof.crm import salesforce_fields
from leadproof.crm.hubspot_fields import BUILT_IN
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.policy_text import parse_policy
from leadproof.ledger.tables import METADATA
from leadproof.settings import Settings, described, load, variable

ROOT = Path(__file__).parents[1]


def rows(document: str, first_cell: str) -> list[list[str]]:
    """The cells of every table row whose first cell is code that begins like this."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if re.match(rf"\| `{first_cell}[^`]*` \|", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found]


def words(code: str) -> str:
    return code.strip("`").replace("\\|", "|")


def commands(group: TyperGroup, *path: str) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


def documented(code: str, known: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The commands that a row names; `leadproof review list|show` names two."""
    paths: list[tuple[str, ...]] = [()]
    for word in words(code).split()[1:]:
        longer = [(*path, choice) for path in paths for choice in word.split("|")]
        begun = {path[: len(longer[0])] for path in known}
        if not all(path in begun or path in known for path in longer):
            break
        paths = longer
    return set(paths)


def test_the_readme_lists_every_setting_with_its_default_and_meaning() -> None:
    assert [[words(row[0]), *row[1:]] for row in rows("README.md", "LEADPROOF_")] == [
        [name, default, meaning.replace("|", "\\|")] for name, default, meaning in described(Settings())
    ]


def test_the_readme_lists_every_command_and_no_other() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    known = set(commands(group))
    listed = [documented(row[0], known) for row in rows("README.md", "leadproof ")]
    assert set().union(*listed) == known


def test_the_architecture_lists_every_table_of_the_ledger_and_no_other() -> None:
    blocks = re.split(r"\n(?!\|)", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    about_tables = next(block for block in blocks if "| `lead_event` |" in block)
    assert set(re.findall(r"^\| `([a-z_]+)` \|", about_tables, re.MULTILINE)) == set(METADATA.tables)


def test_the_policy_page_lists_every_built_in_field_with_its_property_and_type() -> None:
    section = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8").partition("### The built-in fields\n")[2]
    row = r"^\| `(\w+)` \| (none|`\w+`)[^|]* \| `(\w+)` \| ([^|]+) \|"
    listed = re.findall(row, section.partition("\n### ")[0], re.MULTILINE)
    assert listed == [
        (name, f"`{BUILT_IN[name]}`" if name in BUILT_IN else "none", str(spec.type), in_salesforce(name))
        for name, spec in CATALOG.items()
    ]


def in_salesforce(name: str) -> str:
    lead, contact = (salesforce_fields.BUILT_IN[each].get(name) for each in ("lead", "contact"))
    if lead is None:
        return "none"
    others = "" if contact == lead else f", of a contact `{contact}`" if contact else ", a contact has none"
    return f"`{lead}`{others}"


def test_the_example_of_an_environment_can_be_loaded() -> None:
    example = ROOT / ".env.example"
    settings = load({}, dotenv=example)
    named = set(re.findall(r"^(LEADPROOF_[A-Z_]+)=", example.read_text(encoding="utf-8"), re.MULTILINE))
    assert {variable(field) for field in settings.model_fields_set} <= named
    assert {token.name for token in settings.api_tokens} == {"form", "reviewers"}


def test_every_test_that_the_documents_name_is_there() -> None:
    """`tests/x/test_y.py::test_z`, or the file alone, or a `test_z` of any file."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py")}
    everything = "\n".join(sources.values())
    for document in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for code in re.findall(r"`([^`\n]*\btest_\w+[^`\n]*)`", document.read_text(encoding="utf-8")):
            path = code.partition("::")[0]
            function = code.rpartition("::")[2].partition("[")[0] if "::" in code else ""
            if path.endswith(".py"):
                files = [text for name, text in sources.items() if f"/{name}".endswith(f"/{path}")]
                assert files, f"{document.name}: {code}"
                if function:
                    assert any(f"def {function}(" in text for text in files), f"{document.name}: {code}"
            elif re.fullmatch(r"test_\w+", code):
                assert f"def {code}(" in everything, f"{document.name}: {code}"


def test_the_example_app_subscribes_to_what_the_shipped_policy_acts_on() -> None:
    app = ROOT / "examples" / "hubspot-app" / "src" / "app"
    webhooks = json.loads((app / "webhooks" / "webhooks-hsmeta.json").read_text(encoding="utf-8"))["config"]
    subscribed = {
        (one["subscriptionType"], one.get("propertyName")) for one in webhooks["subscriptions"]["legacyCrmObjects"]
    }
    policy = parse_policy((ROOT / "policy.toml").read_text(encoding="utf-8"))
    events = [event for event in policy.events if event.source == "hubspot"]
    assert subscribed == {(event.kind, name) for event in events for name in (event.properties or (None,))}
    assert webhooks["settings"]["targetUrl"].endswith("/webhooks/hubspot")
