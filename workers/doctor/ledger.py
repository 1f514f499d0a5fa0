"""The ledger: reachable, of this code's schema, and willing to take the policy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

from leadproof.domain.errors import LeadproofError, LedgerOutdated, PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.settings import Settings
from workers.compose import open_ledger
from workers.doctor.report import Report

REACHABLE = "ledger"
SCHEMA = "ledger.schema"
POLICY = "ledger.policy"

_PATIENCE_SECONDS = 3.0
_ADDRESS = "set LEADPROOF_LEDGER_URL to a ledger that answers"


def without_settings(report: Report) -> None:
    report.skip("the settings cannot be read", REACHABLE, SCHEMA, POLICY)


async def examine(settings: Settings, policy: Policy | None, report: Report) -> None:
    await asyncio.to_thread(_examine, settings, policy, report)


def _examine(settings: Settings, policy: Policy | None, report: Report) -> None:
    try:
        ledger = open_ledger(settings, busy_seconds=_PATIENCE_SECONDS)
    except LedgerOutdated as error:
        report.ok(REACHABLE, "its address can be used")
        report.wrong(SCHEMA, str(error))  # it says what to run
        report.skip("the ledger's schema is not this code's", POLICY)
        return
    except LeadproofError as error:
        report.wrong(REACHABLE, str(error), f"start its database, or {_ADDRESS}")
    except Exception as error:  # a file that is no database, a driver's own error: whatever it is, it is no ledger
        report.wrong(REACHABLE, f"what stands at its address cannot be opened ({type(error).__name__})", _ADDRESS)
    else:
        report.ok(REACHABLE, "it answers")
        report.ok(SCHEMA, "it is this code's")
        with closing(ledger):
            _takes(ledger.policy_faults, policy, report)
        return
    report.skip("the ledger cannot be reached", SCHEMA, POLICY)


def _takes(faults_of: Callable[[Policy], tuple[PolicyRefused, ...]], policy: Policy | None, report: Report) -> None:
    if policy is None:
        report.skip("the policy is not accepted", POLICY)
        return
    with report.guarded(POLICY, "look at the ledger"):
        faults = faults_of(policy)
        for fault in faults:
            report.wrong(
                POLICY, str(fault), "give what was changed a new `version`, and leave the past of [[event]] as it is"
            )
        if not faults:
            report.ok(POLICY, f"version {policy.version} is in it, or can be added to it")
