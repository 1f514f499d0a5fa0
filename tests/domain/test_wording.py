"""What people are told about a question: sentences of this case, in its words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadproof.domain.attribution import IN_OUR_WRITE
from leadproof.domain.decision_words import MOST_OF_A_VALUE, what_it_does
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision, allowed_decisions
from leadproof.domain.wording import (
    author,
    event_in_words,
    lasting,
    lead_in_words,
    reason_in_words,
    status_in_words,
    value_in_words,
)
from tests.support.ledgers import a_lead_event, a_mutation

OWNERS = {"501": "dana", "502": "kofi"}


def mutation(status: Status, reason: Reason | None = None, **changes: Any) -> Mutation:
    fields = changes.pop("fields", {"owner": "502", "lead_status": "OPEN"})
    observed = changes.pop("observed", None)
    made = a_mutation(a_lead_event("101"), fields=fields, provider_record_id="9101", **changes)
    state = {"fields": observed} if observed is not None else None
    return made.model_copy(update={"status": status, "reason": reason, "observed_state": state})


def differing(by: str | None = "person:501", **more: Any) -> tuple[Difference, ...]:
    return (Difference(field="owner", intended="502", observed="501", changed_by=by, **more),)


DIVERGENT = mutation(
    Status.DIVERGENT,
    Reason.CHANGED_BEFORE_WRITE,
    differences=differing(),
    observed={"owner": "501", "lead_status": "OPEN"},
)
UNSEEN = mutation(
    Status.DIVERGENT,
    Reason.OVERWROTE_UNSEEN_EDIT,
    differences=(
        Difference(field="owner", intended="502", observed="502", lost="501", changed_by="person:501"),
        Difference(field="lead_status", intended="OPEN", observed="NEW", changed_by="automation:7"),
    ),
    observed={"owner": "502", "lead_status": "NEW"},
)


@pytest.mark.parametrize(
    ("about", "decision", "sentence"),
    [
        (
            mutation(Status.RESERVED, Reason.NEEDS_APPROVAL),
            "approve",
            "Write owner = kofi, lead status = OPEN to hubspot contact 9101"
            ", after one more look that nobody changed it",
        ),
        (
            mutation(Status.RESERVED, Reason.NEEDS_APPROVAL),
            "abandon",
            "Decline it; nothing is written; counted as given up",
        ),
        (
            mutation(Status.REJECTED, Reason.REFUSES_THIS),
            "retry",
            "Read the record again, and send once more: owner = kofi, lead status = OPEN",
        ),
        (DIVERGENT, "accept", "Keep Dana's change (owner); nothing is written; counted as settled"),
        (DIVERGENT, "overwrite", "Write owner = kofi over what stands (now: dana)"),
        (DIVERGENT, "abandon", "Give it up; nothing more is written; counted as given up"),
        (UNSEEN, "accept", "Keep what we wrote; Dana's change stays replaced; nothing is written; counted as settled"),
        (UNSEEN, "overwrite", "Write lead status = OPEN over what stands (now: NEW)"),
        (UNSEEN, "restore", "Put back Dana's change: owner = dana over what stands (now: kofi)"),
        (
            mutation(Status.UNCERTAIN),
            "abandon",
            "Give it up; nothing more is written; whether the earlier write arrived stays unknown; counted as given up",
        ),
        (
            mutation(Status.DIVERGENT, Reason.REMOVED),
            "accept",
            "Leave the record removed; nothing is written; counted as settled",
        ),
        (
            mutation(Status.DIVERGENT, Reason.MERGED, observed={"owner": "501"}, fields={"owner": "502"}),
            "accept",
            "Leave the merged record as it is; nothing is written; counted as settled",
        ),
        (
            mutation(Status.DIVERGENT, differences=differing("automation:7")),
            "accept",
            "Keep the change by automation (7) (owner); nothing is written; counted as settled",
        ),
        (
            mutation(Status.DIVERGENT, differences=differing(None)),
            "accept",
            "Keep what stands there (owner); nothing is written; counted as settled",
        ),
        (mutation(Status.DIVERGENT), "accept", "Keep the record as it stands; nothing is written; counted as settled"),
        (
            mutation(Status.DIVERGENT, fields={"owner": "502"}, observed={"owner": "502"}),
            "overwrite",
            "Send owner = kofi once more, though it stands so already; accept settles it without a write",
        ),
        (
            mutation(Status.DIVERGENT, fields={"owner": "502"}, observed={}),
            "overwrite",
            "Write owner = kofi over what stands",
        ),
    ],
)
def test_each_decision_says_what_it_does(about: Mutation, decision: str, sentence: str) -> None:
    assert what_it_does(about, [decision], owners=OWNERS) == {Decision(decision): sentence}


def test_what_is_to_be_made_is_not_written_to() -> None:
    new = a_mutation(a_lead_event("101"), action=ActionKind.CREATE, fields={"owner": "502"})
    (said,) = what_it_does(new, ["approve"], owners=OWNERS).values()
    assert said == "Make the contact in hubspot with owner = kofi, after one more look that nobody changed it"
    found = new.model_copy(update={"provider_record_id": "77"})
    (said,) = what_it_does(found, ["approve"], owners=OWNERS).values()
    assert said.startswith("Write owner = kofi to hubspot contact 77")


@pytest.mark.parametrize(
    ("number", "skipped"),
    [
        (0, ""),
        (1, ", and 1 write that depends on it is skipped"),
        (2, ", and 2 writes that depend on it are skipped"),
    ],
)
def test_what_depends_on_it_is_told_where_it_is_skipped(number: int, skipped: str) -> None:
    said = what_it_does(DIVERGENT, ["accept", "overwrite", "abandon"], owners=OWNERS, dependents=number)
    assert said[Decision.ACCEPT].endswith(f"nothing is written; counted as settled{skipped}")
    assert said[Decision.ABANDON].endswith(f"nothing more is written; counted as given up{skipped}")
    assert "skipped" not in said[Decision.OVERWRITE]


def test_two_writes_are_told() -> None:
    said = what_it_does(DIVERGENT, ["overwrite"], owners=OWNERS, stage_first=[Decision.OVERWRITE])
    assert said[Decision.OVERWRITE].endswith("it is emptied first, which makes two writes")


def test_a_question_about_an_event_and_one_that_nothing_is_kept_of() -> None:
    assert what_it_does(None, ["plan_again", "abandon"]) == {
        Decision.ABANDON: "Give the lead up; nothing more is written for it",
        Decision.PLAN_AGAIN: "Read the lead again and plan it from the beginning",
    }
    (again,) = what_it_does(None, ["plan_again"], planned=True).values()
    assert again == "Read the lead again and go on with the plan that is recorded"
    empty = DIVERGENT.model_copy(update={"intended_state": None, "observed_state": None, "differences": ()})
    assert set(what_it_does(empty, ["accept", "abandon"])) == {Decision.ACCEPT, Decision.ABANDON}


@settings(max_examples=25)
@given(
    status=st.sampled_from(Status),
    reason=st.sampled_from([None, *Reason]),
    absent=st.booleans(),
    value=st.text(max_size=300) | st.none() | st.booleans() | st.lists(st.text(max_size=5)),
    observed=st.none() | st.dictionaries(st.sampled_from(["owner", "lead_status"]), st.text(max_size=300)),
    by=st.none() | st.text(max_size=20),
)
def test_every_question_is_told_for_every_decision_that_it_allows(
    status: Status, reason: Reason | None, absent: bool, value: Any, observed: Any, by: str | None
) -> None:
    allowed = allowed_decisions(status=status, reason=reason, absence_established=absent)
    about = mutation(status, reason, fields={"owner": value}, observed=observed, differences=differing(by, lost=value))
    said = what_it_does(about, allowed, owners=OWNERS)
    assert set(said) == allowed
    assert all(text and not text.endswith(".") for text in said.values())
    longest = 2 * MOST_OF_A_VALUE + len(by or "") + 200
    assert all(len(text) <= longest for text in said.values())


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("person:501", "Dana"),
        ("person:9003", "person 9003"),
        ("automation:7", "automation (7)"),
        ("automation", "automation"),
        (IN_OUR_WRITE, "automation, in our own write"),
        ("integration:5", "another integration (5)"),
        ("integration", "another integration"),
        ("us", "us"),
        (None, "unknown"),
    ],
)
def test_who_changed_a_value(by: str | None, told: str) -> None:
    assert author(by, OWNERS) == told


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("owner", "502", "kofi"),
        ("owner", "999", "999"),
        ("lead_status", "502", "502"),
        ("owner", None, "(empty)"),
        ("title", "", "(empty)"),
        ("email_opt_out", True, "yes"),
        ("email_opt_out", False, "no"),
        ("topics", ["a", "b"], "a, b"),
    ],
)
def test_a_value(field: str, value: Any, told: str) -> None:
    assert value_in_words(field, value, OWNERS) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 min"),
        (3599, "59 min"),
        (-7200, "2 h"),
        (86_399, "23 h"),
        (86_400, "1 day"),
        (200_000, "2 days"),
    ],
)
def test_a_span_of_time(seconds: int, told: str) -> None:
    assert lasting(timedelta(seconds=seconds)) == told


def test_reasons_and_statuses() -> None:
    assert reason_in_words("needs_approval") == "needs approval"
    assert reason_in_words("something_new") == "something new"
    assert all(status_in_words(mutation(status)) for status in Status)
    assert status_in_words(DIVERGENT) == "the record differs (changed before the write)"


def test_a_lead_in_a_few_words() -> None:
    assert lead_in_words({"first_name": "Mira", "last_name": "Novak", "company": "Acme"}) == "Mira Novak, Acme"
    assert lead_in_words({"email": "a@example.com", "phone": "1"}) == "a@example.com"
    assert lead_in_words({"phone": "1"}) == "1"
    assert lead_in_words({}) is None


@pytest.mark.parametrize(
    ("kind", "changed", "words"),
    [
        ("contact.creation", None, "contact created"),
        ("contact.propertyChange", "company", "company set"),
        ("contact.propertyChange", "hs_lead_status", "hs lead status set"),
        ("lead.saved", None, "lead saved"),
        ("form.submitted", None, "form submitted"),
        ("signup", None, "signup"),
    ],
)
def test_an_event_says_what_happened(kind: str, changed: str | None, words: str) -> None:
    assert event_in_words(kind, changed) == words
