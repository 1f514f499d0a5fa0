"""The fields that a target has to have: our two, and those that the policy names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from leadproof.domain.diagnosis import FieldPresence, FieldState, OurField, WantedField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_target import missing
from leadproof.domain.policy_text import doubts_against, faults_against
from leadproof.ports import CrmDiagnosis
from leadproof.settings import variable
from workers.doctor.making import make
from workers.doctor.report import Report
from workers.doctor.target import Target

CHECKS: Final = {OurField.EXTERNAL_ID: "external-id", OurField.MARKER: "marker"}
POLICY: Final = "policy"
CHANGE: Final = "a policy that is changed needs a new version"

_OURS_HAS: Final = 64
"""Characters of an external id and of a marker."""


def ours(target: Target, diagnosis: CrmDiagnosis, report: Report) -> None:
    """Report on our two fields, of each object that leads come from or go to."""
    checks = [target.check(name) for name in CHECKS.values()]
    try:
        states = diagnosis.our_fields()
    except ConfigurationRefused as error:
        report.wrong(checks[0], str(error), f"let {target.words.holder} read {target.system.field_word} definitions")
        report.skip("the definitions could not be read", *checks[1:])
        return
    several = len({state.target_object for state in states}) > 1
    for state in states:
        name = CHECKS[state.field]
        _ours(target, state, diagnosis, report, target.check(f"{state.target_object}.{name}" if several else name))


def _ours(target: Target, state: FieldState, diagnosis: CrmDiagnosis, report: Report, check: str) -> None:
    by_hand = diagnosis.by_hand(state)
    at = variable(target.system.our_fields[state.field])
    another = f"name another one in {at} and {by_hand or 'run `leadproof doctor --create`'}"
    unique = state.field is OurField.EXTERNAL_ID
    its = f"the {target.system.field_word} {state.name}"
    if state.presence is FieldPresence.MISSING:
        _missing(target, state, report, check, by_hand)
    elif state.presence is FieldPresence.ARCHIVED:
        says = f"{its} is archived in {target.title}, and its name is taken"
        report.wrong(check, says, f"restore it there, or {another}")
    elif not state.text:
        report.wrong(check, f"{its} is {state.kind} and no text", another)
    elif state.holds is not None and state.holds < _OURS_HAS:
        says = f"{its} holds {state.holds} characters, and what we write to it has {_OURS_HAS}"
        report.wrong(check, says, "make it longer")
    elif unique and not state.unique:
        settled = ", which is decided when a property is made" if by_hand is None else ""
        report.wrong(check, f"{its} is not unique{settled}", another if by_hand is None else by_hand)
    elif unique and state.addresses is False:
        report.wrong(check, f"{its} is not marked as an external id, so that no record can be addressed by it", by_hand)
    elif not state.writable:
        report.wrong(check, f"the API cannot set {its}", another)
    elif unique and state.case_sensitive is False:
        report.warn(check, f"{its} is unique without regard to case", "mark it as case-sensitive")
    elif not unique and not state.keeps_history:
        says = f"{its} keeps no history, so that only the last write to a record is known for ours"
        report.warn(check, says, "turn on history tracking for it")
    else:
        kind = "text and unique" if unique else "text that keeps its history"
        report.ok(check, f"{its} is {kind}")


def _missing(target: Target, state: FieldState, report: Report, check: str, by_hand: str | None) -> None:
    word = target.system.field_word
    if by_hand is not None:
        says = f"{target.title} has no {state.target_object} {word} {state.name}, or {target.words.holder} sees none"
        report.wrong(check, says, by_hand)
        return
    says = f"{target.title} has no {word} {state.name}"
    report.wrong(check, says, f"run `leadproof doctor --create`, or make it by hand as {target.words.document} says")
    kind = "a line of text, unique" if state.field is OurField.EXTERNAL_ID else "a line of text"
    offered = partial(make, target.examined, target.title, state.name, state.field)
    report.offer(check, f"the {word} {state.name} in {target.title} ({kind})", offered)


def of_the_policy(target: Target, policy: Policy | None, diagnosis: CrmDiagnosis, report: Report) -> None:
    """Hold the policy against what the target says of itself."""
    check = target.check(POLICY)
    if policy is None:
        report.skip("the policy is not accepted", check)
        return
    with report.guarded(
        check, f"let {target.words.holder} read owners, {target.system.field_word} definitions and account details"
    ):
        descriptions = target.describe(policy)
        wanted = {fault.why: field for each in descriptions for fault, field in missing(policy, each)}
        faults = faults_against(policy, *descriptions)
        for fault in faults:
            if fault.why in wanted:
                _wanted(target, wanted[fault.why], diagnosis, report, str(fault))
            else:
                report.wrong(check, str(fault), f"mend the policy and give it a new version, or mend {target.title}")
        doubts = doubts_against(policy, *descriptions)
        for doubt in doubts:
            report.warn(check, str(doubt), CHANGE)
        if not faults and not doubts:
            report.ok(check, f"{target.title} knows every owner, stage, field and option that it names")


def _wanted(target: Target, wanted: WantedField, diagnosis: CrmDiagnosis, report: Report, says: str) -> None:
    """Report a field that the policy names and the target lacks, and offer to make it where it is known how."""
    check = target.check(POLICY)
    by_hand = diagnosis.by_hand(wanted)
    if wanted.instead is not None:
        report.wrong(check, says, CHANGE)
    elif by_hand is not None:
        report.wrong(check, says, f"{by_hand}; {CHANGE}")
    elif diagnosis.presence_of(wanted.name) is FieldPresence.ARCHIVED:
        report.wrong(check, says, f"it is archived in {target.title}, so restore it there; {CHANGE}")
    elif wanted.options:
        report.wrong(check, says, f"`leadproof doctor --create` makes it; {CHANGE}")
        what = f"the {target.system.field_word} {wanted.name} in {target.title} ({wanted.kind})"
        report.offer(check, what, partial(make, target.examined, target.title, wanted.name, wanted))
    else:
        report.wrong(check, says, CHANGE)


def checks(target: Target) -> Iterable[str]:
    """The checks of this file, in order."""
    return (target.check(name) for name in (*CHECKS.values(), POLICY))
