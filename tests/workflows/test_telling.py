"""What Temporal's UI is given to show: a story in names, never a value."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from activities.messages import LeadView
from leadproof.domain.differing import FieldDifference, Way
from leadproof.domain.errors import MalformedDecision
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.progress import MutationView, Step, StepKind
from leadproof.domain.review import Decision, ReviewItem, ReviewState, parse_decision
from workflows.telling import awaited, details

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGE = "https://leads.example/review"
LONGEST_ADDRESS = 8_000
"""The UI asks for details as a part of an address, and what stands before it may refuse a longer one (nginx: 8 kB)."""

LEAD = LeadView(
    event_key="e" * 64,
    tenant="acme",
    environment="production",
    source_system="hubspot",
    event_kind="contact.creation",
    occurred_at=NOW,
    policy_version="7",
    outcome=Outcome.REVIEW,
    run=0,
    workflow_id=f"lead:{'e' * 64}",
    first_seen_at=NOW,
    last_seen_at=NOW,
)


def an_item(**more: object) -> ReviewItem:
    return ReviewItem.model_validate(
        {
            "review_id": "a" * 64,
            "subject": "b" * 64,
            "event_key": LEAD.event_key,
            "mutation_key": "b" * 64,
            "round": 1,
            "reason": "divergent",
            "queue": "default",
            "state": ReviewState.OPEN,
            "opened_at": NOW,
            "due_at": NOW + timedelta(hours=4),
            **more,
        }
    )


def a_view(**more: object) -> MutationView:
    return MutationView.model_validate(
        {
            "mutation_key": "b" * 64,
            "ordinal": 0,
            "action_kind": "qualify",
            "target_system": "hubspot",
            "target_object": "contact",
            "status": Status.DIVERGENT,
            "version": 3,
            "attempts": 1,
            "provider_record_id": "102",
            "answer": "accepted",
            "http_status": 200,
            "fields": ("owner",),
            "step": Step(kind=StepKind.PERSON),
            "updated_at": NOW,
            **more,
        }
    )


def told(*views: MutationView, asked: ReviewItem | None = None, page: str | None = PAGE) -> str:
    text = details(LEAD, Outcome.REVIEW, views, asked, review_page=page)
    return text.replace("\N{NO-BREAK SPACE}", "")


@pytest.mark.parametrize("decision", Decision)
def test_each_decision_says_in_one_sentence_what_it_does(decision: Decision) -> None:
    text = told(a_view(review=an_item(), allowed=(decision,)))
    (line,) = [line for line in text.splitlines() if line.startswith("- `")]
    assert line.startswith(f"- `{decision}`: ")
    assert '"decision": "CHOOSE ONE"' in text  # sent as it stands it would be read as no decision


def test_what_is_ready_to_be_copied_decides_nothing_before_somebody_has_chosen() -> None:
    text = told(a_view(review=an_item(), allowed=(Decision.ABANDON,)))
    ready = json.loads(text.partition("```json")[2].partition("```")[0])
    with pytest.raises(MalformedDecision, match="one of approve, retry, accept"):
        parse_decision([ready])
    assert parse_decision([{**ready, "decision": "abandon"}]).decision is Decision.ABANDON


@pytest.mark.parametrize("way", Way)
def test_each_difference_says_how_who_and_when(way: Way) -> None:
    one = FieldDifference(field="owner", way=way, changed_by="automation:7", changed_at=NOW)
    row = next(line for line in told(a_view(review=an_item(), differences=(one,))).splitlines() if "|owner|" in line)
    field, how, who, when = row.strip("|").split("|")
    assert (field, who, when) == ("owner", "automation (7)", "2026-03-01 12:00 UTC")
    assert how == {Way.OTHER: "changed by automation"}.get(way, how)
    assert how != way


def test_a_difference_of_which_nobody_knows_more_says_so() -> None:
    text = told(a_view(review=an_item(), differences=(FieldDifference(field="owner", way=Way.OTHER),)))
    assert "|owner|our value is not there: another stands|unknown|-|" in text


def test_the_question_has_its_page_its_due_time_and_the_end_of_its_window() -> None:
    item = an_item(expires_at=NOW + timedelta(hours=48))
    text = told(a_view(review=item))
    assert f"[Answer it on the review page]({PAGE}/{item.review_id})" in text
    assert "due 2026-03-01 16:00 UTC, given up 2026-03-03 12:00 UTC if nobody decides" in text
    assert "review page" not in told(a_view(review=an_item()), page=None)


def test_what_an_effect_waits_for_stands_beside_its_receipts() -> None:
    waits = {
        "a person's decision": Step(kind=StepKind.PERSON),
        "read back at 2026-03-01 12:00 UTC": Step(kind=StepKind.LOOK, at=NOW),
        "waits: another effect holds the record, asked for again at 2026-03-01 12:00 UTC": Step(
            kind=StepKind.WAITS, at=NOW
        ),
        "waits for an effect before it": Step(kind=StepKind.DEPENDS),
    }
    for says, step in waits.items():
        row = next(line for line in told(a_view(step=step, attempts=2)).splitlines() if "qualify" in line)
        assert row.endswith(f"|accepted (200), attempt 2|-|{says}|")


def test_a_text_cannot_break_the_table_and_a_question_about_the_event_asks_for_its_answer_first() -> None:
    asked = an_item(mutation_key=None, subject=LEAD.event_key, reason="source_down")
    text = told(a_view(status=Status.RESERVED, reason=Reason.WAITS, target_object="a|b"), asked=asked)
    row = next(line for line in text.splitlines() if "a/b" in line)
    assert row.count("|") == 6
    assert row.endswith("|the answer about this lead|")
    assert [line[3 : line.index("`", 3)] for line in text.splitlines() if line.startswith("- `")] == [
        "abandon",
        "plan_again",
    ]


def test_details_of_a_lead_with_many_effects_and_differences_still_go_into_an_address() -> None:
    differences = tuple(FieldDifference(field=f"a_custom_field_{n}", way=Way.LOST) for n in range(8))
    views = [a_view(mutation_key=f"{n:064}", ordinal=n, status=Status.OBSERVED) for n in range(8)]
    text = told(*views, a_view(review=an_item(), differences=differences))
    assert len(quote(text)) < LONGEST_ADDRESS


def test_a_timer_says_what_it_is_for() -> None:
    later = NOW + timedelta(seconds=5)
    looks = a_view(status=Status.SUBMITTED, step=Step(kind=StepKind.LOOK, at=later))
    waits = a_view(status=Status.RESERVED, step=Step(kind=StepKind.WAITS, at=NOW))
    assert awaited([waits, looks], later, None) == "until the next look at hubspot contact 102"
    assert awaited([waits, looks], NOW, None).startswith("until it is asked again whether another effect still holds")
    assert awaited([looks], NOW, NOW) == "until an earlier request can arrive no more and the decision is applied"
    assert awaited([looks], NOW, None) == "until the end of the question's window"
