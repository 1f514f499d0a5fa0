"""Who changed a property, by HubSpot's property history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

from leadproof.domain.records import Change

US: Final = "us"

_APPLICATIONS: Final = frozenset({"INTEGRATION", "API"})
_USER: Final = "userId:"


class Attribution:
    """Tells our own writes from everybody else's.

    An entry is ours where HubSpot names our app, or where the marker has an entry of the same moment and source: both
    were written by one request, and nobody but us writes the marker.

    Args:
        app_id: id of our app as history names it; without it only the second rule finds us.
    """

    def __init__(self, app_id: str | None) -> None:
        self._app_id = app_id

    def changes(
        self, versions: Iterable[Any], marker_versions: Iterable[Any], normal: Callable[[str | None], Any]
    ) -> tuple[Change, ...]:
        """The entries of one property, newest first.

        Args:
            versions: the entries as the client library gives them.
            marker_versions: those of the marker on the same record.
            normal: gives a value its normal form.
        """
        written = {_moment_and_source(entry) for entry in marker_versions if entry.value}
        changes = [
            Change(value=normal(entry.value), at=_utc(entry.timestamp), by=self._by(entry, written))
            for entry in versions
        ]
        return tuple(sorted(changes, key=lambda change: change.at, reverse=True))

    def _by(self, entry: Any, written_with_marker: set[tuple[Any, ...]]) -> str | None:
        kind, source = str(entry.source_type or ""), str(entry.source_id or "")
        if kind in _APPLICATIONS:
            ours = source == self._app_id or _moment_and_source(entry) in written_with_marker
            return US if ours else f"integration:{source or kind}"
        if source.startswith(_USER):
            return f"person:{source.removeprefix(_USER)}"
        if entry.updated_by_user_id:
            return f"person:{entry.updated_by_user_id}"
        return f"automation:{source or kind}" if source or kind else None


def _moment_and_source(entry: Any) -> tuple[Any, ...]:
    return entry.timestamp, entry.source_type, entry.source_id


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
