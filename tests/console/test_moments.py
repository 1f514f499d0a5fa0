from datetime import UTC, datetime

import pytest
import typer

from console.moments import moment

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2h", datetime(2026, 11, 30, 6, tzinfo=UTC)),
        ("1w", datetime(2026, 11, 23, 8, tzinfo=UTC)),
        ("2026-11-29T23:00:00-02:00", datetime(2026, 11, 30, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_so_long_ago_or_a_moment(text: str, means: datetime) -> None:
    found = moment(text, NOW, "--since")
    assert (found, found.utcoffset()) == (means, means.utcoffset())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2h ago",
        "999999w",
        "2026-11-30T08:00:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_what_is_no_time_of_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="neither a duration"):
        moment(text, NOW, "--since")
