"""A catch-up as a command runs it: everything opened from the settings, and closed again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

from leadproof.clock import SystemClock
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy import Policy
from leadproof.ports import Candidates, Ledger
from leadproof.settings import Settings, check_mode
from starter import catch_up
from starter.admission import source_fields
from starter.catch_up import Admit, Report, Seen
from starter.intake import Intake
from workers.compose import SYSTEMS, open_ledger, read_policy, systems_of
from workers.connect import connect
from workers.systems.hubspot import NAME as HUBSPOT
from workers.systems.hubspot import watched_properties
from workers.systems.salesforce import NAME as SALESFORCE
from workers.systems.system import System

CONNECT_SECONDS = 5.0


async def hubspot(
    settings: Settings, *, since: datetime, until: datetime | None, dry_run: bool, report: Report
) -> None:
    """Admit what happened to HubSpot's contacts within a time and no delivery brought.

    Args:
        since, until: both inclusive; without `until` up to now.
        dry_run: only tell what would become of each event; then no Temporal is needed.
        report: counts as it goes.

    Raises:
        ConfigurationRefused, PolicyRefused, LedgerOutdated: what it needs is not right, or HubSpot is out of reach.
        LedgerUnavailable, TemporalUnavailable: no answer for a while; the same again completes it.
    """
    async with _opened(SYSTEMS[HUBSPOT], settings, dry_run=dry_run) as opened:
        await catch_up.catch_up_hubspot(
            opened.candidates,
            opened.admit,
            account=opened.account,
            properties=watched_properties(opened.policy),
            since=since,
            until=until,
            report=report,
        )


async def salesforce(
    settings: Settings, *, since: datetime, until: datetime | None, dry_run: bool, report: Report
) -> None:
    """Admit that Salesforce's leads and contacts were saved within a time and no notification told of it.

    Args:
        since, until: both inclusive; without `until` up to now.
        dry_run: only tell what would become of each event; then no Temporal is needed.
        report: counts as it goes.

    Raises:
        ConfigurationRefused, PolicyRefused, LedgerOutdated: what it needs is not right, or Salesforce is out of reach.
        LedgerUnavailable, TemporalUnavailable: no answer for a while; the same again completes it.
    """
    async with _opened(SYSTEMS[SALESFORCE], settings, dry_run=dry_run) as opened:
        await catch_up.catch_up_salesforce(
            opened.candidates,
            opened.admit,
            opened.seen,
            account=opened.account,
            since=since,
            until=until,
            report=report,
        )


class _Opened(NamedTuple):
    candidates: Candidates
    account: str
    policy: Policy
    admit: Admit
    seen: Seen


@asynccontextmanager
async def _opened(system: System, settings: Settings, *, dry_run: bool) -> AsyncIterator[_Opened]:
    """What a catch-up on a source needs."""
    check_mode(settings)
    policy = read_policy(settings.policy)
    if not any(kind.source == system.name for kind in policy.events):
        raise ConfigurationRefused(f"the policy acts on no event of {system.title}, so there is nothing to catch up on")
    systems_of(policy)  # which refuses a source that is no target
    candidates = system.candidates(settings, policy)
    try:
        ledger = open_ledger(settings)
        try:
            account = await asyncio.to_thread(candidates.account)
            system.check_account(settings, account)
            fields, clock = source_fields(policy), SystemClock()
            yield _Opened(
                candidates,
                account,
                policy,
                await _admit(system.name, settings, policy, ledger, dry_run=dry_run),
                catch_up.seeing(ledger=ledger, policy=policy, settings=settings, fields=fields, clock=clock),
            )
        finally:
            ledger.close()
    finally:
        candidates.close()


async def _admit(source: str, settings: Settings, policy: Policy, ledger: Ledger, *, dry_run: bool) -> Admit:
    fields, clock = source_fields(policy), SystemClock()
    if dry_run:
        return catch_up.foretelling(ledger=ledger, policy=policy, settings=settings, fields=fields, clock=clock)
    ledger.load_policy(policy)
    intake = Intake(
        settings=settings,
        ledger=ledger,
        client=await connect(settings, patience_seconds=CONNECT_SECONDS),
        policy=policy,
        clock=clock,
        fields=fields,
    )
    return catch_up.admitting(intake, source=source)
