"""Who wrote what, by the client library's own model of a history entry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hubspot.crm.contacts import ValueWithTimestamp

from leadproof.crm.hubspot_history import Attribution

AT = datetime(2026, 11, 30, 10, tzinfo=UTC)


def entry(
    source_type: str | None, source_id: str | None, *, after: float = 0, value: str = "v", user: Any = None
) -> Any:
    return ValueWithTimestamp(
        source_type=source_type,
        source_id=source_id,
        updated_by_user_id=user,
        value=value,
        timestamp=AT + timedelta(seconds=after),
    )


def by(app_id: str | None, version: Any, *marker: Any) -> str | None:
    return Attribution(app_id).changes([version], marker, str)[0].by


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (entry("INTEGRATION", "54321"), "us"),
        (entry("API", "54321"), "us"),
        (entry("INTEGRATION", "54321", user=9001), "us"),
        (entry("INTEGRATION", "999"), "integration:999"),
        (entry("API", None), "integration:API"),
        (entry("CRM_UI", "userId:9002"), "person:9002"),
        (entry("CRM_UI", "54321", user=9002), "person:9002"),
        (entry("IMPORT", "7", user=9002), "person:9002"),
        (entry("AUTOMATION_PLATFORM", "enrollmentId:1"), "automation:enrollmentId:1"),
        (entry("AUTOMATION_PLATFORM", "54321"), "automation:54321"),
        (entry("FORM", None), "automation:FORM"),
        (entry(None, None), None),
    ],
)
def test_a_change_is_by(version: Any, expected: str | None) -> None:
    assert by("54321", version) == expected


def test_an_entry_of_the_same_request_as_the_marker_is_ours_without_an_app_id() -> None:
    assert by(None, entry("INTEGRATION", "54321"), entry("INTEGRATION", "54321")) == "us"
    assert by("1", entry("INTEGRATION", "54321"), entry("INTEGRATION", "54321")) == "us"


@pytest.mark.parametrize(
    "marker",
    [
        entry("INTEGRATION", "54321", after=0.001),
        entry("INTEGRATION", "999"),
        entry("API", "54321"),
        entry("INTEGRATION", "54321", value=""),
    ],
)
def test_an_entry_of_another_moment_or_source_than_the_marker_is_not_ours(marker: Any) -> None:
    assert by(None, entry("INTEGRATION", "54321"), marker) == "integration:54321"


def test_a_person_in_the_moment_of_the_marker_stays_a_person() -> None:
    same = entry("CRM_UI", "userId:1")
    assert by(None, same, same) == "person:1"


def test_changes_are_newest_first_with_normal_values_and_utc_times() -> None:
    naive = ValueWithTimestamp(
        source_type="API",
        source_id="1",
        value="A",
        timestamp=datetime(2026, 11, 30, 12, tzinfo=UTC).replace(tzinfo=None),
    )
    changes = Attribution(None).changes([entry("API", "1", value="B"), naive], [], lambda value: str(value).lower())
    assert [change.value for change in changes] == ["a", "b"]
    assert changes[0].at == datetime(2026, 11, 30, 12, tzinfo=UTC)
