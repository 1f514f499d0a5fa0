"""What a soak does is data, the same for the same seed, and its policy covers what it breaks."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from leadproof.domain.policy_text import parse_policy
from sandbox.faults import ANSWER_KINDS, COMPANION_KINDS
from soak import policy
from soak.fault_decks import CALL_SECONDS, DECKS, LATEST_APPLY_SECONDS
from soak.reviewer import chosen
from soak.schedule import SECONDS_A_LEAD, scheduled

SEEDS, SIZES = st.integers(0, 10_000), st.integers(1, 60)


@given(SEEDS, SIZES)
@settings(max_examples=20)
def test_the_same_seed_is_the_same_schedule(seed: int, leads: int) -> None:
    assert scheduled(seed, leads) == scheduled(seed, leads)


def test_another_seed_is_another_schedule() -> None:
    assert scheduled(1, 40) != scheduled(2, 40)


@given(SEEDS, SIZES)
@settings(max_examples=20)
def test_every_lead_is_told_of_and_is_a_lead_of_its_own(seed: int, leads: int) -> None:
    schedule = scheduled(seed, leads)
    assert [lead.number for lead in schedule.leads] == list(range(1, leads + 1))
    assert len({lead.email for lead in schedule.leads}) == leads
    assert all(lead.copies and lead.copies[0] == 0 for lead in schedule.leads)


def test_five_hundred_leads_meet_every_fault_of_every_kind() -> None:
    schedule = scheduled(7, 500)
    for kind, deck in DECKS.items():
        met = [fault for lead in schedule.leads if lead.kind == kind for fault in lead.faults]
        assert all(fault in met for fault in deck), kind
    assert {fault.kind for lead in schedule.leads for fault in lead.faults} == {*ANSWER_KINDS, *COMPANION_KINDS}
    assert Counter(kill.process for kill in schedule.kills) == {"worker": 3, "starter": 3}


def test_no_worker_is_killed_so_late_that_its_plans_come_after_the_limit() -> None:
    schedule = scheduled(1, 500)
    latest = max(kill.at_seconds for kill in schedule.kills if kill.process == "worker")
    assert latest <= 500 * SECONDS_A_LEAD / 2


def test_the_policy_covers_what_is_applied_later() -> None:
    said = parse_policy(policy.text())
    for target in said.targets.values():
        assert target.apply_lag_seconds > LATEST_APPLY_SECONDS
        assert target.call_timeout_seconds == CALL_SECONDS
        assert target.quiescence.total_seconds() == policy.QUIESCENCE_SECONDS


def test_a_question_is_answered_the_same_way_again_and_only_as_allowed() -> None:
    questions = [
        {"reason": reason, "round": number, "allowed": ["abandon", "retry"]}
        for reason in ("uncertain", "refuses_this")
        for number in (1, 2, 3)
    ]
    answers = [chosen(seed, "5", question) for seed in range(40) for question in questions]
    assert answers == [chosen(seed, "5", question) for seed in range(40) for question in questions]
    assert set(answers) == {"abandon", "retry", None}


def test_a_question_is_not_answered_for_ever() -> None:
    asked_again = {"reason": "refuses_this", "round": 4, "allowed": ["abandon", "retry"]}
    assert {chosen(seed, "5", asked_again) for seed in range(40)} == {None}
    nothing_possible = {"reason": "uncertain", "round": 1, "allowed": []}
    assert {chosen(seed, "5", nothing_possible) for seed in range(40)} == {None}
