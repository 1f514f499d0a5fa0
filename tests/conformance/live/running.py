"""One run over the named accounts: the cases, the behaviours, and taking away what was made."""

from __future__ import annotations

import secrets
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import httpx

from leadproof.ledger import schema
from leadproof.ledger.engine import connect
from leadproof.ledger.store import SqlLedger
from leadproof.settings import Settings
from tests.conformance.cases import Case
from tests.conformance.clocks import Waiting
from tests.conformance.hands import NotHere
from tests.conformance.live import hubspot, salesforce
from tests.conformance.live.accounts import Account, Opened, Unexpected
from tests.conformance.live.behaviours import Behaviour, behaviour_of, behaviours
from tests.conformance.live.checks import Checks, Probe, Verdict
from tests.conformance.live.consent import check_account
from tests.conformance.live.report import (
    FAILED,
    HELD,
    NOT_TRIED,
    BehaviourResult,
    CaseResult,
    Report,
    SystemReport,
)
from tests.conformance.policies import policy
from tests.conformance.stage import Stage
from tests.conformance.systems import ClosingCrm, System
from workers.compose import crms_of


class Kind(NamedTuple):
    """A system that can be tried.

    Attributes:
        probes: of its behaviours.
        untried: the other behaviours, by the beginnings of their rows, and why nobody tries them.
    """

    open: Callable[..., Account]
    probes: Sequence[Probe[Any]]
    untried: Mapping[str, str]


KINDS: Final = {
    "hubspot": Kind(hubspot.HubSpotAccount, hubspot.PROBES.all, hubspot.UNTRIED),
    "salesforce": Kind(salesforce.SalesforceAccount, salesforce.PROBES.all, salesforce.UNTRIED),
}

BASE_AGE: Final = 10.0
"""Shorter than in a deployment, since here its end is waited for."""

_MEMORY: Final = Path("/dev/shm")  # noqa: S108  the ledger of a run is of no use after it
_FAULTS: Final = "a real account does not fail on demand"
_NO_PROBE: Final = "no probe is written for it"
_NOT_ASKED: Final = "it was not asked for"


class Ready(NamedTuple):
    """An account that may be written to, and what it is like."""

    account: Account
    opened: Opened
    system: System


def open_accounts(settings: Settings, named: dict[str, str], clock: Waiting, run: str) -> list[Ready]:
    """The named accounts, once their credentials were seen to open them; nothing is written.

    Raises:
        ConfigurationRefused: credentials are missing, are refused, or open another account.
    """
    ready: list[Ready] = []
    with ExitStack() as refused:
        for name, expected in named.items():
            account = KINDS[name].open(settings, clock, run=run)
            refused.callback(account.close)
            found = account.opened()
            check_account(account.title, expected, found.account)
            ready.append(Ready(account, found, account.system()))
        refused.pop_all()
    return ready


def new_run() -> str:
    """What the records of a run are known by."""
    return secrets.token_hex(4)


def play(
    report: Report,
    settings: Settings,
    ready: Ready,
    clock: Waiting,
    *,
    cases: Mapping[str, Case],
    wanted: Callable[[str], bool],
) -> None:
    """Play everything on one account, and take away what was made, whatever happens.

    Args:
        wanted: whether a behaviour is to be tried, by the beginning of its row.
    """
    account, opened, system = ready
    found = SystemReport(account.name, account.title, opened.account, opened.kind)
    report.systems.append(found)
    try:
        if cases:
            _cases(report.run, settings, account, system, found, clock, cases)
        _behaviours(account, system.name, found, wanted)
    finally:
        found.removal = account.remove_all()


def _cases(
    run: str,
    settings: Settings,
    account: Account,
    system: System,
    found: SystemReport,
    clock: Waiting,
    cases: Mapping[str, Case],
) -> None:
    crm = cast(ClosingCrm, crms_of(settings, policy(system, base_age=BASE_AGE))[system.name])
    with closing(crm), tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        url = f"sqlite:///{Path(folder) / 'ledger.db'}"
        schema.upgrade(url)
        engine = connect(url)
        try:
            for number, (name, case) in enumerate(cases.items(), 1):
                account.begin()
                ledger = SqlLedger(engine, clock)
                ledger.mark_target(system.name, up=True, reason=None)
                stage = Stage(
                    system,
                    crm=crm,
                    impatient=crm,
                    hands=account,
                    ledger=ledger,
                    clock=clock,
                    tenant=f"live-{run}-{number}",
                    base_age=BASE_AGE,
                )
                found.cases.append(_played(name, case, stage))
        finally:
            engine.dispose()


def _played(name: str, case: Case, stage: Stage) -> CaseResult:
    if case.faults:
        return CaseResult(name, NOT_TRIED, _FAULTS)
    try:
        case.play(stage)
    except NotHere as why:
        return CaseResult(name, NOT_TRIED, str(why))
    except Exception as error:  # whatever breaks a case, the others are played and the records are taken away
        return CaseResult(name, FAILED, _where(error))
    return CaseResult(name, HELD)


def _behaviours(account: Account, system: str, found: SystemReport, wanted: Callable[[str], bool]) -> None:
    kind, tried = KINDS[system], set()
    for probe in kind.probes:
        row = behaviour_of(probe.behaviour, system)
        tried.add(row.text)
        if wanted(probe.behaviour):
            found.behaviours.append(_tried(probe, account, row))
        else:
            found.behaviours.append(BehaviourResult(row.text, row.label, Verdict.NOT_TRIED, why=_NOT_ASKED))
    reasons = {behaviour_of(beginning, system).text: why for beginning, why in kind.untried.items()}
    for row in behaviours(system):
        if row.text not in tried:
            why = reasons.get(row.text, _NO_PROBE)
            found.behaviours.append(BehaviourResult(row.text, row.label, Verdict.NOT_TRIED, why=why))


def _tried(probe: Probe[Any], account: Account, row: Behaviour) -> BehaviourResult:
    text, label = row
    checks = Checks()
    try:
        probe.play(account, checks)
    except NotHere as why:
        return BehaviourResult(text, label, Verdict.NOT_TRIED, why=str(why))
    except (Unexpected, httpx.HTTPError) as error:
        return BehaviourResult(text, label, Verdict.NOT_TRIED, why=f"the probe broke off: {_where(error)}")
    except Exception as error:  # an answer of another shape than the probe can read is a difference, too
        return BehaviourResult(text, label, Verdict.DIFFERED, why=f"the probe broke off: {_where(error)}")
    verdict = Verdict.DIFFERED if checks.differences else Verdict.AGREED
    return BehaviourResult(text, label, verdict, tuple(checks.differences))


def _where(error: Exception) -> str:
    """The kind of an error and the line of ours that raised it; never its text, which may hold values of a record."""
    if isinstance(error, Unexpected):
        return str(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "conformance" in frame.filename]
    line = frames[-1].line if frames else None
    kind = "it does not hold that" if isinstance(error, AssertionError) else type(error).__name__
    return f"{kind}: {line}" if line else kind


def lines(report: Report, paths: Iterable[Path]) -> list[str]:
    """What is said at the end of a run."""
    said = [*report.summary(), f"the report is in {' and '.join(str(path) for path in paths)}"]
    for system in report.systems:
        said += [f"left behind in {system.title}: {left}" for left in system.removal.left]
    return said
