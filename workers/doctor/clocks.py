"""Our clock against another one."""

from __future__ import annotations

from datetime import datetime, timedelta

from leadproof.domain.diagnosis import ServerTime, least_difference
from leadproof.domain.policy import Policy
from workers.doctor.report import Report


def margin_of(policy: Policy | None) -> timedelta | None:
    """How far clocks may differ: the strictest margin of the policy's targets."""
    margins = [target.clock_margin_seconds for target in policy.targets.values()] if policy is not None else []
    return timedelta(seconds=min(margins)) if margins else None


def compare(
    report: Report,
    check: str,
    whose: str,
    times: tuple[ServerTime | None, datetime, datetime],
    margin: timedelta | None,
) -> None:
    """Report how far apart two clocks are at least.

    Args:
        whose: names the other clock.
        times: the other clock, and ours before the question and after the answer.
        margin: `None` where no policy says.
    """
    server, asked, answered = times
    if margin is None:
        report.skip("no policy says how far clocks may differ", check)
    elif server is None:
        report.warn(check, f"{whose} does not tell the time", "see that this machine's clock is synchronised (NTP)")
    else:
        apart = least_difference(server, asked, answered)
        if abs(apart) <= margin:
            report.ok(check, f"ours and that of {whose} agree within {margin.total_seconds():g} s")
        else:
            ahead = "behind" if apart > timedelta(0) else "ahead of"
            report.wrong(
                check,
                f"ours is {abs(apart).total_seconds():.1f} s {ahead} that of {whose}, and the policy allows "
                f"{margin.total_seconds():g} s (clock_margin_seconds)",
                "synchronise this machine's clock (NTP)",
            )
