"""The only place where adapters meet activities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from temporalio.client import Client

from activities.effects import EffectActivities
from activities.handing_over import HandingOverActivities
from activities.planning import PlanningActivities
from activities.review import ReviewActivities
from activities.source import SourceActivities
from activities.sweep import SweepActivities
from leadproof.adapters import Adapters
from leadproof.clock import SystemClock
from leadproof.domain.diagnosis import OurField
from leadproof.domain.environment import SHADOW
from leadproof.domain.errors import ConfigurationRefused, PolicyRefused
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.policy_target import objects_of
from leadproof.domain.policy_text import check_against, parse_policy, reread_policy
from leadproof.domain.records import Description
from leadproof.ledger.engine import connect
from leadproof.ledger.schema import check
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Clock, Crm
from leadproof.rulebook import Rulebook
from leadproof.settings import Settings
from leadproof.shadow import ReadOnly
from workers.planners import planners_of
from workers.runs import TemporalRuns, TemporalSenders
from workers.systems.hubspot import HUBSPOT
from workers.systems.salesforce import SALESFORCE
from workers.systems.system import System

SYSTEMS: Final[Mapping[str, System]] = {system.name: system for system in (HUBSPOT, SALESFORCE)}
"""The CRMs that there is an adapter for."""


class Composition(NamedTuple):
    """What a worker runs."""

    ledger: SqlLedger
    crms: dict[str, Crm]
    policy: Policy
    activities: Sequence[Callable[..., Any]]


def open_ledger(settings: Settings, *, busy_seconds: float = 30.0, clock: Clock | None = None) -> SqlLedger:
    """The ledger of the settings, its schema checked; its times are the system's, or those of a clock.

    Raises:
        LedgerOutdated: the schema is older than this code.
    """
    engine = connect(settings.ledger_url, busy_seconds=busy_seconds)
    try:
        check(engine)
    except BaseException:
        engine.dispose()
        raise
    return SqlLedger(engine, clock or SystemClock(), parse=reread_policy)


def read_policy(path: Path) -> Policy:
    """The policy of a file.

    Raises:
        ConfigurationRefused: the file cannot be read.
        PolicyRefused: naming the line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationRefused(f"the policy {path} cannot be read; set LEADPROOF_POLICY to a policy.toml") from None
    return parse_policy(text)


def systems_of(policy: Policy) -> list[System]:
    """The CRMs that the policy names as targets.

    Raises:
        ConfigurationRefused: it names a target that there is no adapter for, or acts on events of a CRM that is none
            of its targets, so that nothing would say how a record is read there.
    """
    unknown = [name for name in policy.targets if name not in SYSTEMS]
    if unknown:
        raise ConfigurationRefused(
            f"the policy has the target {unknown[0]}, and there is an adapter only for {', '.join(SYSTEMS)}"
        )
    for event in policy.events:
        if event.source in SYSTEMS and event.source not in policy.targets:
            raise ConfigurationRefused(
                f"the policy acts on events of {event.source} and has no [target.{event.source}], which says how long "
                f"{SYSTEMS[event.source].title} may take to answer"
            )
    return [system for name, system in SYSTEMS.items() if name in policy.targets]


def crms_of(settings: Settings, policy: Policy) -> dict[str, Crm]:
    """The CRMs that the policy names as targets; of the others not even a client library is loaded.

    Raises:
        ConfigurationRefused: credentials are missing, or as `systems_of` says.
    """
    return {system.name: system.crm(settings, policy) for system in systems_of(policy)}


def looking(settings: Settings, policy: Policy) -> Callable[[str], Crm | None]:
    """Opens the policy's CRMs for reading, each when it is first asked for; threads may share it.

    Returns:
        A function from a system's name to its adapter, `None` where the settings hold no credentials for it.
    """
    opened: dict[str, Crm | None] = {}
    lock = Lock()

    def look(name: str) -> Crm | None:
        with lock:
            if name not in opened:
                system = SYSTEMS.get(name) if name in policy.targets else None
                known = system is not None and system.has_credentials(settings)
                opened[name] = ReadOnly(system.crm(settings, policy)) if system is not None and known else None
            return opened[name]

    return look


def our_field(system: str, name: str, policy: Policy) -> str | None:
    """Our name of a source's field; `None` where we have none."""
    return SYSTEMS[system].our_name(name, policy) if system in SYSTEMS and system in policy.targets else None


