from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedDecision
from leadproof.domain.mutation import Answer, AnswerClass, Reason, Status
from leadproof.domain.review import (
    Decision,
    ReviewDecision,
    allowed_decisions,
    parse_decision,
    possible,
    refusal,
    why_asked,
)

SENT: dict[str, Any] = {"review_id": "r1", "version": 2, "decision": "approve", "reason": "fine", "reviewer": "dana"}


def refused(*sent: Any) -> str:
    with pytest.raises(MalformedDecision) as caught:
        parse_decision(sent)
    return str(caught.value)


def test_a_decision_is_read() -> None:
    decision = parse_decision([{**SENT, "decision_id": "d1", "shown_digest": "abc", "proof": "ffff"}])

    assert decision == ReviewDecision(
        decision_id="d1",
        review_id="r1",
        version=2,
        decision=Decision.APPROVE,
        reason="fine",
        reviewer="dana",
        shown_digest="abc",
    )


@pytest.mark.parametrize("given_id", [{}, {"decision_id": None}, {"decision_id": ""}])
def test_a_decision_typed_by_hand_is_known_by_what_it_says(given_id: dict[str, Any]) -> None:
    canonical = '["decision/1",{"decision":"approve","reason":"fine","review_id":"r1","reviewer":"dana","version":2}]'

    decision = parse_decision([{**SENT, **given_id, "proof": "not part of what it says"}])

    assert decision.decision_id == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ((), "one object, 0 were sent"),
        ((SENT, SENT), "one object, 2 were sent"),
        (("approve",), "an object, not str"),
        ((None,), "an object, not NoneType"),
        (([SENT],), "an object, not list"),
        (({},), "decision, review_id, version"),
        (({**SENT, "version": 0},), "wrong: version"),
        (({**SENT, "version": 10**40, "decision_id": "d"},), "wrong: version"),
        (({**SENT, "decision": "destroy"},), "wrong: decision"),
        (({**SENT, "decision_id": 5},), "wrong: decision_id"),
        (({**SENT, "decision_id": "x" * 201},), "wrong: decision_id"),
        (({**SENT, "reason": "a\x00b"},), "wrong: reason"),
        (({**SENT, "reviewer": "\ud800", "decision_id": "d"},), "wrong: reviewer"),
        (({**SENT, "reviewer": "\ud800"},), "cannot be read as JSON"),
        (({**SENT, "reason": object()},), "cannot be read as JSON"),
        (({**SENT, "version": float("nan")},), "cannot be read as JSON"),
        ((dict([*SENT.items(), (5, 6)]),), "names are texts"),
    ],
)
def test_what_is_no_decision_says_why(sent: tuple[Any, ...], says: str) -> None:
    assert says in refused(*sent)


