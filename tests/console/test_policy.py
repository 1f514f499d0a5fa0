"""`leadproof policy` as it is typed: what it prints, and the status it ends with."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from console.cli import app
from leadproof.clock import SystemClock
from leadproof.domain.policy_text import parse_policy
from leadproof.ledger.store import SqlLedger
from sandbox.server import running
from tests.domain.samples import POLICY, changed, line_of, shipped
from tests.sandbox.control import Control
from tests.support.ledgers import sqlite_ledger
from tests.workers.salesforce_clinic import POLICY as SALESFORCE

DEFAULT = shipped("default_policy.toml")
VIP, DAN, GONE, BORING = 'queue = "vip"', 'owner = "dan"', 'dana = "599"', '"boring"]'
"""Faults, as they are written."""

NAMED = "active are 501, 502, 503, 505 (a queue)"
"""The owners of the local HubSpot, as a fault names them."""

NO_HISTORY = (
    "salesforce keeps no history of lead_status, so that {} is refused for a lead that exists; let salesforce keep it, "
    "or say without_history = true"
)


class Ended(NamedTuple):
    status: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Ended]


@pytest.fixture
def leadproof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """A command in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEADPROOF_LEDGER_URL", f"sqlite:///{tmp_path}/ledger.db")

    def typed(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as left:
            app(list(arguments))
        said = capsys.readouterr()
        return Ended(int(left.value.code or 0), said.out, said.err)

    return typed


def written(folder: Path, text: str, name: str = "policy.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with sqlite_ledger(tmp_path / "ledger.db", SystemClock()) as opened:
        yield opened


class TestCheck:
    def test_a_sound_policy_is_summed_up(self, leadproof: Command, tmp_path: Path) -> None:
        ended = leadproof("policy", "check", written(tmp_path, POLICY))

        assert ended.status == 0
        assert ended.out.startswith("ok: policy.toml\n")
        assert parse_policy(POLICY).digest in ended.out
        assert "hubspot contact.creation: once per record, once per event from 2026-06-01T00:00:00Z" in ended.out
        assert "clear_stage hubspot contact: lifecycle_stage (by the guard alone)" in ended.out
        assert "big: qualify that sets owner when employees is at least 1000; queue enterprise" in ended.out
        assert "unsure: any action with a confidence below 0.5 when it comes from website" in ended.out

    def test_every_fault_is_a_line_that_an_editor_can_jump_to(self, leadproof: Command, tmp_path: Path) -> None:
        text = changed('queue = "enterprise"', VIP).replace('owner = "dana"', DAN)

        ended = leadproof("policy", "check", written(tmp_path, text))

        assert ended.status == 1
        assert ended.out.splitlines() == [
            f"policy.toml:{line_of(text, VIP)}: the queue 'vip' is not in this policy",
            f"policy.toml:{line_of(text, DAN)}: the rule 'named' sets 'owner' to 'dan', which is none of "
            "[owners.hubspot]: dana, kofi",
            "2 faults",
        ]

    def test_for_programs(self, leadproof: Command, tmp_path: Path) -> None:
        sound = leadproof("policy", "check", written(tmp_path, DEFAULT), "--json")
        broken = leadproof("policy", "check", written(tmp_path, changed("due_hours = 4", "due_hours = 0")), "--json")

        assert (sound.status, sound.json["ok"], sound.json["faults"]) == (0, True, [])
        assert sound.json["policy"]["queues"] == {"default": 24, "enterprise": 4}
        assert sound.json["policy"]["abandoned_after"] == {}
        assert (broken.status, broken.json["ok"], broken.json["policy"]) == (1, False, None)
        assert broken.json["faults"] == [
            {"line": 85, "says": "'due_hours' in queue.enterprise should be greater than 0", "against": "policy"}
        ]
        assert broken.json["all_found"] is False

    def test_when_a_question_is_given_up_is_told(self, leadproof: Command, tmp_path: Path) -> None:
        text = changed("due_hours = 4", "due_hours = 4\nabandon_after_hours = 48")
        path = written(tmp_path, text)

        assert leadproof("policy", "check", path, "--json").json["policy"]["abandoned_after"] == {"enterprise": 48}
        told = leadproof("policy", "check", path).out
        assert "enterprise: due after 4 h, abandoned after 48 h if nobody decides" in told
        assert "default: due after 24 h, stays open till decided" in told

    def test_what_is_hidden_by_a_fault_is_said(self, leadproof: Command, tmp_path: Path) -> None:
        ended = leadproof("policy", "check", written(tmp_path, "version = "))

        assert ended.status == 1
        assert ended.out.splitlines()[1:] == ["1 fault", "What depends on that is looked at once it is mended."]

    def test_a_file_that_is_not_there_is_a_sentence(self, leadproof: Command) -> None:
        ended = leadproof("policy", "check", "nothing.toml")

        assert (ended.status, ended.out) == (2, "")
        assert ended.error == "leadproof: the policy nothing.toml cannot be read; name a text file in TOML\n"

    def test_against_the_ledger(self, leadproof: Command, tmp_path: Path, ledger: SqlLedger) -> None:
        file = written(tmp_path, POLICY)
        assert leadproof("policy", "check", file, "--against-ledger").status == 0

        ledger.load_policy(parse_policy(POLICY))
        assert leadproof("policy", "check", file, "--against-ledger").status == 0

        moved = changed('{ from = 2026-06-01T00:00:00Z, scope = "event" },\n', "").replace("    \n", "")
        ended = leadproof("policy", "check", written(tmp_path, moved), "--against-ledger")
        assert ended.status == 1
        assert ended.out.splitlines()[0] == (
            "policy.toml:1: version 1 stands in the ledger with another text: a changed policy needs a new version"
        )
        assert ended.out.splitlines()[1].startswith(
            f"policy.toml:{line_of(moved, 'scopes = [')}: the scope 'event' of hubspot contact.creation that holds from"
        )

    def test_a_policy_with_faults_of_its_own_is_not_compared(self, leadproof: Command, tmp_path: Path) -> None:
        file = written(tmp_path, changed('queue = "enterprise"', VIP))

        ended = leadproof("policy", "check", file, "--against-ledger", "--against-target")

        assert ended.status == 1
        assert ended.out.splitlines()[1:] == [
            "1 fault",
            "It is compared with the CRM and the ledger once it has no fault of its own.",
        ]
        assert leadproof("policy", "check", file, "--against-target", "--json").json["all_found"] is False

    def test_without_a_ledger_it_is_said_what_to_run(self, leadproof: Command, tmp_path: Path) -> None:
        ended = leadproof("policy", "check", written(tmp_path, POLICY), "--against-ledger")

        assert ended.status == 2
        assert "leadproof ledger upgrade" in ended.error

    def test_against_the_target(self, leadproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = DEFAULT.replace('dana = "501"', GONE).replace('"spam"]', f'"spam", {BORING}')
        file = written(tmp_path, text)
        with running() as address:
            monkeypatch.setenv("LEADPROOF_HUBSPOT_TOKEN", "any")
            monkeypatch.setenv("LEADPROOF_HUBSPOT_BASE_URL", f"{address}/hubspot")
            ended = leadproof("policy", "check", file, "--against-target")
            monkeypatch.setenv("LEADPROOF_HUBSPOT_PORTAL_ID", "1")
            foreign = leadproof("policy", "check", file, "--against-target")

        assert ended.status == 1
        assert ended.out.splitlines() == [
            f"policy.toml:{line_of(text, GONE)}: hubspot has no owner 599 (dana); {NAMED}",
            f"policy.toml:{line_of(text, BORING)}: hubspot has no option 'boring' for 'disqualification_reason'; "
            "it has no_budget, no_authority, no_need, bad_timing, competitor, spam",
            "2 faults",
        ]
        assert (foreign.status, foreign.out) == (2, "")
        assert "LEADPROOF_HUBSPOT_PORTAL_ID names 1" in foreign.error

    def test_what_the_target_would_refuse_for_some_leads_is_a_warning_and_no_fault(
        self, leadproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = SALESFORCE.replace('when = { present = ["last_name", "company"] }', 'when = { source = "website" }')
        file = written(tmp_path, text)
        with running() as address, httpx.Client(base_url=address) as client:
            monkeypatch.setenv("LEADPROOF_SALESFORCE_URL", address)
            monkeypatch.setenv("LEADPROOF_SALESFORCE_CLIENT_ID", "any")
            monkeypatch.setenv("LEADPROOF_SALESFORCE_CLIENT_SECRET", "any")
            Control(client).post("/salesforce", {"fields": {"Lead": {"Status": {"tracked": False}}}})
            ended = leadproof("policy", "check", file, "--against-target")
            told = leadproof("policy", "check", file, "--against-target", "--json")

        create = line_of(text, 'fields = ["email", "last_name"')
        qualify = line_of(text, 'fields = ["owner", "lead_status", "disq')
        rule = line_of(text, "[[rule]]")
        assert (ended.status, told.status) == (0, 0)
        assert ended.out.splitlines()[:4] == [
            "ok: policy.toml",
            f"policy.toml:{create}: warning: {NO_HISTORY.format('create')}",
            f"policy.toml:{qualify}: warning: {NO_HISTORY.format('qualify')}",
            f"policy.toml:{rule}: warning: salesforce makes no lead without LastName, Company, and for the rule 'all' "
            'a lead need not have it; say present = ["last_name", "company"] in its when, or set it in its fields',
        ]
        assert told.json["ok"] is True
        warned = [(one["line"], one["against"]) for one in told.json["warnings"]]
        assert warned == [(create, "target"), (qualify, "target"), (rule, "target")]

    def test_a_source_that_no_rule_is_about_is_a_warning(self, leadproof: Command, tmp_path: Path) -> None:
        text = changed('name = "rest"\n', 'name = "rest"\nwhen = { source = "website" }\n').replace(
            'when = { source = "hubspot", ', 'when = { source = "website", '
        )
        ended = leadproof("policy", "check", written(tmp_path, text))

        line = line_of(text, 'kind = "contact.creation"')
        says = "no rule is about leads of hubspot, so that nothing is ever done at its contact.creation"
        assert (ended.status, ended.out.splitlines()[1]) == (0, f"policy.toml:{line}: warning: {says}")

    def test_a_target_that_is_not_there_is_a_sentence(self, leadproof: Command, tmp_path: Path) -> None:
        ended = leadproof("policy", "check", written(tmp_path, DEFAULT), "--against-target")

        assert (ended.status, ended.error) == (
            2,
            "leadproof: HubSpot has no access token; set LEADPROOF_HUBSPOT_TOKEN\n",
        )


class TestShow:
    def test_a_version_is_printed_byte_for_byte(self, leadproof: Command, ledger: SqlLedger) -> None:
        ledger.load_policy(parse_policy(POLICY))

        assert leadproof("policy", "show", "1").out == POLICY
        assert leadproof("policy", "show", "1", "--json").json == {
            "version": "1",
            "digest": parse_policy(POLICY).digest,
            "text": POLICY,
        }

    def test_an_unknown_version_names_the_known(self, leadproof: Command, ledger: SqlLedger) -> None:
        ledger.load_policy(parse_policy(POLICY))

        ended = leadproof("policy", "show", "2")

        assert ended.status == 1
        assert ended.error == "leadproof: the ledger holds no version '2' of the policy, but 1\n"


LEAD = {
    "source_record_id": "f-1",
    "event_kind": "form.submitted",
    "occurrence": "s-1",
    "occurred_at": "2026-11-30T09:00:00Z",
    "lead": {"email": "ana@brightwater.example", "company": "Brightwater", "country": "Germany", "employees": 1200},
}


class TestTest:
    def test_what_would_be_done_is_told_with_its_reasons(self, leadproof: Command, tmp_path: Path) -> None:
        policy, lead = written(tmp_path, DEFAULT), written(tmp_path, json.dumps(LEAD), "lead.json")

        ended = leadproof("policy", "test", policy, "--lead", lead)

        assert ended.status == 0
        assert "plan        website-enterprise-dach: A company of 500 people or more" in ended.out
        assert (
            "action 0: create hubspot contact: HELD for a person in the queue enterprise: a company of 1000 people or "
            "more is given to a seller by a person"
        ) in ended.out
        assert "seen: employees is 1200" in ended.out
        assert "501 (dana)" in ended.out

    def test_for_programs(self, leadproof: Command, tmp_path: Path) -> None:
        policy, lead = written(tmp_path, DEFAULT), written(tmp_path, json.dumps(LEAD), "lead.json")

        told = leadproof("policy", "test", policy, "--lead", lead, "--json").json

        assert (told["source"], told["scope"], told["planner"]) == ("website", "event", "rules")
        (action,) = told["actions"]
        assert (action["kind"], action["verdict"], action["queue"]) == ("create", "for_a_person", "enterprise")
        assert action["fields"]["country"] == "DE"

    def test_nothing_is_opened_and_nothing_is_left_behind(
        self, leadproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        policy, lead = written(tmp_path, DEFAULT), written(tmp_path, json.dumps(LEAD), "lead.json")

        def no_network(*_: Any, **__: Any) -> None:
            raise AssertionError("a trial opened a connection")

        monkeypatch.setattr(socket, "socket", no_network)
        assert leadproof("policy", "test", policy, "--lead", lead).status == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lead.json", "policy.toml"]

    def test_a_policy_with_faults_is_not_tried(self, leadproof: Command, tmp_path: Path) -> None:
        policy = written(tmp_path, changed('queue = "enterprise"', VIP))

        ended = leadproof("policy", "test", policy, "--lead", written(tmp_path, json.dumps(LEAD), "lead.json"))

        assert ended.status == 1
        assert "the queue 'vip' is not in this policy" in ended.out

    @pytest.mark.parametrize(
        ("spoiled", "says"),
        [
            ({"lead": {"company": "Acme"}}, "a lead has an e-mail address or a phone number"),
            ({"occurred_at": "yesterday"}, "occurred_at"),
            ({"plan": {"summary": "s", "actions": [{"kind": "delete"}]}}, "plan.actions.0.kind"),
            ({"record": {"fields": {"haircut": "short"}}}, "'haircut' is no field that the policy knows"),
            ({"record": {"target": "sap"}}, "say in which of the policy's targets the record stands: hubspot"),
        ],
    )
    def test_a_lead_that_is_none_is_a_sentence(
        self, leadproof: Command, tmp_path: Path, spoiled: dict[str, Any], says: str
    ) -> None:
        lead = written(tmp_path, json.dumps(LEAD | spoiled), "lead.json")

        ended = leadproof("policy", "test", written(tmp_path, DEFAULT), "--lead", lead)

        assert (ended.status, ended.out) == (1, "")
        assert says in ended.error