def described_objects(system: System, policy: Policy) -> tuple[TargetObject, ...]:
    """The objects whose description says whether a policy fits a CRM."""
    return objects_of(policy, system.name) or (system.usual_object,)


def described(settings: Settings, policy: Policy, crm: Crm) -> tuple[Description, ...]:
    """What a target says of itself, object by object as the policy names them.

    Raises:
        ConfigurationRefused: it cannot be asked, or the credentials open another account than the settings name.
    """
    system = SYSTEMS[crm.system]
    descriptions = []
    for target_object in described_objects(system, policy):
        description = crm.describe(target_object)
        system.check_account(settings, description.account)
        descriptions.append(description)
    return tuple(descriptions)


def check_targets(settings: Settings, policy: Policy, crms: dict[str, Crm]) -> None:
    """Hold the policy and the settings against what the targets say of themselves.

    Raises:
        PolicyRefused: an owner, a stage or a field of the policy that the target does not know.
        ConfigurationRefused: the credentials open another account than the settings name, or one of our two fields is
            not there or not what it has to be.
    """
    for crm in crms.values():
        for description in described(settings, policy, crm):
            _check_our_fields(SYSTEMS[crm.system], settings, description)
            check_against(policy, description)


def _check_our_fields(system: System, settings: Settings, description: Description) -> None:
    """Without a unique external id a create can be made twice, without the marker no effect is known for ours."""
    word = system.field_word
    for field, name in system.our_field_names(settings).items():
        found = description.fields.get(field)
        if found is None or found.name.casefold() != name.casefold():
            raise ConfigurationRefused(
                f"{system.title} has no {description.target_object} {word} {name}; {system.how_to_make}"
            )
        its = f"{system.title}'s {description.target_object} {word} {name}"
        if field is OurField.EXTERNAL_ID and not found.unique:
            raise ConfigurationRefused(f"{its} is no unique external id; `leadproof doctor` says what to do")
        if not found.writable:
            raise ConfigurationRefused(f"{its} cannot be written; `leadproof doctor` says what to do")


def older_adapter(settings: Settings, system: str, policy: Policy) -> Crm:
    """The adapter for mutations that are pinned to another policy than the worker's own.

    Raises:
        PolicyRefused: it names a CRM that the settings no longer open.
    """
    try:
        crm = SYSTEMS[system].crm(settings, policy)
    except (KeyError, ConfigurationRefused):
        raise PolicyRefused(f"version {policy.version!r} has the target {system}, which cannot be opened") from None
    return ReadOnly(crm) if settings.mode == SHADOW else crm


def compose(
    settings: Settings,
    client: Client,
    ledger: SqlLedger,
    policy: Policy,
    crms: dict[str, Crm],
    *,
    clock: Clock | None = None,
) -> Composition:
    """Adapters and activities of one worker; in shadow mode no adapter can write. The time is the system's, or that of
    a clock."""
    if settings.mode == SHADOW:
        crms = {system: ReadOnly(crm) for system, crm in crms.items()}
    clock = clock or SystemClock()
    ledger.load_policy(policy)
    rulebook = Rulebook(ledger, reread_policy, timedelta(seconds=settings.shadow_after_seconds), now=policy)
    key = settings.decision_key.get_secret_value() if settings.decision_key is not None else None
    pages = f"{settings.public_url.rstrip('/')}/review"
    adapters = Adapters(crms, policy, partial(older_adapter, settings))
    source = SourceActivities(ledger, adapters, rulebook, clock, our_field)
    planning = PlanningActivities(ledger, adapters, planners_of(settings, policy), rulebook, clock, review_page=pages)
    effects = EffectActivities(ledger, adapters, rulebook, clock)
    review = ReviewActivities(ledger, rulebook, clock, TemporalSenders(client), key, review_page=pages)
    runs = TemporalRuns(client, ledger, key)
    sweep = SweepActivities(ledger, rulebook, clock, runs, timedelta(seconds=settings.sweep_age_seconds))
    handing_over = HandingOverActivities(ledger, runs)
    return Composition(
        ledger=ledger,
        crms=crms,
        policy=policy,
        activities=[
            source.read_source,
            planning.plan,
            effects.write,
            effects.reconcile,
            review.open_review,
            review.apply_decision,
            review.sender_of,
            sweep.sweep,
            handing_over.hand_over,
        ],
    )