def test_what_was_sent_is_not_repeated() -> None:
    why = refused({**SENT, "dana@example.com": 1, "decision": "kofi@example.com", "decision_id": "d"})

    assert why == (
        "missing or wrong: decision, a field that a decision does not have; "
        "a decision is one of approve, retry, accept, overwrite, restore, abandon, plan_again"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = (
    st.binary(max_size=4)
    | st.complex_numbers()
    | st.dates()
    | st.frozensets(st.integers(), max_size=2)
    | st.builds(object)
    | st.just(ReviewDecision)
    | st.just(10**5000)
    | st.just("\ud800")
)
NAMES = st.sampled_from([*ReviewDecision.model_fields, "proof", "self", "data"]) | st.text(max_size=4) | st.integers()
NEARLY = st.dictionaries(NAMES, JSON | OBJECTS | st.sampled_from(Decision), max_size=8)


def _endless() -> dict[str, Any]:
    body: dict[str, Any] = dict(SENT)
    body["reason"] = body
    return body


@given(st.lists(JSON | OBJECTS | NEARLY | NEARLY.map(lambda more: {**SENT, **more}), min_size=1, max_size=2))
@example([_endless()])
@example([{**SENT, "decision_id": _endless()}])
def test_nothing_that_is_sent_raises_anything_else(sent: list[Any]) -> None:
    try:
        decision = parse_decision(sent)
    except MalformedDecision as malformed:
        assert len(str(malformed)) < 300  # noqa: PT017
    else:
        assert decision.decision_id


ABSENCE = {"absence_established": True}
FIXED = {Decision.ACCEPT, Decision.ABANDON}


@pytest.mark.parametrize(
    ("status", "reason", "more", "allowed"),
    [
        (None, Reason.PLANNER, {}, {Decision.PLAN_AGAIN, Decision.ABANDON}),
        (Status.RESERVED, Reason.NEEDS_APPROVAL, {}, {Decision.APPROVE, Decision.ABANDON}),
        (Status.RESERVED, Reason.WAITS, {}, {Decision.ABANDON}),
        (Status.RESERVED, Reason.APPROVED, {}, set()),
        (Status.RESERVED, None, {}, set()),
        (Status.SUBMITTED, None, ABSENCE, set()),
        (Status.UNCERTAIN, None, {}, {Decision.ABANDON}),
        (Status.UNCERTAIN, None, ABSENCE, {Decision.RETRY, Decision.ABANDON}),
        (Status.REJECTED, Reason.REFUSES_THIS, {}, {Decision.RETRY, Decision.ABANDON}),
        (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, {}, {*FIXED, Decision.OVERWRITE}),
        (Status.DIVERGENT, Reason.MERGED, {}, {*FIXED, Decision.OVERWRITE}),
        (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT, {}, {*FIXED, Decision.OVERWRITE, Decision.RESTORE}),
        (Status.DIVERGENT, Reason.REMOVED, {}, FIXED),
        (Status.DIVERGENT, Reason.SEVERAL, {}, FIXED),
        (Status.OBSERVED, None, ABSENCE, set()),
        (Status.SUPERSEDED, None, {}, set()),
        (Status.ABANDONED, Reason.DECLINED, {}, set()),
    ],
)
def test_which_decisions_a_question_allows(
    status: Status | None, reason: Reason | None, more: dict[str, bool], allowed: set[Decision]
) -> None:
    assert allowed_decisions(status=status, reason=reason, **more) == allowed


def test_every_reason_for_a_question_is_told_in_a_sentence() -> None:
    never_asked = {Reason.APPROVED, Reason.DEPENDS, Reason.RETRY, Reason.DECLINED, Reason.DEPENDENCY}
    never_asked |= {Reason.ERASED, Reason.SHADOW, Reason.NEWER_EVENT, Reason.ALREADY_SO}
    assert {reason for reason in Reason if why_asked(reason) is None} == never_asked
    for status in ("uncertain", "divergent", "rejected"):
        assert why_asked(status)


def test_an_approval_is_asked_for_in_the_words_of_the_policy() -> None:
    assert why_asked(Reason.NEEDS_APPROVAL, "a big account") == "a big account"
    assert why_asked(Reason.NEEDS_APPROVAL) == "the policy wants a person to approve it"
    assert why_asked(Reason.MERGED, "a big account") == "the record was merged into another one"


@pytest.mark.parametrize(
    ("http_status", "code", "detail", "told"),
    [
        (
            400,
            "REQUIRED_FIELD_MISSING",
            "Company",
            "crm refused this write, and the record is unchanged: REQUIRED_FIELD_MISSING, Company",
        ),
        (
            400,
            "DUPLICATES_DETECTED",
            "DUPLICATES_DETECTED: the rule matched 003",
            "crm refused this write, and the record is unchanged: DUPLICATES_DETECTED: the rule matched 003",
        ),
        (400, None, None, "crm refused this write, and the record is unchanged: it did not say why"),
        (
            None,
            "REQUIRED_FIELD_MISSING",
            "nothing was sent: Lead needs Company",
            "crm would refuse this write, and nothing was sent: REQUIRED_FIELD_MISSING, Lead needs Company",
        ),
    ],
)
def test_a_refusal_says_what_was_refused_and_whether_anybody_was_asked(
    http_status: int | None, code: str | None, detail: str | None, told: str
) -> None:
    answer = Answer(outcome=AnswerClass.REFUSES_THIS, http_status=http_status, code=code, detail=detail)
    refused = refusal("crm", answer)
    assert refused == told
    assert why_asked(Reason.REFUSES_THIS, "a big account", refused) == told
    assert why_asked(Reason.REMOVED, None, refused) == why_asked(Reason.REMOVED)


@pytest.mark.parametrize("outcome", [one for one in AnswerClass if one is not AnswerClass.REFUSES_THIS])
def test_any_other_answer_is_no_refusal(outcome: AnswerClass) -> None:
    assert refusal("crm", Answer(outcome=outcome, http_status=403, code="INVALID_SESSION_ID")) is None
    assert refusal("crm", None) is None


def test_what_is_possible_is_told_in_one_order() -> None:
    assert possible({Decision.ABANDON, Decision.APPROVE}) == possible(["abandon", "approve"])
    assert possible({Decision.ABANDON, Decision.APPROVE}) == "possible: approve, abandon"
    assert possible(()) == "possible: nothing at present"
