"""Whether a target takes our writes."""

from __future__ import annotations

from tests.support.ledgers import START, HandClock, OwnedLedger


def test_since_stays_while_the_state_does(ledger: OwnedLedger, clock: HandClock) -> None:
    assert ledger.target("hubspot") is None
    down = ledger.mark_target("hubspot", up=False, reason="401")
    assert (down.state, down.reason, down.since, down.checked_at) == ("down", "401", START, START)
    later = clock.forward(30)
    still = ledger.mark_target("hubspot", up=False, reason="403")
    assert (still.state, still.reason, still.since, still.checked_at) == ("down", "403", START, later)
    back = clock.forward(30)
    up = ledger.mark_target("hubspot", up=True, reason=None)
    assert (up.state, up.reason, up.since, up.checked_at) == ("up", None, back, back)
    assert ledger.target("hubspot") == up
    assert ledger.target("salesforce") is None
