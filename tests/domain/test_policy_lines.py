from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadproof.domain.policy_lines import KeyPath, PolicyLines
from tests.domain.samples import shipped

TEXT = (
    '''\
# version = "of a comment"
version = "1"
"quoted key".'literal key' = 1   # [not.a.table]

[target.hubspot]
lag = 120
note = """
[fake]
lag = 1 ""\\" "" """
dotted.inner.most = true

[target . "sales force"]
lag = 2
list = [
    1,            # ] not the end
    "two ] , #",
    ['nested', { deep = 5, deeper = [
        6,
    ] }],
]

[[rule]]
name = 'first = ['
when = { present = ["a"], equals = { "coun\\u0074ry" = ["DE"] } }

[rule.fields]
owner = "dana"

[[rule]]
name = """second"""

  [[rule.step]]
  at = 2026-01-01T00:00:00Z

  [[rule.step]]
  at = 2026-01-01 00:00:00Z

[rule.fields]
owner = '''
    + """'''kofi
'''"""
    + """
[last]
"""
)


@pytest.mark.parametrize(
    ("path", "starts"),
    [
        (("version",), 'version = "1"'),
        (("quoted key",), '"quoted key"'),
        (("quoted key", "literal key"), '"quoted key"'),
        (("target", "hubspot"), "[target.hubspot]"),
        (("target", "hubspot", "lag"), "lag = 120"),
        (("target", "hubspot", "note"), 'note = """'),
        (("target", "hubspot", "dotted", "inner", "most"), "dotted.inner.most"),
        (("target", "sales force", "lag"), "lag = 2"),
        (("target", "sales force", "list", 1), '"two ] , #"'),
        (("target", "sales force", "list", 2, 0), "['nested'"),
        (("target", "sales force", "list", 2, 1, "deep"), "['nested'"),
        (("target", "sales force", "list", 2, 1, "deeper", 0), "6,"),
        (("rule", 0), "[[rule]]\nname = 'first"),
        (("rule", 0, "name"), "name = 'first"),
        (("rule", 0, "when", "present", 0), "when = {"),
        (("rule", 0, "when", "equals", "country"), "when = {"),
        (("rule", 0, "fields", "owner"), 'owner = "dana"'),
        (("rule", 1, "name"), 'name = """second'),
        (("rule", 1, "step", 0, "at"), "at = 2026-01-01T"),
        (("rule", 1, "step", 1, "at"), "at = 2026-01-01 0"),
        (("rule", 1, "fields", "owner"), "owner = '''kofi"),
        (("last",), "[last]"),
    ],
)
def test_a_key_is_found_on_its_line(path: KeyPath, starts: str) -> None:
    line = TEXT[: TEXT.index(starts)].count("\n") + 1

    assert PolicyLines(TEXT).line_of(path) == line
    assert PolicyLines(TEXT.replace("\n", "\r\n")).line_of(path) == line


def test_a_key_that_is_not_written_is_looked_for_in_its_parent() -> None:
    lines = PolicyLines(TEXT)

    assert lines.line_of(("rule", 1, "action")) == lines.line_of(("rule", 1))
    assert lines.line_of(("target", "hubspot", "missing", 3, "deep")) == lines.line_of(("target", "hubspot"))
    assert lines.line_of(("nowhere",)) is None
    assert lines.line_of(()) is None


def test_the_sample_is_toml() -> None:
    assert tomllib.loads(TEXT)["rule"][0]["when"]["equals"] == {"country": ["DE"]}


@pytest.mark.parametrize("name", ["default_policy.toml", "embedded_policy.toml"])
def test_every_key_of_a_shipped_policy_is_found_where_it_is_written(name: str) -> None:
    text = shipped(name)
    lines = PolicyLines(text)
    written = text.split("\n")
    paths = _paths(tomllib.loads(text), ())

    for path in paths:
        line = lines.line_of(path)
        key = next(part for part in reversed(path) if isinstance(part, str))
        assert line is not None
        assert key in written[line - 1] or isinstance(path[-1], int), path
    assert len(paths) > 200


def _paths(value: Any, path: KeyPath) -> list[KeyPath]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, child in children:
        found.extend(_paths(child, (*path, key)))
    return found


@pytest.mark.parametrize(
    "text", ["", "a", "a = ", "[", "[[a]", "a = [1", "a = {b = 1", 'a = "', "= 1", "a = 1\n]", "\x00"]
)
def test_what_is_no_toml_is_no_reason_to_fail(text: str) -> None:
    PolicyLines(text).line_of(("a",))


@settings(deadline=None, max_examples=50)
@given(st.text("ab=[]{}\"'#.,\n\\ 1", max_size=60))
def test_any_text_ends(text: str) -> None:
    PolicyLines(text)
