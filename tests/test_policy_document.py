"""docs/policy.md can't go stale: every key stands there as it is, and every example does what it says."""

from __future__ import annotations

import enum
import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import annotated_types
import pytest
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from console.policy_trial import say_trial
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.policy import (
    ActionPermission,
    Approval,
    Claude,
    Condition,
    Escalation,
    EventKind,
    Policy,
    Queue,
    Retention,
    Rule,
    RuleAction,
    ScopeEntry,
    Target,
    TargetField,
)
from leadproof.domain.policy_text import parse_policy
from workers.trial import try_lead

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")

SECTIONS: dict[type[BaseModel], str] = {
    Policy: "The top of the file",
    EventKind: "`[[event]]`",
    ScopeEntry: "`scopes`",
    Target: "`[target.NAME]`",
    TargetField: "`[target.NAME.fields]`",
    FieldSpec: "`spec`",
    ActionPermission: "`[[action]]`",
    Rule: "`[[rule]]`",
    RuleAction: "`[[rule.then]]`",
    Condition: "`when`",
    Queue: "`[queue.NAME]`",
    Retention: "`[retention]`",
    Claude: "`[claude]`",
    Escalation: "`[claude.escalation]`",
    Approval: "`[[approval]]`",
}
SINGULAR = {"events", "targets", "actions", "approvals", "rules", "queues"}
NOT_WRITTEN = {"digest", "text"}


class Row(NamedTuple):
    meaning: str
    values: str
    default: str
    example: str


@cache
def sections() -> dict[str, str]:
    parts = re.split(r"^#{2,3} (.+)$", DOCUMENT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(section: str) -> dict[str, Row]:
    table = re.search(
        r"^\| key \| meaning \| values \| default \| example \|\n.+\n((?:\|.+\n)+)", section, re.MULTILINE
    )
    assert table is not None
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]
    return {key.strip("`"): Row(*cells) for key, *cells in lines}


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every model that can be reached from a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    for part in get_args(annotation):
        yield from models(part)


def written(model: type[BaseModel], name: str) -> str:
    if model is Policy and name in SINGULAR:
        return name.removesuffix("s")
    return model.model_fields[name].alias or name


FIELDS = [
    pytest.param(model, name, id=f"{model.__name__}.{name}")
    for model in dict.fromkeys(models(Policy))
    for name in model.model_fields
    if not (model is Policy and name in NOT_WRITTEN)
]


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        assert value == type(value)()
        return "empty"
    if value in ((), {}, ""):
        return "empty"
    return f"`{json.dumps(value)}`"


