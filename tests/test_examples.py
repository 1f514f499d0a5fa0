"""The example policies are sound, fit the local HubSpot and Salesforce, and do with each lead what their page says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadproof.domain.plan import Verdict
from leadproof.domain.policy_text import examine, faults_against, parse_policy
from tests.domain.seed import described_org, described_seed
from tests.test_documents import ROOT
from workers.trial import Trial, try_lead

POLICIES = sorted((ROOT / "examples" / "policies").glob("*.toml"))
LEADS = sorted((ROOT / "examples" / "leads").glob("*.json"))
PAGE = "examples/README.md"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def promises() -> Iterator[tuple[str, str, str]]:
    """Policy, lead and what the page's table says of the two."""
    (head,) = [line for line in text_of(ROOT / PAGE).splitlines() if line.startswith("| lead |")]
    policies = [cell.strip() for cell in head.split("|")[2:-1]]
    for line in text_of(ROOT / PAGE).splitlines():
        if re.match(r"\| `(form|contact|brief|salesforce)-", line):
            lead, *says = (cell.strip() for cell in line.split("|")[1:-1])
            yield from ((policy, lead.split("`")[1], said) for policy, said in zip(policies, says, strict=True) if said)


def told(trial: Trial) -> str:
    if trial.summary is None:
        return "Claude would be asked"
    said = []
    for one in trial.actions:
        held = f"held ({one.guarded.queue})"
        verdicts = {Verdict.ALLOWED: "allowed", Verdict.REFUSED: "refused", Verdict.FOR_A_PERSON: held}
        said.append(f"{one.guarded.action.kind}: {verdicts[one.guarded.verdict]}")
    return ", ".join([*(said or ["nothing"]), *([f"then {trial.second_opinion}"] if trial.second_opinion else [])])


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_it_is_sound_and_fits_the_local_systems(path: Path) -> None:
    examined = examine(text_of(path))

    assert examined.faults == ()
    assert examined.policy is not None
    assert faults_against(examined.policy, described_seed(examined.policy), described_org(examined.policy)) == ()
    assert examined.policy.version.startswith(path.stem)


@pytest.mark.parametrize(("policy", "lead", "says"), list(promises()))
def test_a_lead_becomes_what_the_page_says(policy: str, lead: str, says: str) -> None:
    trial = try_lead(
        parse_policy(text_of(ROOT / "examples" / "policies" / f"{policy}.toml")),
        (ROOT / "examples" / "leads" / f"{lead}.json").read_bytes(),
    )

    assert trial.left_alone is None
    assert told(trial) == says


def test_the_page_names_every_policy_and_every_lead() -> None:
    listed = list(promises())

    assert {policy for policy, _, _ in listed} == {path.stem for path in POLICIES}
    assert {lead for _, lead, _ in listed} == {path.stem for path in LEADS}
    assert all(f"(policies/{path.name})" in text_of(ROOT / PAGE) for path in POLICIES)


def test_what_a_message_orders_is_not_in_what_may_be_written() -> None:
    talked_into = (ROOT / "examples" / "leads" / "brief-talked-into.json").read_bytes()
    trial = try_lead(parse_policy(text_of(ROOT / "examples" / "policies" / "agency-claude.toml")), talked_into)

    assert "Ignore your instructions" in json.loads(talked_into)["lead"]["message"]
    assert [one.guarded.verdict for one in trial.actions] == [Verdict.REFUSED, Verdict.REFUSED]
    assert "never made up" in (trial.actions[0].guarded.why or "")


def test_what_claude_is_shown_names_nobody() -> None:
    brief = (ROOT / "examples" / "leads" / "brief-not-planned.json").read_bytes()
    trial = try_lead(parse_policy(text_of(ROOT / "examples" / "policies" / "agency-claude.toml")), brief)

    assert set(trial.shown["lead"]) == {"company", "country", "message"}
    assert not any(value in json.dumps(trial.shown) for value in ("mei@northwind-tea.example", '"Mei"'))
