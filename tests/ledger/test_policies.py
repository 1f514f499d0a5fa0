"""Policy versions are kept, and a key never moves."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.events import Scope
from leadproof.domain.policy import EventKind, Policy, Queue, ScopeEntry
from leadproof.domain.scopes import moved_keys
from tests.ledger.databases import Database
from tests.support.ledgers import START, HandClock, OwnedLedger

PAST, FUTURE = START - timedelta(days=9), START + timedelta(days=9)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def kind(*scopes: tuple[datetime, Scope], name: str = "contact.creation") -> EventKind:
    entries = tuple(ScopeEntry(from_=moment, scope=scope) for moment, scope in scopes)
    return EventKind(source="hubspot", kind=name, scopes=entries)


ONCE = kind((LONG_AGO, Scope.RECORD))


class TestScopes:
    """The rule alone."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ([ONCE], [ONCE]),
            ([], [kind((PAST, Scope.EVENT))]),  # the first entry of a new event kind
            ([ONCE], [ONCE, kind((PAST, Scope.EVENT), name="contact.change")]),
            ([ONCE], [kind((LONG_AGO, Scope.RECORD), (FUTURE, Scope.EVENT))]),
            ([kind((LONG_AGO, Scope.RECORD), (FUTURE, Scope.EVENT))], [ONCE]),  # it has not begun to hold
            ([ONCE], [kind((PAST, Scope.RECORD))]),  # the earliest reaches back for ever, wherever it says it begins
            ([ONCE], [kind((LONG_AGO, Scope.RECORD), (START, Scope.EVENT))]),
        ],
    )
    def test_what_moves_no_key(self, before: list[EventKind], after: list[EventKind]) -> None:
        assert not list(moved_keys(before, after, START))

    @pytest.mark.parametrize(
        ("before", "after", "says"),
        [
            ([ONCE], [], "'record' of hubspot contact.creation that holds from the beginning was removed"),
            ([ONCE], [kind((LONG_AGO, Scope.EVENT))], "'record' .* from the beginning was changed"),
            ([ONCE], [kind((LONG_AGO, Scope.RECORD), (PAST, Scope.EVENT))], "'event' .* from 2026-02-21.* was added"),
            ([kind((LONG_AGO, Scope.RECORD), (PAST, Scope.EVENT))], [ONCE], "'event' .* from 2026-02-21.* was removed"),
            (
                [kind((LONG_AGO, Scope.RECORD), (PAST, Scope.EVENT))],
                [kind((LONG_AGO, Scope.RECORD), (PAST, Scope.RECORD))],
                "'event' .* was changed",
            ),
            (
                [kind((LONG_AGO, Scope.RECORD), (PAST, Scope.EVENT))],
                [kind((LONG_AGO, Scope.RECORD), (FUTURE, Scope.EVENT))],
                "'event' .* was removed",
            ),
            ([], [kind((LONG_AGO, Scope.RECORD), (PAST, Scope.EVENT))], "'event' .* was added"),
        ],
    )
    def test_what_moves_one_is_refused_by_name(
        self, before: list[EventKind], after: list[EventKind], says: str
    ) -> None:
        (fault,) = moved_keys(before, after, START)
        assert re.search(says, fault.why)
        assert fault.path == (("events", 0, "scopes") if after else ())


def a_policy(version: str, *events: EventKind, text: str | None = None) -> Policy:
    body = text if text is not None else f"{version} ünï"
    KNOWN[body] = policy = Policy(
        version=version,
        digest=hashlib.sha256(body.encode()).hexdigest(),
        text=body,
        events=events,
        targets={},
        actions=(),
        queues={"default": Queue()},
    )
    return policy


KNOWN: dict[str, Policy] = {}
"""What a text says: the parser is the domain's and has its own tests."""


@pytest.fixture
def ledger(database: Database, clock: HandClock) -> OwnedLedger:
    return OwnedLedger(database.engine, clock, parse=KNOWN.__getitem__)


def test_a_text_is_kept_byte_for_byte(ledger: OwnedLedger) -> None:
    policy = a_policy("1", ONCE)
    ledger.load_policy(policy)
    ledger.load_policy(policy)
    assert ledger.policy_text("1") == policy.text
    assert ledger.policy_text("2") is None


def test_a_version_never_stands_for_two_texts(ledger: OwnedLedger) -> None:
    ledger.load_policy(a_policy("1", ONCE))
    with pytest.raises(PolicyRefused, match="version 1 stands in the ledger with another text"):
        ledger.load_policy(a_policy("1", ONCE, text="another"))
    assert ledger.policy_text("1") == "1 ünï"


def test_a_version_that_moves_a_key_is_refused_and_not_kept(ledger: OwnedLedger) -> None:
    ledger.load_policy(a_policy("1", ONCE))
    with pytest.raises(PolicyRefused, match="was changed"):
        ledger.load_policy(a_policy("2", kind((LONG_AGO, Scope.EVENT))))
    assert ledger.policy_text("2") is None


def test_it_is_the_latest_version_that_counts(ledger: OwnedLedger, clock: HandClock) -> None:
    turn = kind((LONG_AGO, Scope.RECORD), (START + timedelta(hours=1), Scope.EVENT))
    ledger.load_policy(a_policy("1", ONCE))
    clock.forward(60)
    ledger.load_policy(a_policy("2", turn))
    clock.forward(60)
    ledger.load_policy(a_policy("1", ONCE))  # back, before the turn: no key has moved
    clock.forward(60)
    ledger.load_policy(a_policy("2", turn))
    clock.forward(3600)
    with pytest.raises(PolicyRefused, match=r"'event' .* was removed"):
        ledger.load_policy(a_policy("1", ONCE))


def test_a_stored_version_that_can_no_longer_be_read_is_named(database: Database, clock: HandClock) -> None:
    ledger = OwnedLedger(database.engine, clock)
    ledger.load_policy(a_policy("1", ONCE, text="no policy at all ["))
    with pytest.raises(PolicyRefused, match="version 1 in the ledger can no longer be read"):
        ledger.load_policy(a_policy("2", ONCE))
    assert [fault.line for fault in ledger.policy_faults(a_policy("2", ONCE))] == [None]


def test_all_that_speaks_against_a_version_is_said_and_nothing_is_kept(ledger: OwnedLedger) -> None:
    changed = [kind((LONG_AGO, Scope.RECORD)), kind((LONG_AGO, Scope.RECORD), name="contact.change")]
    ledger.load_policy(a_policy("1", *changed))
    ledger.load_policy(a_policy("2", *changed))
    moved = a_policy("1", kind((LONG_AGO, Scope.EVENT)), text='version = "1"\n\n[[event]]\nscopes = []')

    faults = ledger.policy_faults(moved)

    assert [(fault.line, fault.why[:30]) for fault in faults] == [
        (1, "version 1 stands in the ledger"),
        (4, "the scope 'record' of hubspot "),
        (None, "the scope 'record' of hubspot "),
    ]
    assert ledger.policy_faults(a_policy("3", *changed)) == ()
    assert ledger.policy_text("3") is None
    assert set(ledger.policy_versions()) == {"1", "2"}


def test_what_is_asked_is_what_is_refused(ledger: OwnedLedger) -> None:
    ledger.load_policy(a_policy("1", ONCE))
    assert ledger.policy_faults(a_policy("1", ONCE)) == ()
    (refused,) = ledger.policy_faults(a_policy("1", ONCE, text="another"))
    assert isinstance(refused, PolicyRefused)
    assert "another text" in str(refused)
