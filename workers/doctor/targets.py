"""The target systems: credentials and what they open, our two fields, what the policy names, the clock.

A further system is one more function here that makes a `Target`, over its own `CrmDiagnosis`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Final

from leadproof.domain.diagnosis import FieldPresence, FieldState, Opened, OurField, Permissions, WantedField
from leadproof.domain.environment import SHADOW
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.policy_target import missing
from leadproof.domain.policy_text import faults_against
from leadproof.domain.records import Description
from leadproof.ports import Clock, CrmDiagnosis
from leadproof.settings import Settings
from workers import compose
from workers.doctor import clocks
from workers.doctor.making import make
from workers.doctor.report import Report


@dataclass(frozen=True, slots=True)
class Target:
    """A target system under examination.

    Attributes:
        title: its name for people.
        token, address, account, app: the variables that name credentials, the target's address, account and app.
        expected_account, expected_app: what they say.
        names: the variables that name our two fields.
        writes: whether this deployment writes to it; in shadow mode it does not.
        examined: opens it for the questions of an examination; raises `ConfigurationRefused`.
        describe: what it says of itself, in the words of a policy that names it; raises `ConfigurationRefused`.
    """

    system: str
    title: str
    token: str
    address: str
    account: str
    app: str
    expected_account: str | None
    expected_app: str | None
    names: dict[OurField, str]
    writes: bool
    examined: Callable[[], CrmDiagnosis]
    describe: Callable[[Policy], Description]

    def checks(self) -> list[str]:
        """The names of the checks that need its answer, in order."""
        return [f"{self.system}.{name}" for name in ("account", "permissions", "app", *_FIELDS.values(), "policy")]


_FIELDS: Final = {OurField.EXTERNAL_ID: "external-id", OurField.MARKER: "marker"}


def targets(settings: Settings, policy: Policy | None) -> Iterator[Target]:
    """The targets of the policy; where it is not accepted, those that have credentials."""
    hubspot = compose.HUBSPOT in policy.targets if policy is not None else settings.hubspot_token is not None
    if hubspot:
        yield _hubspot(settings, policy)


def _hubspot(settings: Settings, policy: Policy | None) -> Target:
    return Target(
        system=compose.HUBSPOT,
        title="HubSpot",
        token="LEADPROOF_HUBSPOT_TOKEN",  # noqa: S106  the name of a variable
        address="LEADPROOF_HUBSPOT_BASE_URL",
        account="LEADPROOF_HUBSPOT_PORTAL_ID",
        app="LEADPROOF_HUBSPOT_APP_ID",
        expected_account=settings.hubspot_portal_id,
        expected_app=settings.hubspot_app_id,
        names={
            OurField.EXTERNAL_ID: "LEADPROOF_HUBSPOT_EXTERNAL_ID_PROPERTY",
            OurField.MARKER: "LEADPROOF_HUBSPOT_MARKER_PROPERTY",
        },
        writes=settings.mode != SHADOW,
        examined=partial(compose.hubspot_diagnosis, settings, policy),
        describe=partial(_describe_hubspot, settings),
    )


def _describe_hubspot(settings: Settings, policy: Policy) -> Description:
    with closing(compose.hubspot(settings, policy)) as crm:
        return crm.describe(TargetObject.CONTACT)


async def examine(settings: Settings, policy: Policy | None, clock: Clock, report: Report) -> None:
    """Ask every target."""
    for target in targets(settings, policy):
        await asyncio.to_thread(_examine, target, policy, clock, report)


def _examine(target: Target, policy: Policy | None, clock: Clock, report: Report) -> None:
    token, time_check = f"{target.system}.token", f"{target.system}.clock"
    try:
        diagnosis = target.examined()
    except ConfigurationRefused as error:
        report.wrong(token, str(error))
        report.skip(f"{target.title} has no credentials", *target.checks(), time_check)
        return
    with closing(diagnosis):
        asked = clock.now()
        try:
            opened = diagnosis.opened()
        except ConfigurationRefused as error:
            report.wrong(token, str(error), _what_to_do(target, error))
            report.skip(f"{target.title} gave no answer to the first question", *target.checks(), time_check)
            return
        times = (opened.time, asked, clock.now())
        report.ok(token, "it is accepted")
        _account(target, opened, report)
        _permissions(target, diagnosis, report)
        _our_fields(target, diagnosis, report)
        _policy(target, policy, diagnosis, report)
    clocks.compare(report, time_check, target.title, times, clocks.margin_of(policy))


def _what_to_do(target: Target, error: ConfigurationRefused) -> str:
    if isinstance(error, TargetUnreachable):
        return f"see that this machine reaches that address, or change {target.address}"
    if isinstance(error, TargetForeign):
        return f"see that {target.address} is the address of {target.title}, then check {target.token}"
    return f"check {target.token}, and whether {target.title} says that it has trouble"


def _account(target: Target, opened: Opened, report: Report) -> None:
    check = f"{target.system}.account"
    if target.expected_account is None:
        says = f"{target.account} is not set, so that an event of another account is taken for one of ours"
        report.warn(check, says, f"set it to {opened.account}, which the token opens, if that is the one you mean")
    elif target.expected_account != opened.account:
        report.wrong(
            check,
            f"the token opens account {opened.account}, {target.account} names {target.expected_account}",
            f"change {target.token} or {target.account}, whichever is not the account you mean",
        )
    else:
        report.ok(check, f"the token opens {opened.account}, as {target.account} says")


def _permissions(target: Target, diagnosis: CrmDiagnosis, report: Report) -> None:
    check, app = f"{target.system}.permissions", f"{target.system}.app"
    try:
        permissions = diagnosis.permissions()
    except ConfigurationRefused as error:
        says = f"{target.title} does not tell what the token may do ({error})"
        report.warn(check, says, "compare its scopes with those in docs/hubspot.md")
        report.skip(f"{target.title} does not tell whose the token is", app)
        return
    lacking, to_write = permissions.lacking(permissions.needed), permissions.lacking(permissions.to_write)
    to_create = permissions.lacking(permissions.to_create)
    if lacking or (to_write and target.writes):
        report.wrong(check, f"the token lacks {', '.join([*lacking, *to_write])}", "give its app these scopes")
    elif to_write:
        says = f"the token lacks {', '.join(to_write)}, which shadow mode does not need"
        report.warn(check, says, "give its app these scopes before you go live")
    elif to_create:
        report.ok(check, f"it has all that a worker needs; to create properties it would need {', '.join(to_create)}")
    else:
        report.ok(check, "it has all that are needed")
    _app(target, permissions, report)


def _app(target: Target, permissions: Permissions, report: Report) -> None:
    check, theirs = f"{target.system}.app", permissions.app
    if target.expected_app is None:
        says = f"{target.app} is not set, so that writes of ours are told from others by their marker only"
        report.warn(check, says, f"set it to {theirs}" if theirs else "set it to the id of the app")
    elif theirs is not None and theirs != target.expected_app:
        says = f"the token belongs to app {theirs}, {target.app} names {target.expected_app}"
        report.warn(check, says, f"set {target.app} to the app whose token it is, which is the one that history names")
    else:
        report.ok(check, f"writes are those of app {target.expected_app}" + (", whose token it is" if theirs else ""))


def _our_fields(target: Target, diagnosis: CrmDiagnosis, report: Report) -> None:
    checks = [f"{target.system}.{name}" for name in _FIELDS.values()]
    try:
        states = diagnosis.our_fields()
    except ConfigurationRefused as error:
        report.wrong(checks[0], str(error), "let the token read property definitions")
        report.skip("the definitions could not be read", *checks[1:])
        return
    for state in states:
        _our_field(target, state, report)


def _our_field(target: Target, state: FieldState, report: Report) -> None:
    check, variable = f"{target.system}.{_FIELDS[state.field]}", target.names[state.field]
    another = f"name another one in {variable} and run `leadproof doctor --create`"
    unique = state.field is OurField.EXTERNAL_ID
    if state.presence is FieldPresence.MISSING:
        says = f"{target.title} has no property {state.name}"
        report.wrong(check, says, "run `leadproof doctor --create`, or make it by hand as docs/hubspot.md says")
        kind = "a line of text, unique" if unique else "a line of text"
        offered = partial(make, target.examined, target.title, state.name, state.field)
        report.offer(check, f"the property {state.name} in {target.title} ({kind})", offered)
    elif state.presence is FieldPresence.ARCHIVED:
        says = f"the property {state.name} is archived in {target.title}, and its name is taken"
        report.wrong(check, says, f"restore it there, or {another}")
    elif not state.text:
        report.wrong(check, f"the property {state.name} is {state.kind} and no text", another)
    elif unique and not state.unique:
        says = f"the property {state.name} is not unique, which is decided when a property is made"
        report.wrong(check, says, another)
    elif not state.writable:
        report.wrong(check, f"the API cannot set the property {state.name}", another)
    elif not unique and not state.keeps_history:
        report.wrong(check, f"the property {state.name} keeps no history", another)
    else:
        kind = "text and unique" if unique else "text that keeps its history"
        report.ok(check, f"the property {state.name} is {kind}")


def _policy(target: Target, policy: Policy | None, diagnosis: CrmDiagnosis, report: Report) -> None:
    check = f"{target.system}.policy"
    if policy is None:
        report.skip("the policy is not accepted", check)
        return
    with report.guarded(check, "let the token read owners, property definitions and account details"):
        description = target.describe(policy)
        wanted = {fault.why: field for fault, field in missing(policy, description)}
        faults = faults_against(policy, description)
        for fault in faults:
            if fault.why in wanted:
                _wanted_field(target, wanted[fault.why], diagnosis, report, str(fault))
            else:
                report.wrong(check, str(fault), f"mend the policy and give it a new version, or mend {target.title}")
        if not faults:
            report.ok(check, f"{target.title} knows every owner, stage, field and option that it names")


def _wanted_field(target: Target, wanted: WantedField, diagnosis: CrmDiagnosis, report: Report, says: str) -> None:
    """Report a field that the policy names and the target lacks, and offer to make it where it is known how."""
    check, change = f"{target.system}.policy", "a policy that is changed needs a new version"
    if diagnosis.presence_of(wanted.name) is FieldPresence.ARCHIVED:
        report.wrong(check, says, f"it is archived in {target.title}, so restore it there; {change}")
    elif wanted.options:
        report.wrong(check, says, f"`leadproof doctor --create` makes it; {change}")
        what = f"the property {wanted.name} in {target.title} ({wanted.kind})"
        report.offer(check, what, partial(make, target.examined, target.title, wanted.name, wanted))
    else:
        report.wrong(check, says, change)
