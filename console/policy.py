"""`leadproof policy`: for those who write a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from leadproof.domain.errors import PolicyRefused
    from leadproof.domain.policy import Policy
    from leadproof.domain.policy_text import Examined

app = typer.Typer(help="Check, show and try a policy.", no_args_is_help=True)

PolicyFile = Annotated[Path, typer.Argument(help="the policy, in TOML")]
JsonOption = Annotated[bool, typer.Option("--json", help="for programs")]

_REFUSED = 1


@app.command()
def check(
    file: PolicyFile,
    against_target: Annotated[
        bool, typer.Option("--against-target", help="also against what the CRM of the settings says of itself")
    ] = False,
    against_ledger: Annotated[
        bool, typer.Option("--against-ledger", help="also against the versions that the ledger of the settings holds")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say everything that is wrong with a policy, with its line, or what it says."""
    from console.policy_summary import rows, summary
    from console.tables import say, say_json, say_table
    from leadproof.domain.policy_text import doubts, examine

    examined = examine(_text(file))
    faults = [("policy", fault) for fault in examined.faults]
    warnings: list[tuple[str, PolicyRefused]] = []
    if examined.policy is not None and not faults:
        warnings += [("policy", doubt) for doubt in doubts(examined.policy)]
        if against_target:
            found, doubted = _against_targets(examined.policy)
            faults += [("target", fault) for fault in found]
            warnings += [("target", doubt) for doubt in doubted]
        if against_ledger:
            faults += [("ledger", fault) for fault in _ledger_faults(examined.policy)]
    faults.sort(key=lambda found: (found[1].line is None, found[1].line or 0))
    policy = examined.policy
    if as_json:
        say_json(
            {
                "file": str(file),
                "ok": not faults,
                "faults": [{"line": one.line, "says": one.why, "against": what} for what, one in faults],
                "warnings": [{"line": one.line, "says": one.why, "against": what} for what, one in warnings],
                "all_found": examined.whole and not (examined.faults and (against_target or against_ledger)),
                "policy": summary(policy) if policy is not None and not faults else None,
            }
        )
    elif faults:
        _say_faults(file, [fault for _, fault in faults], examined)
        if examined.faults and (against_target or against_ledger):
            say("It is compared with the CRM and the ledger once it has no fault of its own.")
    elif policy is not None:
        say(f"ok: {file}")
        for _, doubt in warnings:
            say(f"{_place(file, doubt)}: warning: {doubt.why}")
        say_table(("what", "the policy says"), list(rows(policy)))
    if faults:
        raise typer.Exit(_REFUSED)


@app.command()
def show(
    version: Annotated[str, typer.Argument(help="a version that was loaded")], as_json: JsonOption = False
) -> None:
    """Print the text of a version as the ledger keeps it, byte for byte."""
    import hashlib
    import sys

    from console.tables import say_json
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from workers import compose

    ledger = compose.open_ledger(load())
    text = ledger.policy_text(version)
    if text is None:
        known = ", ".join(ledger.policy_versions(10))
        raise NotFound(f"the ledger holds no version {version!r} of the policy, but {known or 'none at all'}")
    if as_json:
        say_json({"version": version, "digest": hashlib.sha256(text.encode("utf-8")).hexdigest(), "text": text})
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


@app.command("test")
def try_(
    file: PolicyFile,
    lead: Annotated[Path, typer.Option(help="a lead as for POST /v1/leads, in JSON; docs/policy.md says what else")],
    as_json: JsonOption = False,
) -> None:
    """Say what would be done with one lead, and why; nothing is asked, read or written."""
    from console.policy_trial import answer, say_trial
    from console.tables import say_json
    from leadproof.domain.errors import ConfigurationRefused
    from leadproof.domain.policy_text import examine
    from workers.trial import try_lead

    examined = examine(_text(file))
    if examined.policy is None or examined.faults:
        _say_faults(file, list(examined.faults), examined)
        raise typer.Exit(_REFUSED)
    try:
        body = lead.read_bytes()
    except OSError:
        raise ConfigurationRefused(f"the lead {lead} cannot be read") from None
    trial = try_lead(examined.policy, body)
    if as_json:
        say_json(answer(trial))
    else:
        say_trial(examined.policy, trial)


def _text(file: Path) -> str:
    from leadproof.domain.errors import ConfigurationRefused

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationRefused(f"the policy {file} cannot be read; name a text file in TOML") from None


def _against_targets(policy: Policy) -> tuple[list[PolicyRefused], list[PolicyRefused]]:
    """The faults against what the targets say of themselves, and the doubts."""
    from leadproof.domain.errors import PolicyRefused
    from leadproof.domain.policy_text import doubts_against, faults_against
    from leadproof.settings import load
    from workers import compose

    settings = load()
    try:
        crms = compose.crms_of(settings, policy)
    except PolicyRefused as refused:
        return [refused], []
    described = [compose.described(settings, policy, crm) for crm in crms.values()]
    return (
        [fault for target in described for fault in faults_against(policy, *target)],
        [doubt for target in described for doubt in doubts_against(policy, *target)],
    )


def _ledger_faults(policy: Policy) -> tuple[PolicyRefused, ...]:
    from leadproof.settings import load
    from workers import compose

    return compose.open_ledger(load()).policy_faults(policy)


def _say_faults(file: Path, faults: list[PolicyRefused], examined: Examined) -> None:
    from console.tables import say

    for fault in faults:
        say(f"{_place(file, fault)}: {fault.why}")
    say(f"{len(faults)} fault{'s' if len(faults) != 1 else ''}")
    if not examined.whole:
        say("What depends on that is looked at once it is mended.")


def _place(file: Path, fault: PolicyRefused) -> str:
    """Where an editor can jump to."""
    return f"{file}:{fault.line}" if fault.line is not None else str(file)
