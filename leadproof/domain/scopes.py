"""A key never moves: which changes to the scope history a new policy version may bring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from leadproof.domain.events import Scope
from leadproof.domain.keys import instant
from leadproof.domain.policy import EventKind, ScopeEntry
from leadproof.domain.policy_conditions import Fault


class _Entry(NamedTuple):
    since: datetime | None  # None: the earliest entry, which reaches back for ever
    scope: Scope


def moved_keys(before: Sequence[EventKind], after: Sequence[EventKind], now: datetime) -> Iterator[Fault]:
    """What of a scope history moves a key that may be in use, for which a policy is refused.

    Args:
        before: the event kinds of the policy that held until now.
        after: those of the policy that is loaded.
        now: an entry that holds for any time before it may be neither added, nor changed, nor removed; but for the
            first entry of an event kind that is new.

    Returns:
        Each entry that was moved, at the place of its event kind in the policy that is loaded.
    """
    known = {(kind.source, kind.kind): kind.scopes for kind in before}
    wanted = {(kind.source, kind.kind): kind.scopes for kind in after}
    places = {(kind.source, kind.kind): position for position, kind in enumerate(after)}
    for source, kind in sorted(known.keys() | wanted.keys()):
        place = places.get((source, kind))
        for what, entry in _moved(known.get((source, kind)), wanted.get((source, kind)), now):
            since = "the beginning" if entry.since is None else instant(entry.since)
            yield Fault(
                ("events", place, "scopes") if place is not None else (),
                f"the scope {entry.scope.value!r} of {source} {kind} that holds from {since} was {what}; keys of events"
                f" before {instant(now)} would move",
            )


def _moved(
    old: Sequence[ScopeEntry] | None, new: Sequence[ScopeEntry] | None, now: datetime
) -> Iterator[tuple[str, _Entry]]:
    before, after = _entries(old or (), now), _entries(new or (), now)
    if old is None:
        after = after[1:]
    changed = {entry.since for entry in before} & {entry.since for entry in after}
    for entry in before:
        if entry not in after:
            yield ("changed" if entry.since in changed else "removed"), entry
    for entry in after:
        if entry not in before and entry.since not in changed:
            yield "added", entry


def _entries(scopes: Iterable[ScopeEntry], now: datetime) -> list[_Entry]:
    """The entries that hold for any time before `now`."""
    entries = [_Entry(entry.from_, entry.scope) for entry in scopes]
    first = [_Entry(None, entries[0].scope)] if entries else []
    return first + [entry for entry in entries[1:] if entry.since is not None and entry.since < now]
