"""What a look means where nothing was sent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.environment import is_shadow
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import Observation, Reason, Status
from leadproof.domain.reconciliation import Finding, Next
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.shadow import find
from tests.domain.looks import INTENT, KEY, TARGET, a_mutation, a_record, at, before, one

UNREADABLE = LookUp(presence=Presence.UNKNOWN, detail="a time-out")
PLANNED = a_mutation(status=Status.RESERVED, environment="test-shadow")
WINDOW = TARGET.observation_window.total_seconds()


def unanswered(*seconds: float) -> list[Observation]:
    return [
        Observation(mutation_key=KEY, number=n, read_at=at(s), identity="app:42", verdict="unknown", state=None)
        for n, s in enumerate(seconds, 1)
    ]


def found(look_up: LookUp, *looks: float, now: float = 3600) -> Finding:
    return find(PLANNED, look_up, unanswered(*looks), target=TARGET, specs=CATALOG, now=at(now))


@pytest.mark.parametrize("name", ["shadow", "production-shadow", "shadow-2", "a.shadow.b"])
def test_an_environment_says_that_it_is_one_of_shadow_mode(name: str) -> None:
    assert is_shadow(name)


@pytest.mark.parametrize("name", ["dev", "production", "shade", "s-hadow"])
def test_any_other_environment_is_not(name: str) -> None:
    assert not is_shadow(name)


def test_a_record_that_is_as_intended_settles_the_effect_without_a_difference() -> None:
    finding = found(one(a_record()))
    assert (finding.next, finding.status, finding.reason) == (Next.SETTLED, Status.ABANDONED, Reason.SHADOW)
    assert (finding.verdict, finding.differences) == (Presence.ONE, ())


def test_what_a_person_chose_instead_is_named_with_its_person() -> None:
    history = before({}, "owner", "777", 1800, "person:9")
    finding = found(one(a_record({"owner": "777", "lead_status": "NEW"}, history=history)))
    (difference,) = finding.differences
    assert (difference.field, difference.intended, difference.observed) == ("owner", "501", "777")
    assert (difference.changed_by, difference.changed_at) == ("person:9", at(1800))


@pytest.mark.parametrize("presence", [Presence.ABSENT, Presence.REMOVED, Presence.SEVERAL])
def test_without_one_record_every_field_differs_and_none_was_returned(presence: Presence) -> None:
    finding = found(LookUp(presence=presence))
    assert (finding.status, finding.verdict) == (Status.ABANDONED, presence)
    assert [(d.field, d.returned) for d in finding.differences] == [(name, False) for name in sorted(INTENT)]


@pytest.mark.parametrize(("looks", "wait"), [(0, 2), (1, 4), (4, 32), (5, 60), (2000, 60)])
def test_a_target_that_does_not_tell_is_asked_again_with_doubling_pauses(looks: int, wait: float) -> None:
    finding = found(UNREADABLE, *([3600] * looks), now=3700)
    assert finding == Finding(next=Next.READ_AGAIN, at=at(3700 + wait))


def test_a_pause_that_the_target_names_is_kept() -> None:
    assert found(UNREADABLE.model_copy(update={"retry_after_seconds": 90})).at == at(3690)


def test_after_the_window_the_effect_is_settled_with_what_is_known() -> None:
    still = found(UNREADABLE, 3600, now=3600 + WINDOW - 1)
    over = found(UNREADABLE, 3600, now=3600 + WINDOW)
    assert (still.next, over.next) == (Next.READ_AGAIN, Next.SETTLED)
    assert (over.status, over.reason, over.differences) == (Status.ABANDONED, Reason.SHADOW, ())
    assert over.verdict == Presence.UNKNOWN


def test_the_window_counts_from_the_first_look_and_not_from_when_one_was_due() -> None:
    late = timedelta(days=3).total_seconds()
    assert found(UNREADABLE, now=late).next is Next.READ_AGAIN
