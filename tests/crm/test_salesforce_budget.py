"""The org's calls: nothing is spaced while there are plenty, and the nearer the limit the slower we get."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.crm.salesforce_budget import WIDEST, Budget, Pace
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.records import Presence
from tests.crm.conftest import MakeSalesforce
from tests.crm.hostile import says
from tests.crm.salesforce_org import LEAD, Org, row, rows, update

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def told(used: int, limit: int = 100_000) -> dict[str, str]:
    return {"Sforce-Limit-Info": f"api-usage={used}/{limit}"}


def pace(used: int, limit: int = 100_000, clock: Clock | None = None) -> Pace:
    made = Pace(0.8, clock or Clock())
    made.heard(told(used, limit))
    return made


@pytest.mark.parametrize("used", [0, 79_999, 80_000])
def test_below_the_share_nothing_is_spaced(used: int) -> None:
    calls = pace(used)
    assert [calls.turn(0) for _ in range(100)] == [(True, 0.0)] * 100
    assert calls.budget() == Budget(used, 100_000, held=0)


def test_before_an_answer_told_anything_nothing_is_spaced() -> None:
    calls = Pace()
    assert [calls.turn(0) for _ in range(100)] == [(True, 0.0)] * 100
    assert calls.budget() == Budget(None, None, held=0)


def test_half_way_calls_come_as_the_limit_lasts_for_a_day() -> None:
    calls = pace(90_000)
    assert calls.turn(10) == (True, 0.0)
    assert [calls.turn(10)[1] for _ in range(2)] == pytest.approx([0.864, 2 * 0.864]), "turns are one behind the other"


def test_time_that_passes_counts() -> None:
    clock = Clock()
    calls = pace(90_000, clock=clock)
    calls.turn(10)
    clock.now += 0.5
    assert calls.turn(10)[1] == pytest.approx(0.364)
    clock.now += 60
    assert calls.turn(0) == (True, 0.0)


def test_a_turn_that_is_too_far_off_is_not_taken_and_is_counted() -> None:
    calls = pace(99_000)
    calls.turn(1)
    wait = calls.turn(1)[1]
    assert wait > 1
    assert calls.turn(1) == (False, wait), "a turn that was not taken delays nobody"
    assert calls.budget().held == 2


@given(st.integers(80_001, 200_000), st.integers(80_001, 200_000))
def test_the_space_grows_with_what_is_used_and_has_a_bound(one: int, other: int) -> None:
    def space(used: int) -> float:
        calls = pace(used)
        calls.turn(0)
        return calls.turn(10**9)[1]

    less, more = sorted((one, other))
    assert 0 < space(less) <= space(more) <= WIDEST


@pytest.mark.parametrize(
    ("header", "budget"),
    [
        ("api-usage=18/5000", (18, 5000)),
        ("api-usage=25/5000; per-app-api-usage=17/250(appName=sample-connected-app)", (25, 5000)),
        ("per-app-api-usage=17/250(appName=sample-connected-app)", (None, None)),
        ("api-usage=1/0", (None, None)),
        ("nonsense", (None, None)),
        ("", (None, None)),
    ],
)
def test_what_the_header_says(header: str, budget: tuple[int | None, int | None]) -> None:
    calls = Pace()
    calls.heard({"Sforce-Limit-Info": header})
    assert (calls.budget().used, calls.budget().limit) == budget


def test_twenty_threads_take_turns_one_behind_the_other() -> None:
    calls = pace(90_000)
    start = threading.Barrier(20)

    def work(_: int) -> float:
        start.wait()
        return calls.turn(10**6)[1]

    with ThreadPoolExecutor(20) as threads:
        waits = sorted(threads.map(work, range(20)))
    assert waits == pytest.approx([0.864 * turn for turn in range(20)])


def test_every_answer_is_heard_also_a_refusal(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(200, rows(row()), **told(18, 5000)), says(500, b"", **told(19, 5000)))
    assert salesforce.budget() == Budget(None, None, held=0)
    salesforce.read("lead", LEAD, [], history=False)
    assert salesforce.budget() == Budget(18, 5000, held=0)
    salesforce.write(update(title="CTO"))
    assert salesforce.budget() == Budget(19, 5000, held=0)


def test_a_call_whose_turn_is_too_far_off_is_not_sent_and_says_so(org: Org, make_salesforce: MakeSalesforce) -> None:
    crm = make_salesforce(org.server.url)
    org.answers(says(200, rows(row()), **told(4990, 5000)))
    assert crm.read("lead", LEAD, [], history=False).presence is Presence.ONE
    found = crm.read("lead", LEAD, [], history=False)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, False)
    assert "CALLS_ARE_SPACED: nothing was sent: few of the org's calls of today are left" in str(found.detail)
    assert 200 < (found.retry_after_seconds or 0) <= WIDEST
    assert (len(org.calls), crm.budget().held > 0) == (1, True)


def test_a_turn_that_comes_soon_is_waited_for(org: Org, make_salesforce: MakeSalesforce) -> None:
    crm = make_salesforce(org.server.url)
    org.answers(says(200, rows(row()), **told(900_000, 1_000_000)))
    for _ in range(3):
        assert crm.read("lead", LEAD, [], history=False).presence is Presence.ONE
    assert len(org.calls) == 3


def test_a_write_goes_at_once_after_its_check(org: Org, make_salesforce: MakeSalesforce) -> None:
    """Each attempt reads before it writes. If the write waited for a turn behind its own read, no write would leave
    from there on, and the reads would use up what is left."""
    crm = make_salesforce(org.server.url)
    org.answers(says(200, rows(row()), **told(13_500, 15_000)), says(204, b"", **told(13_501, 15_000)))
    assert crm.read("lead", LEAD, [], history=False).presence is Presence.ONE
    assert crm.write(update(title="CTO")).outcome is AnswerClass.ACCEPTED
    wait = crm.read("lead", LEAD, [], history=False).retry_after_seconds
    assert wait is not None
    assert 5.76 < wait <= 2 * 5.77, "it took a turn of the others"


def test_calls_that_do_not_wait_take_turns_of_the_others_and_never_many_ahead() -> None:
    calls = pace(90_000)
    calls.turn(0)
    for _ in range(100):
        calls.went()
    assert calls.turn(10)[1] == pytest.approx(2 * 0.864)
    plenty = pace(10)
    plenty.went()
    assert plenty.turn(0) == (True, 0.0)
