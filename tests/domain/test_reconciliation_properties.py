"""Whatever is looked at, whenever: what a finding never says."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from hypothesis import event, given, settings
from hypothesis import strategies as st

from leadproof.domain.attribution import landed, stranger
from leadproof.domain.comparison import compare
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Observation, Reason, Status, legal
from leadproof.domain.observing import Look, looked_for, quiet_at
from leadproof.domain.policy import Target
from leadproof.domain.reconciliation import Finding, Next, find
from leadproof.domain.records import MARKER, Change, FoundRecord, LookUp, Presence
from leadproof.domain.unanswered import may_attempt_again
from tests.domain.looks import BASE, INTENT, KEY, OTHER_KEY, OURS, TARGET, THEIRS, a_mutation, an_attempt, at

LOOKS = settings(deadline=None, max_examples=80)
VALUES: dict[str, list[Any]] = {
    "owner": ["501", " 501", None, "777"],
    "lead_status": ["NEW", None, "OPEN"],
    "email": ["a@example.com", "b@example.com", None],
}
BASES: list[dict[str, Any]] = [
    {**BASE, "email": "a@example.com"},
    {**INTENT, "email": "a@example.com"},
    {"owner": None},
]
MOMENTS = st.sampled_from([0.0, 1.0, 4.0, 11.0, 39.0, 40.0, 41.0, 55.0, 120.0, 301.0, 350.0, 601.0, 700.0, 5000.0])
OUTCOMES = st.sampled_from([None, *AnswerClass])


def mostly(usual: str, seldom: str) -> st.SearchStrategy[str]:
    return st.sampled_from([usual] * 9 + [seldom])


class Drawn(NamedTuple):
    look: Look
    target: Target
    effects: dict[str, dict[str, Any]]
    found: Finding


@st.composite
def mutations(draw: st.DrawFn) -> Mutation:
    creates = draw(st.booleans())
    return a_mutation(
        creates=creates,
        base=draw(st.sampled_from(BASES)),
        compare_also=draw(st.sampled_from([(), ("email",)])),
        record_id=draw(st.sampled_from([None, "602"])) if creates else "601",
        status=draw(st.sampled_from([Status.SUBMITTED, Status.UNCERTAIN])),
        reason=draw(st.sampled_from([None, Reason.RETRY])),
    )


@st.composite
def attempts(draw: st.DrawFn, record_id: str) -> tuple[Attempt, ...]:
    made, began = [], 0.0
    for number, outcome in enumerate(draw(st.lists(OUTCOMES, max_size=5)), 1):
        began += draw(st.sampled_from([0.5, 60.0, 200.0]))
        named = draw(mostly(record_id, "900")) if outcome is AnswerClass.ACCEPTED else None
        answer: dict[str, Any] = {} if outcome is None else {"provider_record_id": named, "read_first": number == 2}
        made.append(an_attempt(outcome, number, began, **answer))
    return tuple(made)


@st.composite
def records(draw: st.DrawFn, record_id: str) -> FoundRecord:
    stands: dict[str, Any] = draw(st.sampled_from([BASES[0], BASES[0], BASES[1], {}]))
    mixed = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()})
    changes = st.lists(
        st.builds(Change, value=st.sampled_from([KEY, OTHER_KEY, "777", None]), at=MOMENTS.map(at)), max_size=2
    )
    names = draw(st.sampled_from([(), (MARKER,), (MARKER, "owner")]))
    return FoundRecord(
        record_id=draw(mostly(record_id, "900")),
        external_id=draw(st.sampled_from([None, OURS, OURS, OURS, THEIRS])),
        marker=draw(st.sampled_from([None, None, KEY, OTHER_KEY])),
        fields=stands or draw(mixed),
        history={name: tuple(draw(changes)) for name in names},
    )


@st.composite
def look_ups(draw: st.DrawFn, record_id: str) -> LookUp:
    presence = draw(st.sampled_from([*[Presence.ONE] * 5, Presence.ABSENT, *Presence]))
    if presence is Presence.UNKNOWN:
        told = draw(st.sampled_from([None, 0.0, 90.0]))
        return LookUp(presence=presence, refuses_us=draw(st.booleans()), retry_after_seconds=told)
    return LookUp(presence=presence, record=draw(records(record_id)) if presence is Presence.ONE else None)


def instants(seconds: Iterable[float]) -> tuple[datetime, ...]:
    return tuple(at(one) for one in seconds)


@st.composite
def findings(draw: st.DrawFn) -> Drawn:
    mutation = draw(mutations())
    record_id = mutation.provider_record_id or "602"
    made = draw(attempts(record_id))
    began = (made[-1].started_at - at(0)).total_seconds() if made else 0.0
    now = began + draw(MOMENTS)
    looked_at = draw(st.sampled_from([(), (0.5,), range(0, int(now), 20), range(0, int(now), 200)]).map(instants))
    look = Look(
        mutation=mutation,
        attempts=made,
        found=draw(look_ups(record_id)),
        asked_id=mutation.provider_record_id,
        looked_at=looked_at,
        seen_at=looked_at if draw(st.booleans()) else looked_at[-1:],
        refused_since=draw(st.sampled_from([None, at(0.0), at(began)])),
        now=at(now),
    )
    effects = draw(st.sampled_from([{}, {OTHER_KEY: {"owner": "777", "lead_status": None}}]))
    target = TARGET.model_copy(update={"observation_window_seconds": draw(st.sampled_from([5.0, 300.0]))})
    found = find(look, target, CATALOG, effects)
    event(f"{found.next} {found.status}")
    return Drawn(look, target, effects, found)


def absent_is_said_only_of_what_was_seen_and_can_land_no_more(drawn: Drawn) -> None:
    look, _, _, found = drawn
    if found.verdict != Presence.ABSENT:
        return
    assert look.found.presence in {Presence.ABSENT, Presence.ONE}
    quiet = quiet_at(look.attempts, TARGET.quiescence)
    assert quiet is None or look.now >= quiet
    assert look.found.record is None or not landed(look.found.record, KEY)
    created = look.mutation.intent.creates and any(a.outcome is AnswerClass.ACCEPTED for a in look.attempts)
    assert not created


def what_nobody_looked_for_is_never_said_to_be_missing(drawn: Drawn) -> None:
    """What is said of a write that does not show was looked at for as long as it could have landed, or shown."""
    look, target, _, found = drawn
    latest, accepted = look.latest, look.latest is not None and look.latest.outcome is AnswerClass.ACCEPTED
    unanswered = [attempt for attempt in look.attempts if attempt.outcome in {None, AnswerClass.UNCERTAIN}]
    record = look.found.record
    told = found.verdict == Presence.ABSENT or found.reason in {Reason.ALREADY_SO, Reason.CHANGED_BEFORE_WRITE}
    missing = found.reason is Reason.REMOVED and look.found.presence is Presence.ABSENT
    if latest is None or not (told or missing) or (record is not None and landed(record, KEY)):
        return
    if accepted or missing or found.reason is Reason.ALREADY_SO:
        seen = looked_for(latest.started_at, look.seen_at, look.now, target)
        assert seen >= target.observation_window
    elif unanswered:
        asked = unanswered[-1]
        seen = looked_for(asked.started_at, look.seen_at, look.now, target)
        assert seen >= asked.send_before - asked.started_at + target.quiescence
        quiet = max(attempt.send_before for attempt in unanswered) + target.quiescence
        throughout = looked_for(latest.started_at, look.seen_at, look.now, target) >= target.observation_window
        assert throughout or any(quiet <= seen_at < look.now for seen_at in look.seen_at)


def unknown_never_turns_into_anything_that_was_seen(drawn: Drawn) -> None:
    look, _, _, found = drawn
    if look.found.presence is not Presence.UNKNOWN:
        return
    assert found.verdict == Presence.UNKNOWN
    assert found.next in {Next.READ_AGAIN, Next.PARK, Next.ASK}
    assert found.status in {None, Status.UNCERTAIN, Status.REJECTED}
    if found.status is Status.REJECTED:
        assert look.found.refuses_us
        harmless = {AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED, AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS}
        assert {attempt.outcome for attempt in look.attempts} <= harmless


def nothing_is_sent_again_while_an_attempt_may_land_or_where_it_must_not_go(drawn: Drawn) -> None:
    look, _, _, found = drawn
    if found.next is not Next.SEND_AGAIN:
        return
    quiet = quiet_at(look.attempts, TARGET.quiescence)
    assert quiet is None or look.now >= quiet
    record = look.found.record
    assert record is None or not (landed(record, KEY) or stranger(look.mutation, record))
    assert look.found.presence is not Presence.ABSENT or look.mutation.intent.creates
    absent = Observation(mutation_key=KEY, number=1, read_at=look.now, identity="us", verdict=found.verdict, state=None)
    # the ledger's own rule for a claim must let this attempt through, or the run would go round in a circle
    assert may_attempt_again(
        look.attempts,
        [absent],
        status=found.status or look.mutation.status,
        creates=look.mutation.intent.creates,
        quiescence=TARGET.quiescence,
        now=look.now,
    )


def observed_means_every_field_and_whose_write_it_was(drawn: Drawn) -> None:
    look, _, _, found = drawn
    if found.status is not Status.OBSERVED:
        return
    record = look.found.record
    assert record is not None
    assert compare(look.mutation.intent.fields, record.fields, CATALOG) == ()
    assert landed(record, KEY) is (found.reason is not Reason.ALREADY_SO)
    assert look.asked_id in {None, record.record_id}


def every_move_is_in_the_table(drawn: Drawn) -> None:
    look, _, _, found = drawn
    before, after = look.mutation.status, found.status
    assert after is None or after is before or legal(before, after, found.reason)
    assert after is not Status.SUBMITTED
    if found.next is Next.ASK:
        assert after in {Status.UNCERTAIN, Status.DIVERGENT, Status.REJECTED}
    if found.next in {Next.READ_AGAIN, Next.SEND_AGAIN}:
        assert after in {None, Status.UNCERTAIN}


def whatever_stays_open_is_looked_at_again_and_never_at_once(drawn: Drawn) -> None:
    look, _, _, found = drawn
    if found.next in {Next.READ_AGAIN, Next.PARK} or (found.next is Next.ASK and found.status is Status.UNCERTAIN):
        assert found.at is not None
        assert found.at > look.now
        quiet = {attempt.send_before + TARGET.quiescence for attempt in look.attempts}
        assert (found.at - look.now).total_seconds() >= 1 or found.at in quiet
    else:
        assert found.at is None


@LOOKS
@given(findings())
def test_whatever_is_seen_a_finding_keeps_to_the_rules(drawn: Drawn) -> None:
    for rule in (
        absent_is_said_only_of_what_was_seen_and_can_land_no_more,
        what_nobody_looked_for_is_never_said_to_be_missing,
        unknown_never_turns_into_anything_that_was_seen,
        nothing_is_sent_again_while_an_attempt_may_land_or_where_it_must_not_go,
        observed_means_every_field_and_whose_write_it_was,
        every_move_is_in_the_table,
        whatever_stays_open_is_looked_at_again_and_never_at_once,
    ):
        rule(drawn)
