"""Whoever wrote what, in whatever order: what an earlier effect of ours explains, and what it never does."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from hypothesis import event, given, settings
from hypothesis import strategies as st

from leadproof.domain.attribution import US, explained_base, overwritten_unseen
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import Mutation
from leadproof.domain.records import MARKER, Change, FoundRecord
from tests.domain.looks import INTENT, KEY, a_mutation, a_record, at

TIMELINES = settings(deadline=None, max_examples=50)
OWNERS = st.sampled_from(["501", "777", "888", None])
STATUSES = st.sampled_from(["NEW", "OPEN", None])
WRITES = st.fixed_dictionaries({}, optional={"owner": OWNERS, "lead_status": STATUSES}).filter(bool)
OTHERS = st.sampled_from(["person:9", "automation:flow", "integration:7", None])
EARLIER = [letter * 64 for letter in "bcd"]


class Act(NamedTuple):
    """One write: by somebody else, or, where it has a marker, by an effect of ours."""

    at: datetime
    by: str | None
    fields: dict[str, Any]
    marker: str | None


class Story(NamedTuple):
    """What happened to a record, and the mutation that was planned when its base was read in the middle of it."""

    acts: tuple[Act, ...]
    read_at: datetime
    mutation: Mutation

    def record(self, *more: Act) -> FoundRecord:
        history: dict[str, tuple[Change, ...]] = dict.fromkeys((*INTENT, MARKER), ())
        for act in (*self.acts, *more):
            fields = act.fields | ({MARKER: act.marker} if act.marker else {})
            for name, value in fields.items():
                history[name] = (Change(value=value, at=act.at, by=act.by), *history[name])
        now = {name: changes[0].value if changes else None for name, changes in history.items()}
        return a_record({name: now[name] for name in INTENT}, marker=now[MARKER], history=history)

    @property
    def effects(self) -> dict[str, dict[str, Any]]:
        return {act.marker: act.fields for act in self.acts if act.marker}


@st.composite
def stories(draw: st.DrawFn) -> Story:
    drawn, moment, markers = [], 0.0, iter(EARLIER)
    for _ in range(draw(st.integers(1, 7))):
        moment += draw(st.sampled_from([0.001, 0.4, 1.0, 30.0]))
        marker = next(markers, None) if draw(st.booleans()) else None
        by = US if marker else draw(OTHERS)
        drawn.append(Act(at(moment), by, draw(WRITES), marker))
    seen = draw(st.integers(0, len(drawn)))
    base: dict[str, Any] = dict.fromkeys(INTENT)
    for act in drawn[:seen]:
        base |= act.fields
    # read after the last act that it shows and before the next one
    read_at = at(0.0005) if seen == 0 else drawn[seen - 1].at
    planned = a_mutation(base=base)
    intent = planned.intent.model_copy(update={"base_read_at": read_at})
    return Story(tuple(drawn), read_at, planned.model_copy(update={"intended_state": intent}))


@TIMELINES
@given(stories())
def test_a_version_by_somebody_else_is_never_explained_and_one_of_ours_always(story: Story) -> None:
    record = story.record()
    explained = explained_base(story.mutation, record, CATALOG, story.effects)
    assert explained is not None
    for name, changes in record.history.items():
        if name == MARKER or not changes or changes[0].at <= story.read_at:
            continue
        latest, base = changes[0], (story.mutation.base_state or {})[name]
        event(f"{'ours' if latest.by == US else 'theirs'} {latest.value == base}")
        assert explained[name] == (latest.value if latest.by == US else base)


@TIMELINES
@given(stories())
def test_without_history_nothing_is_explained_once_somebody_else_came_last(story: Story) -> None:
    record, last = story.record(), story.acts[-1]
    blind = record.model_copy(update={"history": {}, "changed_by": last.by, "changed_at": last.at})
    explained = explained_base(story.mutation, blind, CATALOG, story.effects)
    if last.by != US or last.at <= story.read_at:
        assert explained == story.mutation.base_state


@TIMELINES
@given(stories(), st.sampled_from([0.001, 0.4, 5.0]))
def test_what_our_write_replaced_is_lost_exactly_where_somebody_else_had_set_it_since(
    story: Story, later: float
) -> None:
    wrote_at = story.acts[-1].at + (at(later) - at(0))
    record = story.record(Act(wrote_at, US, dict(INTENT), KEY))
    expected = set()
    for name, wanted in INTENT.items():
        replaced = next((change for change in record.history[name] if change.at < wrote_at), None)
        seen = [(story.mutation.base_state or {})[name], wanted]
        if replaced is not None and replaced.by != US and replaced.value not in seen:
            assert replaced.at > story.read_at
            expected.add((name, replaced.value, replaced.by))
    lost = overwritten_unseen(story.mutation, record, CATALOG, story.effects)
    assert {(one.field, one.lost, one.changed_by) for one in lost} == expected


@TIMELINES
@given(stories(), st.integers(0, 5))
def test_a_person_who_sets_again_what_an_effect_of_ours_had_written_is_asked(story: Story, which: int) -> None:
    base = story.mutation.base_state or {}
    ours = [(name, value) for act in story.acts if act.marker for name, value in act.fields.items()]
    again = [(name, value) for name, value in ours if value not in {base[name], INTENT[name]}]
    event(f"{bool(again)}")
    if not again:
        return
    name, value = again[which % len(again)]
    edit = Act(story.acts[-1].at + (at(0.01) - at(0)), "person:9", {name: value}, None)
    explained = explained_base(story.mutation, story.record(edit), CATALOG, story.effects)
    assert explained is not None
    assert explained[name] == base[name]
    written = story.record(edit, Act(edit.at + (at(0.01) - at(0)), US, dict(INTENT), KEY))
    lost = overwritten_unseen(story.mutation, written, CATALOG, story.effects)
    assert (name, value) in {(one.field, one.lost) for one in lost}
