"""Where each value of a record came from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.attribution import IN_OUR_WRITE, US
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.provenance import Basis, Provenance, as_last_seen, provenance
from leadproof.domain.provenance_words import said
from leadproof.domain.records import MARKER, Change, FoundRecord
from tests.support.ledgers import START, a_lead_event, a_mutation

DANA = "person:7"


def _effect(value: str = "OPEN", **changes: Any) -> Mutation:
    return a_mutation(a_lead_event(), fields={"lead_status": value}, **{"status": Status.OBSERVED, **changes})


def _at(seconds: float, value: Any, by: str | None) -> Change:
    return Change(value=value, at=START + timedelta(seconds=seconds), by=by)


def _of(record: FoundRecord, *effects: Mutation, field: str = "lead_status") -> Provenance:
    return next(one for one in provenance(record, effects, CATALOG) if one.field == field)


def test_a_version_that_came_with_a_marker_is_that_effects() -> None:
    effect = _effect()
    history = {
        "lead_status": (_at(9, "CONNECTED", DANA), _at(5, "OPEN", US), _at(1, "NEW", DANA)),
        MARKER: (_at(5, effect.mutation_key, US),),
    }
    told = _of(FoundRecord(record_id="1", fields={"lead_status": "CONNECTED"}, history=history), effect)
    assert (told.now.by, told.now.mutation_key, told.now.basis) == (DANA, None, Basis.HISTORY)
    assert [(one.by, one.mutation_key) for one in told.earlier] == [(US, effect.mutation_key), (DANA, None)]


def test_what_came_with_our_write_and_was_not_intended_is_automation() -> None:
    effect = _effect()
    history = {"title": (_at(5, "Lead", US),), MARKER: (_at(5, effect.mutation_key, US),)}
    told = _of(FoundRecord(record_id="1", fields={"title": "Lead"}, history=history), effect, field="title")
    assert (told.now.by, told.now.mutation_key) == (IN_OUR_WRITE, effect.mutation_key)
    assert "in the transaction of" in said(told.now, None, system="salesforce", owners={})


@pytest.mark.parametrize(
    ("changed_by", "seen", "basis"),
    [(US, None, Basis.RECORD), (DANA, "OPEN", Basis.LEDGER), (DANA, "NEW", Basis.NOTHING), (DANA, None, Basis.NOTHING)],
)
def test_without_history_no_more_is_said_than_is_known(changed_by: str, seen: str | None, basis: Basis) -> None:
    effect = _effect(observed_state={"fields": {"lead_status": seen}} if seen is not None else None)
    record = FoundRecord(
        record_id="1",
        fields={"lead_status": "OPEN"},
        marker=effect.mutation_key,
        changed_by=changed_by,
        changed_at=START,
    )
    told = _of(record, effect)
    assert told.now.basis is basis
    assert (told.now.mutation_key == effect.mutation_key) is (basis is not Basis.NOTHING)


def test_an_effect_that_was_never_sent_made_nothing() -> None:
    effect = _effect(status=Status.RESERVED)
    record = FoundRecord(record_id="1", fields={"lead_status": "OPEN"}, marker=effect.mutation_key, changed_by=US)
    assert _of(record, effect).now.basis is Basis.NOTHING


def test_a_history_that_ends_before_the_present_value_does_not_explain_it() -> None:
    history = {"lead_status": (_at(1, "NEW", DANA),)}
    told = _of(FoundRecord(record_id="1", fields={"lead_status": "OPEN"}, history=history))
    assert told.now.basis is Basis.NOTHING
    assert [one.value for one in told.earlier] == ["NEW"]


def test_the_record_as_we_saw_it_last_is_the_latest_read_back() -> None:
    seen = {"record_id": "1", "external_id": None, "marker": None, "fields": {"lead_status": "OPEN"}}
    older = _effect(observed_state={**seen, "fields": {"lead_status": "NEW"}})
    newer = _effect(observed_state={**seen, "changes": {"lead_status": [_at(1, "OPEN", US).model_dump(mode="json")]}})
    record = as_last_seen([_effect(observed_state={"presence": "unknown"}), newer, older])
    assert record is not None
    assert record.fields == {"lead_status": "OPEN"}
    assert record.history["lead_status"][0].by == US
    assert as_last_seen([_effect()]) is None


_CHANGES = st.lists(
    st.tuples(st.sampled_from(["A", "B", None]), st.sampled_from([US, DANA, "automation:1", None]), st.booleans()),
    max_size=6,
)


@given(changes=_CHANGES, value=st.sampled_from(["A", "B", None]))
def test_an_effect_is_named_only_where_its_marker_came_with_the_value(
    changes: list[tuple[str | None, str | None, bool]], value: str | None
) -> None:
    effect = _effect("A", status=Status.OBSERVED)
    versions = tuple(_at(100 - 10 * place, one, by) for place, (one, by, _) in enumerate(changes))
    markers = tuple(
        Change(value=effect.mutation_key, at=version.at, by=US)
        for version, (_, _, marked) in zip(versions, changes, strict=True)
        if marked
    )
    record = FoundRecord(
        record_id="1", fields={"lead_status": value}, history={"lead_status": versions, MARKER: markers}
    )
    told = _of(record, effect)
    at_of_markers = {marker.at for marker in markers}
    for origin in (told.now, *told.earlier):
        if origin.mutation_key is not None:
            assert origin.by == US
            assert origin.at in at_of_markers
    assert told.now.value == value
