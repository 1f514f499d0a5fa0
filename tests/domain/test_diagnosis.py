from datetime import UTC, datetime, timedelta

import pytest

from leadproof.domain.diagnosis import Permissions, ServerTime, least_difference

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("earliest", "latest", "differs"),
    [
        (0.5, 0.5, 0),  # within the question
        (-1, 0.2, 0),  # rounded down to the second before
        (1.5, 2.5, 0.5),
        (30, 31, 29),
        (-3, -2, -2),
    ],
)
def test_clocks_differ_by_what_nothing_else_explains(earliest: float, latest: float, differs: float) -> None:
    server = ServerTime(earliest=NOON + seconds(earliest), latest=NOON + seconds(latest))
    assert least_difference(server, NOON, NOON + seconds(1)) == seconds(differs)


def test_what_is_not_told_is_not_lacking() -> None:
    assert Permissions(needed=("read", "write"), granted=frozenset({"read"})).lacking(("read", "write")) == ["write"]
    assert Permissions(needed=("read",)).lacking(("read",)) == []
