"""What a look-up can say, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.observing import LONGEST_WAIT
from leadproof.domain.reconciliation import Finding, Next
from leadproof.domain.records import LookUp, Presence
from tests.domain.looks import (
    BASE,
    INTENT,
    KEY,
    OTHER_KEY,
    OURS,
    TARGET,
    THEIRS,
    a_mutation,
    a_record,
    an_attempt,
    at,
    finding,
    one,
    written,
)

ACCEPTED, UNCERTAIN = an_attempt(AnswerClass.ACCEPTED), an_attempt(AnswerClass.UNCERTAIN)
OPEN = an_attempt(None)
QUIET = TARGET.send_within_seconds + TARGET.quiescence.total_seconds()
TWICE = QUIET + 2  # it was looked at when it was quiet, and is now
WINDOW = TARGET.observation_window_seconds + 1
ABSENT, REMOVED = LookUp(presence=Presence.ABSENT), LookUp(presence=Presence.REMOVED, record_ids=("601",))
SEVERAL = LookUp(presence=Presence.SEVERAL, record_ids=("601", "602"))
UNKNOWN = LookUp(presence=Presence.UNKNOWN, detail="a time-out")
REFUSED = LookUp(presence=Presence.UNKNOWN, detail="401", refuses_us=True)
AT_BASE = one(a_record(BASE))
CREATE = a_mutation(creates=True)


def said(found: Finding) -> tuple[Next, Status | None, Reason | None, str]:
    return found.next, found.status, found.reason, found.verdict


OBSERVED = (Next.SETTLED, Status.OBSERVED, None, "one")
ALREADY_SO = (Next.SETTLED, Status.OBSERVED, Reason.ALREADY_SO, "one")
AGAIN = (Next.READ_AGAIN, None, None, "unknown")
AGAIN_UNCERTAIN = (Next.READ_AGAIN, Status.UNCERTAIN, None, "unknown")
ASK_UNCERTAIN = (Next.ASK, Status.UNCERTAIN, None, "unknown")
ASK_ABSENT = (Next.ASK, Status.UNCERTAIN, None, "absent")
SEND = (Next.SEND_AGAIN, None, None, "absent")
SEND_UNCERTAIN = (Next.SEND_AGAIN, Status.UNCERTAIN, None, "absent")


def divergent(reason: Reason | None, verdict: str = "one") -> tuple[Next, Status | None, Reason | None, str]:
    return (Next.ASK, Status.DIVERGENT, reason, verdict)


CHANGED = divergent(Reason.CHANGED_BEFORE_WRITE)


# -- one: our marker, and the fields -----------------------------------------------------------------------------------
@pytest.mark.parametrize("attempt", [ACCEPTED, UNCERTAIN, OPEN])
def test_our_marker_and_every_field_is_observed(attempt: Attempt) -> None:
    assert said(finding(one(a_record(marker=KEY)), attempt)) == OBSERVED


def test_the_same_values_in_another_spelling_are_observed() -> None:
    assert said(finding(one(a_record({"owner": 501, "lead_status": " NEW "}, marker=KEY)), ACCEPTED)) == OBSERVED


def test_our_marker_in_the_history_alone_is_ours() -> None:
    record = a_record(marker=OTHER_KEY, history=written(1))
    assert said(finding(one(record), UNCERTAIN)) == OBSERVED


def test_the_marker_of_another_mutation_is_not_ours() -> None:
    record = a_record(marker=OTHER_KEY, history=written(1, marker=OTHER_KEY))
    assert said(finding(one(record), UNCERTAIN)) == AGAIN_UNCERTAIN


def test_a_person_who_changed_our_fields_afterwards_is_named() -> None:
    history = {**written(1), "owner": (*written(5, {"owner": "777"}, by="person:9")["owner"], *written(1)["owner"])}
    record = a_record({**INTENT, "owner": "777"}, marker=KEY, history=history)
    found = finding(one(record), ACCEPTED)
    assert said(found) == divergent(None)
    (difference,) = found.differences
    assert (difference.field, difference.intended, difference.observed) == ("owner", "501", "777")
    assert (difference.changed_by, difference.changed_at) == ("person:9", at(5))


def differing(fields: dict[str, Any], **record: Any) -> list[tuple[str, str | None, Any]]:
    found = finding(one(a_record({**INTENT, **fields}, marker=KEY, **record)), ACCEPTED)
    assert said(found) == divergent(None)
    return [(one.field, one.changed_by, one.changed_at) for one in found.differences]


def test_what_stands_in_our_own_write_and_was_not_intended_is_softwares() -> None:
    rewritten = {**INTENT, "owner": "600"}
    assert differing(rewritten, history=written(1, rewritten)) == [("owner", "automation:in_our_write", at(1))]
    after = {**written(1), "owner": (*written(1.5, {"owner": "600"})["owner"], *written(1)["owner"])}
    assert differing(rewritten, history=after) == [("owner", "automation:in_our_write", at(1.5))]


@pytest.mark.parametrize(
    ("seconds", "by", "marker"),
    [
        (1, "person:9", KEY),  # not ours, although in the same second
        (1, "automation:assignment_rule", KEY),  # the target names its rule itself
        (9, "us", KEY),  # ours, and not with this mutation's marker
        (1, "us", OTHER_KEY),  # another mutation's
    ],
)
def test_anybody_else_is_named_as_the_target_does(seconds: float, by: str, marker: str) -> None:
    history = {**written(1, marker=marker), "owner": written(seconds, {"owner": "600"}, by=by)["owner"]}
    assert differing({"owner": "600"}, history=history) == [("owner", by, at(seconds))]


def test_where_both_our_mutations_wrote_in_one_second_the_nearer_marker_says_whose_write_it_was() -> None:
    first, second = written(1), written(1.8, {"owner": "600"}, marker=OTHER_KEY)
    history = {name: (*second.get(name, ()), *first[name]) for name in first}
    assert differing({"owner": "600"}, history=history) == [("owner", "us", at(1.8))]


@pytest.mark.parametrize(("changed_by", "whose"), [("us", "automation:in_our_write"), ("person:9", None), (None, None)])
@pytest.mark.parametrize(
    "history", [{}, {"owner": ()}, {"owner": written(0.5, {"owner": "700"}, by="person:8")["owner"]}]
)
def test_without_a_version_of_the_field_the_record_has_to_say_that_nobody_came_after_us(
    changed_by: str | None, whose: str | None, history: dict[str, Any]
) -> None:
    found = differing({"owner": "600"}, history=history, changed_by=changed_by, changed_at=at(1))
    assert found == [("owner", whose, at(1) if whose else None)]


def test_a_record_that_another_effect_of_ours_marked_since_says_nothing_of_a_field_without_versions() -> None:
    marks = written(1, {})
    record = a_record({**INTENT, "owner": "600"}, marker=OTHER_KEY, history=marks, changed_by="us", changed_at=at(9))
    (difference,) = finding(one(record), ACCEPTED).differences
    assert difference.changed_by is None


def test_fields_that_are_not_returned_are_asked_for_again() -> None:
    record = one(a_record({"owner": "501"}, marker=KEY))
    assert said(finding(record, ACCEPTED)) == AGAIN
    found = finding(record, ACCEPTED, now=WINDOW)
    assert said(found) == ASK_UNCERTAIN
    assert [(d.field, d.returned) for d in found.differences] == [("lead_status", False)]


def test_a_field_that_differs_counts_although_another_was_not_returned() -> None:
    assert said(finding(one(a_record({"owner": "777"}, marker=KEY)), ACCEPTED)) == divergent(None)


# -- already so --------------------------------------------------------------------------------------------------------
def test_before_anything_was_sent_equal_without_our_marker_is_already_so() -> None:
    assert said(finding(one(a_record()))) == ALREADY_SO


def test_after_a_send_equal_without_our_marker_is_already_so_once_nothing_of_ours_can_show() -> None:
    assert said(finding(one(a_record()), UNCERTAIN)) == AGAIN_UNCERTAIN
    assert said(finding(one(a_record()), UNCERTAIN, now=WINDOW)) == ALREADY_SO


# -- the late write: quiescence before absence -------------------------------------------------------------------------
@pytest.mark.parametrize("attempt", [UNCERTAIN, OPEN])
@pytest.mark.parametrize(("found", "mutation"), [(AT_BASE, None), (ABSENT, CREATE)])
def test_nothing_is_absent_before_an_unanswered_attempt_is_quiet(
    attempt: Attempt, found: LookUp, mutation: Mutation | None
) -> None:
    early = finding(found, attempt, mutation=mutation, now=QUIET - 0.001)
    assert said(early) == AGAIN_UNCERTAIN
    assert early.at is not None
    assert said(finding(found, attempt, mutation=mutation, now=TWICE)) == SEND_UNCERTAIN


@pytest.mark.parametrize("seconds", [QUIET, TWICE])
def test_one_look_at_what_was_not_answered_may_be_stale_also_when_it_is_quiet(seconds: float) -> None:
    only = finding(AT_BASE, UNCERTAIN, now=seconds, looked=[20, 39])
    assert (said(only), only.at) == (AGAIN_UNCERTAIN, at(seconds + 8))
    assert said(finding(AT_BASE, UNCERTAIN, now=seconds + 8, looked=[20, 39, seconds])) == SEND_UNCERTAIN


def test_a_look_that_was_not_answered_is_not_the_second_one() -> None:
    assert said(finding(AT_BASE, UNCERTAIN, now=TWICE, looked=[20, 39], unseen=[QUIET])) == AGAIN_UNCERTAIN


def test_the_look_that_can_tell_comes_when_the_attempt_is_quiet() -> None:
    assert finding(AT_BASE, UNCERTAIN, now=QUIET - 1, looked=range(9)).at == at(QUIET)


def test_quiet_counts_from_the_last_moment_to_send_and_not_from_the_answer() -> None:
    quick = an_attempt(AnswerClass.UNCERTAIN, took=0.01)
    assert finding(AT_BASE, quick, now=QUIET - 1).next is Next.READ_AGAIN


def test_an_unanswered_attempt_before_the_last_one_must_be_quiet_as_well() -> None:
    late, second = an_attempt(AnswerClass.UNCERTAIN, 1, started=50), an_attempt(AnswerClass.NOT_SENT, 2, started=0)
    assert finding(AT_BASE, late, second, now=50 + QUIET - 1).next is Next.READ_AGAIN
    assert finding(AT_BASE, late, second, now=60 + TWICE).next is Next.SEND_AGAIN


def test_after_as_many_unanswered_attempts_as_the_policy_allows_a_person_is_asked() -> None:
    attempts = [an_attempt(AnswerClass.UNCERTAIN, n + 1, started=n * 60) for n in range(TARGET.max_attempts)]
    now = 60 * (TARGET.max_attempts - 1) + TWICE
    asked = finding(AT_BASE, *attempts, now=now)
    assert said(asked) == ASK_ABSENT
    assert asked.at is not None
    assert said(finding(AT_BASE, *attempts[1:], now=now)) == SEND_UNCERTAIN
    decided = a_mutation(status=Status.UNCERTAIN, reason=Reason.RETRY)
    assert said(finding(AT_BASE, *attempts, mutation=decided, now=now)) == (
        Next.SEND_AGAIN,
        Status.UNCERTAIN,
        Reason.RETRY,
        "absent",
    )


@pytest.mark.parametrize("outcome", [AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED])
def test_what_was_provably_not_applied_is_absent_at_once(outcome: AnswerClass) -> None:
    assert said(finding(AT_BASE, an_attempt(outcome))) == SEND


# -- accepted, and not there -------------------------------------------------------------------------------------------
def test_a_stale_read_after_an_accepted_write_is_read_again_within_the_window() -> None:
    first = finding(AT_BASE, ACCEPTED)
    assert said(first) == AGAIN
    assert first.at == at(2 + TARGET.read_spacing_seconds)
    second = finding(AT_BASE, ACCEPTED, now=4, looked=[2])
    assert second.at == at(4 + 2 * TARGET.read_spacing_seconds)
    assert finding(AT_BASE, ACCEPTED, now=100, looked=range(20, 100, 4)).at == at(
        100 + TARGET.observation_window_seconds / 5
    )


def test_a_stale_read_of_other_values_after_an_accepted_write_is_read_again_too() -> None:
    assert said(finding(one(a_record({"owner": "777", "lead_status": "OPEN"})), ACCEPTED)) == AGAIN


def test_an_accepted_update_that_never_shows_is_for_a_person_who_may_send_it_again() -> None:
    asked = finding(AT_BASE, ACCEPTED, now=WINDOW)
    assert said(asked) == ASK_ABSENT
    assert asked.at is not None
    decided = a_mutation(status=Status.UNCERTAIN, reason=Reason.RETRY)
    assert said(finding(AT_BASE, ACCEPTED, mutation=decided, now=WINDOW)) == (
        Next.SEND_AGAIN,
        None,
        Reason.RETRY,
        "absent",
    )


def test_the_window_never_closes_before_an_accepted_attempt_is_quiet() -> None:
    hasty = TARGET.model_copy(update={"observation_window_seconds": 5.0})
    assert finding(AT_BASE, ACCEPTED, now=QUIET - 1, target=hasty).next is Next.READ_AGAIN
    assert said(finding(AT_BASE, ACCEPTED, now=QUIET, target=hasty)) == ASK_ABSENT


@pytest.mark.parametrize("reason", [None, Reason.RETRY])
@pytest.mark.parametrize("record_id", [None, "602"])
def test_a_create_that_was_accepted_is_never_absent(reason: Reason | None, record_id: str | None) -> None:
    create = a_mutation(creates=True, record_id=record_id, reason=reason)
    accepted = an_attempt(AnswerClass.ACCEPTED, provider_record_id="602")
    assert said(finding(ABSENT, accepted, mutation=create)) == AGAIN
    asked = finding(ABSENT, accepted, mutation=create, now=10 * WINDOW)
    assert said(asked) == ASK_UNCERTAIN
    assert asked.at is not None


# -- the lost update ---------------------------------------------------------------------------------------------------
MOVED = one(a_record({**BASE, "owner": "777"}, history=written(0.5, {"owner": "777"}, marker="", by="person:9")))


def test_before_the_write_a_field_that_moved_stops_it() -> None:
    found = finding(MOVED)
    assert said(found) == CHANGED
    assert {d.field: (d.intended, d.observed, d.changed_by) for d in found.differences} == {
        "owner": ("501", "777", "person:9"),
        "lead_status": ("NEW", None, None),
    }


def test_an_unanswered_update_whose_fields_moved_is_told_after_quiescence() -> None:
    assert said(finding(MOVED, UNCERTAIN, now=QUIET - 1)) == AGAIN_UNCERTAIN
    assert said(finding(MOVED, UNCERTAIN, now=TWICE)) == CHANGED


def test_a_field_that_the_policy_names_for_the_check_counts() -> None:
    watched = a_mutation(compare_also=("email",), base={**BASE, "email": "old@example.com"})
    found = finding(one(a_record({**BASE, "email": "new@example.com"})), mutation=watched)
    assert said(found) == CHANGED
    assert ("email", "old@example.com", "new@example.com") in [
        (d.field, d.intended, d.observed) for d in found.differences
    ]


def test_any_other_field_may_move() -> None:
    assert said(finding(one(a_record({**BASE, "company": "Acme"})))) == SEND


def test_a_field_that_somebody_set_to_what_we_intend_is_told_with_what_we_intend() -> None:
    found = finding(one(a_record({**BASE, "owner": "501"})))
    assert said(found) == CHANGED
    assert {d.field: (d.intended, d.observed) for d in found.differences}["owner"] == ("501", "501")


def test_equality_with_the_intent_is_looked_at_before_the_base() -> None:
    moved_to_the_intent = a_mutation(base={"owner": "1", "lead_status": "OPEN"})
    assert said(finding(one(a_record()), mutation=moved_to_the_intent)) == ALREADY_SO


def test_a_base_field_that_is_not_returned_any_more_says_nothing() -> None:
    assert said(finding(one(a_record({"owner": None})), UNCERTAIN, now=QUIET)) == AGAIN_UNCERTAIN
    assert said(finding(one(a_record({"owner": None})), UNCERTAIN, now=WINDOW)) == ASK_UNCERTAIN


def test_an_earlier_effect_of_ours_explains_a_difference() -> None:
    history = written(1, {"owner": "777"}, marker=OTHER_KEY)
    record = one(a_record({**BASE, "owner": "777"}, marker=OTHER_KEY, history=history))
    assert said(finding(record, effects={OTHER_KEY: {"owner": "777"}})) == SEND
    assert said(finding(record, effects={OTHER_KEY: {"owner": "778"}})) == CHANGED
    assert said(finding(record, effects={OTHER_KEY: {"lead_status": "777"}})) == CHANGED


def test_a_record_that_an_earlier_effect_made_is_the_base_of_a_create() -> None:
    history = written(1, {"owner": "777"}, marker=OTHER_KEY)
    stands: dict[str, Any] = {"marker": OTHER_KEY, "record_id": "602", "external_id": OURS, "history": history}
    made = a_record({**BASE, "owner": "777"}, **stands)
    assert said(finding(one(made), mutation=CREATE, effects={OTHER_KEY: {"owner": "777"}})) == SEND
    assert said(finding(one(made), mutation=CREATE)) == CHANGED
    edited = a_record({"owner": "777", "lead_status": "OPEN"}, **stands)
    assert said(finding(one(edited), mutation=CREATE, effects={OTHER_KEY: {"owner": "777"}})) == CHANGED


# -- which record ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("attempts", [(), (ACCEPTED,), (UNCERTAIN,)])
def test_another_id_means_merged_although_every_field_is_equal_and_ours(attempts: tuple[Attempt, ...]) -> None:
    merged = a_record(marker=KEY, record_id="900", external_id=THEIRS)
    assert said(finding(one(merged), *attempts)) == divergent(Reason.MERGED)


def test_an_answer_that_names_another_record_means_merged() -> None:
    elsewhere = an_attempt(AnswerClass.ACCEPTED, provider_record_id="900")
    assert said(finding(one(a_record(marker=KEY)), elsewhere)) == divergent(Reason.MERGED)
    here = an_attempt(AnswerClass.ACCEPTED, provider_record_id="601")
    assert said(finding(one(a_record(marker=KEY)), here)) == OBSERVED


@pytest.mark.parametrize("mutation", [None, CREATE])
@pytest.mark.parametrize("attempts", [(), (UNCERTAIN,), (ACCEPTED,)])
def test_removed_and_several_are_for_a_person(attempts: tuple[Attempt, ...], mutation: Mutation | None) -> None:
    assert said(finding(REMOVED, *attempts, mutation=mutation)) == divergent(Reason.REMOVED, "removed")
    assert said(finding(SEVERAL, *attempts, mutation=mutation)) == divergent(Reason.SEVERAL, "several")


def test_a_record_that_is_nowhere_any_more_is_removed_once_the_window_has_passed() -> None:
    assert said(finding(ABSENT, ACCEPTED)) == AGAIN
    assert said(finding(ABSENT, UNCERTAIN)) == AGAIN_UNCERTAIN
    assert said(finding(ABSENT, ACCEPTED, now=WINDOW)) == divergent(Reason.REMOVED, "removed")


def test_a_record_that_the_check_does_not_find_is_looked_for_as_long_as_the_window_lasts() -> None:
    first = finding(ABSENT, now=50)
    assert (said(first), first.at) == (AGAIN, at(50 + TARGET.read_spacing_seconds))
    looked = [50, 52, 56, 64, 80, 112, 172, 232]
    last = finding(ABSENT, now=292, looked=looked)
    assert (said(last), last.at) == (AGAIN, at(292 + TARGET.observation_window_seconds / 5))
    assert said(finding(ABSENT, now=352, looked=[*looked, 292])) == divergent(Reason.REMOVED, "removed")
    assert said(finding(ABSENT, now=50 + WINDOW, looked=[50])) == AGAIN


@pytest.mark.parametrize("external_id", [None, THEIRS])
@pytest.mark.parametrize("fields", [BASE, INTENT])
def test_a_create_never_goes_to_a_record_that_is_not_linked_to_its_lead(
    external_id: str | None, fields: dict[str, Any]
) -> None:
    stands = one(a_record(fields, record_id="602", external_id=external_id))
    explained = {OTHER_KEY: dict(fields)}
    assert said(finding(stands, mutation=CREATE, effects=explained)) == CHANGED
    assert said(finding(stands, UNCERTAIN, mutation=CREATE, now=QUIET - 1)) == AGAIN_UNCERTAIN
    assert said(finding(stands, UNCERTAIN, mutation=CREATE, now=TWICE)) == CHANGED


@pytest.mark.parametrize("fields", [BASE, INTENT])
def test_a_record_that_meanwhile_carries_another_external_id_is_not_written(fields: dict[str, Any]) -> None:
    assert said(finding(one(a_record(fields, external_id=THEIRS)))) == CHANGED
    assert finding(one(a_record(BASE, external_id=OURS))).next is Next.SEND_AGAIN


# -- time in which nobody looked ---------------------------------------------------------------------------------------
LATE = 20 * WINDOW
ELSEWHERE = one(a_record({**BASE, "owner": "777"}))


@pytest.mark.parametrize(
    ("found", "mutation", "attempt", "at_last"),
    [
        (AT_BASE, None, ACCEPTED, ASK_ABSENT),
        (AT_BASE, None, UNCERTAIN, SEND_UNCERTAIN),
        (AT_BASE, None, OPEN, SEND_UNCERTAIN),
        (ABSENT, CREATE, UNCERTAIN, SEND_UNCERTAIN),
        (ABSENT, None, ACCEPTED, divergent(Reason.REMOVED, "removed")),
        (ABSENT, None, UNCERTAIN, divergent(Reason.REMOVED, "removed")),
        (one(a_record()), None, ACCEPTED, ALREADY_SO),
        (one(a_record()), None, UNCERTAIN, ALREADY_SO),
        (ELSEWHERE, None, ACCEPTED, CHANGED),
        (ELSEWHERE, None, UNCERTAIN, CHANGED),
        (one(a_record(record_id="602")), CREATE, UNCERTAIN, CHANGED),
    ],
)
def test_one_look_after_a_long_sleep_shows_nothing_that_is_not_there(
    found: LookUp, mutation: Mutation | None, attempt: Attempt, at_last: tuple[Any, ...]
) -> None:
    again = AGAIN if attempt is ACCEPTED else AGAIN_UNCERTAIN
    first = finding(found, attempt, mutation=mutation, now=LATE, looked=())
    assert (said(first), first.at) == (again, at(LATE + TARGET.read_spacing_seconds))
    assert said(finding(found, attempt, mutation=mutation, now=LATE + 2, looked=[LATE])) == again
    looks = [LATE + seconds for seconds in range(0, int(WINDOW), 20)]
    assert said(finding(found, attempt, mutation=mutation, now=LATE + WINDOW, looked=looks)) == at_last


def test_what_is_there_is_seen_at_the_first_look_however_late_it_comes() -> None:
    assert said(finding(one(a_record(marker=KEY)), OPEN, now=LATE, looked=())) == OBSERVED
    assert said(finding(REMOVED, ACCEPTED, now=LATE, looked=())) == divergent(Reason.REMOVED, "removed")


def test_looks_that_said_nothing_are_no_part_of_an_absence_and_a_person_is_asked_all_the_same() -> None:
    unseen = range(20, int(WINDOW), 20)
    asked = finding(AT_BASE, UNCERTAIN, now=WINDOW, looked=(), unseen=unseen)
    assert said(asked) == ASK_UNCERTAIN
    assert asked.at == at(WINDOW + TARGET.observation_window_seconds / 5)  # it tells again, and soon tells enough


# -- unknown -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mutation", [None, CREATE])
def test_unknown_is_read_again_and_never_turns_into_absent(mutation: Mutation | None) -> None:
    assert said(finding(UNKNOWN, ACCEPTED, mutation=mutation)) == AGAIN
    assert said(finding(UNKNOWN, UNCERTAIN, mutation=mutation)) == AGAIN_UNCERTAIN
    asked = finding(UNKNOWN, UNCERTAIN, mutation=mutation, now=WINDOW)
    assert said(asked) == ASK_UNCERTAIN
    assert asked.at is not None
    assert asked.at > at(WINDOW)


def test_after_the_window_the_reading_goes_on_slowly() -> None:
    assert (
        finding(UNKNOWN, UNCERTAIN, now=10 * WINDOW, looked=(), unseen=range(20, 3000, 20)).at
        == at(10 * WINDOW) + LONGEST_WAIT
    )


def test_a_target_that_names_a_time_is_not_asked_earlier() -> None:
    told = LookUp(presence=Presence.UNKNOWN, retry_after_seconds=90)
    assert finding(told, UNCERTAIN).at == at(2 + 90)


# -- refusals ----------------------------------------------------------------------------------------------------------
REFUSES_THIS = an_attempt(AnswerClass.REFUSES_THIS, code="INVALID_OWNER")
REFUSES_US = an_attempt(AnswerClass.REFUSES_US, code="MISSING_SCOPES")


def test_a_refusal_counts_once_the_record_is_seen_unchanged() -> None:
    rejected = (Next.ASK, Status.REJECTED, Reason.REFUSES_THIS, "absent")
    assert said(finding(AT_BASE, REFUSES_THIS)) == rejected
    assert said(finding(ABSENT, REFUSES_THIS, mutation=CREATE)) == rejected
    assert said(finding(UNKNOWN, REFUSES_THIS)) == AGAIN
    assert said(finding(MOVED, REFUSES_THIS)) == CHANGED
    assert said(finding(one(a_record(marker=KEY)), REFUSES_THIS)) == OBSERVED


def test_a_refusal_waits_for_an_earlier_unanswered_attempt() -> None:
    earlier = an_attempt(AnswerClass.UNCERTAIN, 1, started=100)
    refused = an_attempt(AnswerClass.REFUSES_THIS, 2, started=101)
    assert finding(AT_BASE, earlier, refused, now=100 + QUIET - 1).next is Next.READ_AGAIN
    assert finding(AT_BASE, earlier, refused, now=100 + TWICE).status is Status.REJECTED


@pytest.mark.parametrize("first", [AnswerClass.REFUSES_THIS, AnswerClass.REFUSES_US, AnswerClass.ACCEPTED])
def test_an_attempt_after_a_decision_waits_until_the_one_before_can_land_no_more(first: AnswerClass) -> None:
    again = an_attempt(AnswerClass.NOT_SENT, 2, started=5)
    early = finding(AT_BASE, an_attempt(first), again, now=7)
    assert said(early) == AGAIN
    assert early.at == at(QUIET)
    assert said(finding(AT_BASE, an_attempt(first), again, now=QUIET)) == SEND


def test_already_exists_is_an_answer_to_read() -> None:
    exists = an_attempt(AnswerClass.REFUSES_THIS, read_first=True)
    stands = one(a_record(INTENT, marker=KEY, record_id="602", external_id=OURS))
    assert said(finding(stands, exists, mutation=CREATE)) == OBSERVED
    assert said(finding(ABSENT, exists, mutation=CREATE)) == AGAIN
    assert said(finding(ABSENT, exists, mutation=CREATE, now=WINDOW))[:3] == (
        Next.ASK,
        Status.REJECTED,
        Reason.REFUSES_THIS,
    )


def test_a_target_that_refuses_us_parks_what_was_sent() -> None:
    parked = finding(REFUSED, ACCEPTED, refused_since=1)
    assert said(parked) == (Next.PARK, None, None, "unknown")
    assert parked.at == at(2 + TARGET.probe_seconds)


@pytest.mark.parametrize(
    ("attempt", "status"),
    [
        (ACCEPTED, Status.UNCERTAIN),
        (UNCERTAIN, Status.UNCERTAIN),
        (OPEN, Status.UNCERTAIN),
        (REFUSES_US, Status.REJECTED),
        (an_attempt(AnswerClass.NOT_SENT), Status.REJECTED),
    ],
)
def test_out_of_patience_it_is_rejected_or_uncertain_where_a_request_may_have_landed(
    attempt: Attempt, status: Status
) -> None:
    patience = TARGET.patience_seconds
    assert finding(REFUSED, attempt, now=patience, refused_since=1).next is Next.PARK
    asked = finding(REFUSED, attempt, now=patience + 1, refused_since=1)
    assert said(asked) == (Next.ASK, status, Reason.TARGET_REFUSES_US, "unknown")
    assert (asked.at is None) is (status is Status.REJECTED)


def test_a_write_that_alone_was_refused_is_tried_again_when_nothing_of_it_can_land() -> None:
    early = finding(AT_BASE, REFUSES_US)
    assert said(early) == AGAIN
    assert early.at == at(TARGET.send_within_seconds + TARGET.probe_seconds)
    assert said(finding(AT_BASE, REFUSES_US, now=TARGET.send_within_seconds + TARGET.probe_seconds)) == SEND


def test_writes_that_are_refused_again_and_again_end_with_the_policys_patience() -> None:
    attempts = [an_attempt(AnswerClass.REFUSES_US, n + 1, started=n * 60) for n in range(11)]
    rejected = (Next.ASK, Status.REJECTED, Reason.TARGET_REFUSES_US, "absent")
    assert said(finding(AT_BASE, *attempts[:10], now=TARGET.patience_seconds - 1)) == SEND
    assert said(finding(AT_BASE, *attempts, now=TARGET.patience_seconds)) == rejected
