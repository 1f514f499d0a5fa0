"""What only Salesforce does to a write: conversion, duplicate and assignment rules, sessions, lengths."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from tests.conformance.conftest import MakeStage
from tests.conformance.evidence import proves
from tests.conformance.hands import Mischief
from tests.conformance.salesforce import SALESFORCE
from tests.conformance.sandboxed import SandboxHands
from tests.conformance.stage import Stage

ACCEPTED, NOT_SENT, REFUSES_THIS = AnswerClass.ACCEPTED, AnswerClass.NOT_SENT, AnswerClass.REFUSES_THIS


class Play(NamedTuple):
    stage: Stage
    hands: SandboxHands

    def convert(self) -> None:
        self.hands.convert(str(self.stage.record_id))


@pytest.fixture
def play(make_stage: MakeStage) -> Play:
    stage = make_stage(SALESFORCE)
    assert isinstance(stage.hands, SandboxHands)
    return Play(stage, stage.hands)


def refused(mutation: Mutation, code: str) -> str:
    """What was wrong, in words for a person."""
    receipt = mutation.acceptance_receipt
    assert receipt is not None
    assert receipt.code == code
    assert receipt.detail
    return receipt.detail


def test_a_lead_that_was_converted_is_not_written_to(play: Play) -> None:
    play.stage.update()
    play.stage.the_base_grows_old()
    play.convert()
    play.stage.run()
    proves(play.stage, Status.DIVERGENT, Reason.MERGED, answers=(NOT_SENT,), effects=0)


def test_a_lead_that_is_converted_at_the_write_refuses_it(play: Play) -> None:
    play.stage.update()
    play.convert()
    play.stage.run()
    mutation = proves(play.stage, Status.DIVERGENT, Reason.MERGED, answers=(REFUSES_THIS,), effects=0)
    refused(mutation, "CANNOT_UPDATE_CONVERTED_LEAD")


def test_a_write_that_lands_on_a_converted_lead_is_no_success(play: Play) -> None:
    play.hands.org(edit_converted_leads=True)
    play.stage.update()
    play.convert()
    play.stage.run()
    proves(play.stage, Status.DIVERGENT, Reason.MERGED, answers=(ACCEPTED,), effects=1)


@pytest.mark.parametrize("rule", ["alert", "block"])
def test_a_duplicate_that_a_rule_detects_is_put_to_a_person(play: Play, rule: str) -> None:
    play.hands.org(duplicate_rule=rule)
    contact = play.hands.contact({"LastName": "Reyes", "Email": play.stage.email})
    play.stage.create()
    play.stage.run()
    mutation = proves(play.stage, Status.REJECTED, Reason.REFUSES_THIS, answers=(REFUSES_THIS,), effects=0)
    assert contact in refused(mutation, "DUPLICATES_DETECTED")
    assert play.hands.records() == ()


@pytest.mark.parametrize("creates", [True, False])
def test_an_assignment_rule_does_not_take_the_record_from_its_owner(play: Play, creates: bool) -> None:
    play.hands.org(assignment_rule=True)
    (play.stage.create if creates else play.stage.update)()
    play.stage.run()
    proves(play.stage, Status.OBSERVED, answers=(ACCEPTED,), effects=1)
    assert play.stage.holds(owner=SALESFORCE.owner)


@pytest.mark.parametrize("creates", [True, False])
def test_a_session_that_expires_before_the_write_is_renewed_once(play: Play, creates: bool) -> None:
    (play.stage.create if creates else play.stage.update)()
    play.hands.org(expire_sessions=True)
    play.stage.run()
    proves(play.stage, Status.OBSERVED, answers=(ACCEPTED,), effects=1)
    assert play.stage.holds(owner=SALESFORCE.owner)  # what was repeated still said that no rule is to assign it


def test_the_precondition_goes_with_a_write_that_is_repeated(play: Play) -> None:
    play.stage.update()
    play.stage.the_base_grows_old()
    play.stage.fails("reject_auth")
    edit = {"user": SALESFORCE.person, "fields": {"OwnerId": play.stage.other_owner}}
    play.hands.arm(Mischief(kind="human_edit", operation=SALESFORCE.write, after=1, args=edit))
    play.stage.run()
    answers = (AnswerClass.NOT_APPLIED, NOT_SENT)
    proves(play.stage, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, answers=answers, effects=0)
    assert len(play.hands.sent()) == 2


def test_sessions_that_are_refused_whatever_we_do_are_told_so(play: Play) -> None:
    play.stage.update()
    play.hands.org(refuse_sessions=True)
    play.stage.run()
    attempts = play.stage.receipts.attempts
    answers = (AnswerClass.REFUSES_US,) * len(attempts)
    proves(play.stage, Status.REJECTED, Reason.TARGET_REFUSES_US, answers=answers, effects=0)
    assert len(play.hands.sent()) <= len(attempts)
    assert play.hands.signed_in() == 2  # with our session, and once more when that was refused


def test_a_text_that_is_too_long_is_never_cut(play: Play) -> None:
    play.stage.update(title="Head of everything " * 10)
    play.stage.run()
    mutation = proves(play.stage, Status.REJECTED, Reason.REFUSES_THIS, answers=(REFUSES_THIS,), effects=0)
    assert "128" in refused(mutation, "STRING_TOO_LONG")
    assert play.hands.sent() == ()


def test_a_value_that_is_not_in_the_picklist_is_answered_with_those_that_are(play: Play) -> None:
    play.stage.update(disqualification_reason="no such reason")
    play.stage.run()
    mutation = proves(play.stage, Status.REJECTED, Reason.REFUSES_THIS, answers=(REFUSES_THIS,), effects=0)
    assert "no_budget" in refused(mutation, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
