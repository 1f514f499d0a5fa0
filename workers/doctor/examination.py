"""The examination as a whole, and making what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leadproof.clock import SystemClock
from leadproof.domain.errors import ConfigurationRefused
from leadproof.ports import Clock
from leadproof.settings import Settings
from workers.doctor import configuration, ledger, planner, targets, temporal
from workers.doctor.report import Offer, Report


async def examine(
    read_settings: Callable[[], Settings],
    *,
    choose: Callable[[Report], Sequence[Offer]] = lambda _: (),
    clock: Clock | None = None,
) -> Report:
    """Hold a configuration against the real systems. Raises nothing for anything that is wrong with them.

    Args:
        read_settings: reads the settings; raises `ConfigurationRefused` where they are wrong.
        choose: given what was found, says which of its offers to make; after that everything is examined again.
        clock: ours; compared with those of the others.
    """
    ours = clock or SystemClock()
    report = await _examined(read_settings, ours)
    chosen = choose(report)
    if not chosen:
        return report
    failed, made = Report(), []
    for offer in chosen:
        with failed.guarded(offer.check, "make it by hand"):
            await offer.make()
            made.append(offer.what)
    report = await _examined(read_settings, ours)
    report.made.extend(made)
    report.findings.extend(failed.findings)
    return report


async def _examined(read_settings: Callable[[], Settings], clock: Clock) -> Report:
    report = Report()
    try:
        settings = read_settings()
    except ConfigurationRefused as error:
        report.wrong(configuration.SETTINGS, str(error), "`leadproof config` lists every setting and its meaning")
        configuration.without_settings(report)
        planner.without_settings(report)
        ledger.without_settings(report)
        report.skip("the settings cannot be read", "targets")
        temporal.without_settings(report)
        return report
    report.ok(configuration.SETTINGS, "they can be read")
    policy = configuration.examine(settings, report)
    await planner.examine(settings, policy, report)
    with report.guarded("ledger"):
        await ledger.examine(settings, policy, report)
    with report.guarded("targets"):
        await targets.examine(settings, policy, clock, report)
    with report.guarded("temporal"):
        await temporal.examine(settings, policy, clock, report)
    return report
