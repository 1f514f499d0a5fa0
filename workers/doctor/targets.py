"""The target systems: credentials and what they open, our two fields, what the policy names, the clock.

All checks are the same for every system; a further one adds its `Words`, and a `Remark` for what only it can tell.
"""

from __future__ import annotations

import asyncio
from contextlib import closing

from leadproof.domain.diagnosis import Opened, Permissions
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.policy import Policy
from leadproof.ports import Clock, CrmDiagnosis
from leadproof.settings import Settings
from workers.doctor import clocks, target_fields
from workers.doctor.report import Report
from workers.doctor.target import Target, targets


async def examine(settings: Settings, policy: Policy | None, clock: Clock, report: Report) -> None:
    """Ask every target."""
    for target in targets(settings, policy):
        await asyncio.to_thread(_examine, target, policy, clock, report)


def _examine(target: Target, policy: Policy | None, clock: Clock, report: Report) -> None:
    token, time_check = target.check("token"), target.check("clock")
    further = ("account", "permissions", *(("app",) if target.words.app is not None else ()))
    checks = [*(target.check(name) for name in further), *target_fields.checks(target), time_check]
    try:
        diagnosis = target.examined()
    except ConfigurationRefused as error:
        report.wrong(token, str(error))
        report.skip(f"{target.title} has no credentials", *checks)
        return
    with closing(diagnosis):
        asked = clock.now()
        try:
            opened = diagnosis.opened()
        except ConfigurationRefused as error:
            report.wrong(token, str(error), _what_to_do(target, error))
            report.skip(f"{target.title} gave no answer to the first question", *checks)
            return
        times = (opened.time, asked, clock.now())
        report.ok(token, "it is accepted")
        _account(target, opened, report)
        if opened.unusable is not None:
            report.wrong(target.check(opened.unusable.check), opened.unusable.says, opened.unusable.do)
            report.skip(f"{target.title} cannot be asked further before that", *checks[1:])
            return
        _permissions(target, diagnosis, report)
        _remarks(target, diagnosis, report)
        target_fields.ours(target, diagnosis, report)
        target_fields.of_the_policy(target, policy, diagnosis, report)
    clocks.compare(report, time_check, target.title, times, clocks.margin_of(policy))


def _what_to_do(target: Target, error: ConfigurationRefused) -> str:
    words = target.words
    if isinstance(error, TargetUnreachable):
        return f"see that this machine reaches that address, or change {words.address}"
    if isinstance(error, TargetForeign):
        return f"see that {words.address} is the address of {target.title}, then check {words.credentials}"
    return f"check {words.credentials}, and whether {target.title} says that it has trouble"


def _account(target: Target, opened: Opened, report: Report) -> None:
    check, named = target.check("account"), target.system.account_variable
    what = f"the token opens {target.system.account_word} {opened.account}"
    if target.expected_account is None:
        says = f"{named} is not set, so that an event of another {target.system.account_word} is taken for one of ours"
        report.warn(check, says, f"set it to {opened.account}, which the token opens, if that is the one you mean")
    elif target.expected_account != opened.account:
        report.wrong(
            check,
            f"{what}, {named} names {target.expected_account}",
            f"change {target.words.credentials} or {named}, whichever is not the {target.system.account_word} you mean",
        )
    else:
        report.ok(check, f"the token opens {opened.account}, as {named} says")


def _permissions(target: Target, diagnosis: CrmDiagnosis, report: Report) -> None:
    check, words = target.check("permissions"), target.words
    try:
        permissions = diagnosis.permissions()
    except ConfigurationRefused as error:
        says = f"{target.title} does not tell what {words.holder} may do ({error})"
        report.warn(check, says, f"compare it with what {words.document} says")
        if words.app is not None:
            report.skip(f"{target.title} does not tell whose the token is", target.check("app"))
        return
    lacking, to_write = permissions.lacking(permissions.needed), permissions.lacking(permissions.to_write)
    to_create = permissions.lacking(permissions.to_create)
    if lacking or (to_write and target.writes):
        report.wrong(check, f"{words.holder} lacks {', '.join([*lacking, *to_write])}", words.grant)
    elif to_write:
        says = f"{words.holder} lacks {', '.join(to_write)}, which shadow mode does not need"
        report.warn(check, says, f"{words.grant} before you go live")
    elif to_create:
        report.ok(check, f"it has all that a worker needs; to create properties it would need {', '.join(to_create)}")
    else:
        report.ok(check, f"{words.holder} has every right that is needed")
    if words.app is not None:
        _app(target, permissions, report)


def _app(target: Target, permissions: Permissions, report: Report) -> None:
    check, named, theirs = target.check("app"), target.app_variable, permissions.app
    if target.expected_app is None:
        says = f"{named} is not set, so that writes of ours are told from others by their marker only"
        report.warn(check, says, f"set it to {theirs}" if theirs else "set it to the id of the app")
    elif theirs is not None and theirs != target.expected_app:
        says = f"the token belongs to app {theirs}, {named} names {target.expected_app}"
        report.warn(check, says, f"set {named} to the app whose token it is, which is the one that history names")
    else:
        report.ok(check, f"writes are those of app {target.expected_app}" + (", whose token it is" if theirs else ""))


def _remarks(target: Target, diagnosis: CrmDiagnosis, report: Report) -> None:
    for remark in diagnosis.remarks():
        check = target.check(remark.check)
        if remark.do is None:
            report.ok(check, remark.says)
        elif remark.fatal:
            report.wrong(check, remark.says, remark.do)
        else:
            report.warn(check, remark.says, remark.do)