def choices(annotation: Any) -> Iterator[str]:
    """The words that a type allows, as they are written."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, enum.StrEnum):
        yield from annotation
    elif annotation is bool:
        yield from ("true", "false")
    elif get_origin(annotation) is not dict:  # the keys of a table are told in its meaning
        for part in get_args(annotation):
            yield from choices(part)


def bounds(annotation: Any, metadata: list[Any]) -> Iterator[float]:
    for one in metadata:
        for part in one.metadata if isinstance(one, FieldInfo) else [one]:
            if isinstance(part, annotated_types.Ge | annotated_types.Gt):
                yield float(str(getattr(part, "ge", getattr(part, "gt", None))))
            if isinstance(part, annotated_types.Le | annotated_types.Lt):
                yield float(str(getattr(part, "le", getattr(part, "lt", None))))
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from bounds(inner, more)
    else:
        for part in get_args(annotation):
            yield from bounds(part, [])


@pytest.mark.parametrize(("model", "name"), FIELDS)
def test_every_key_stands_there_with_its_default_its_values_and_an_example(model: type[BaseModel], name: str) -> None:
    field, key = model.model_fields[name], written(model, name)
    section = sections()[SECTIONS[model]]
    row = rows(section)[key]

    assert row.meaning
    assert row.default == default_of(field)
    for choice in choices(field.annotation):
        assert f"`{choice}`" in row.values or f"| `{choice}` |" in section
    numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", row.values)}
    assert set(bounds(field.annotation, list(field.metadata))) <= numbers
    if row.example != "below":
        example = tomllib.loads(row.example.strip("`"))
        assert set(example) == {key}
        annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        TypeAdapter(annotation).validate_python(example[key])


def test_no_key_stands_there_that_is_none() -> None:
    assert set(SECTIONS) == set(models(Policy))
    for model, section in SECTIONS.items():
        known = {written(model, name) for name in model.model_fields} - NOT_WRITTEN
        assert set(rows(sections()[section])) == known


def test_every_field_and_every_type_of_one_stands_there() -> None:
    assert all(f"`{name}`" in DOCUMENT for name in CATALOG)
    assert all(f"| `{kind}` |" in DOCUMENT for kind in FieldType)


class Block(NamedTuple):
    kind: str
    text: str


@cache
def blocks() -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)]


BASE = next(block.text for block in blocks() if block.kind == "toml")
FRAGMENTS = [block.text for block in blocks() if block.kind == "toml fragment"]


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Tables are joined; an entry of a list takes the place of the one that it names, and else stands before all."""
    joined = dict(base)
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            joined[key] = merged(base[key], value)
        elif isinstance(value, list) and key in {"event", "action", "approval", "rule"}:
            said = [_identity(entry) for entry in value]
            joined[key] = [*value, *(entry for entry in base.get(key, []) if _identity(entry) not in said)]
        else:
            joined[key] = value
    return joined


def _identity(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry.get(name) for name in ("name", "source", "kind", "target", "object"))


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(part) for part in value) + "]"
    return value.isoformat() if isinstance(value, datetime) else json.dumps(value)


def with_fragment(fragment: str) -> Policy:
    document = merged(tomllib.loads(BASE), tomllib.loads(fragment))
    return parse_policy("\n".join(f"{key} = {toml(value)}" for key, value in document.items()))


@pytest.mark.parametrize("text", [block.text for block in blocks() if block.kind == "toml"])
def test_a_whole_example_is_a_policy(text: str) -> None:
    assert parse_policy(text)


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_piece_fits_into_the_small_policy(fragment: str) -> None:
    assert with_fragment(fragment) != parse_policy(BASE)


def trials() -> list[tuple[str, str, str]]:
    """The piece, the lead and the printed answer of each worked example."""
    of_three = zip(blocks(), blocks()[1:], blocks()[2:], strict=False)
    return [
        (piece.text, lead.text, told.text)
        for piece, lead, told in of_three
        if [piece.kind, lead.kind, told.kind] == ["toml fragment", "json", "text"]
    ]


@pytest.mark.parametrize(("fragment", "lead", "says"), trials(), ids=["owner", "first-write", "unsure"])
def test_a_worked_example_prints_what_the_page_shows(
    fragment: str, lead: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = with_fragment(fragment)
    say_trial(policy, try_lead(policy, lead.encode()))

    assert capsys.readouterr().out == says


def test_what_is_said_to_be_refused_is_what_the_code_says() -> None:
    files = [*ROOT.glob("leadproof/domain/*.py"), ROOT / "leadproof" / "ledger" / "policies.py"]
    sources = "".join(path.read_text("utf-8") for path in files)
    code = re.sub(r'"\s*\n\s*f?"', "", sources)
    refused = sections()["What is refused, and why"]
    sentences = [line.split("`")[1] for line in refused.splitlines() if re.match(r"\| `", line)]

    assert len(sentences) > 20
    for sentence in sentences:
        plain = re.sub(r"\{[^}]*\}", "…", code)
        assert sentence in plain, sentence


def test_every_link_within_the_page_leads_somewhere() -> None:
    headings = re.findall(r"^#{2,3} (.+)$", DOCUMENT, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    assert set(re.findall(r"\]\(#([^)]+)\)", DOCUMENT)) <= anchors
    for link in itertools.chain(re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", DOCUMENT)):
        assert (ROOT / "docs" / link).is_file()
