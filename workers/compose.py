"""The only place where adapters meet activities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from temporalio.client import Client

from activities.effects import EffectActivities
from activities.planning import PlanningActivities
from activities.review import ReviewActivities
from activities.source import SourceActivities
from activities.sweep import SweepActivities
from leadproof.clock import SystemClock
from leadproof.crm.hubspot import HubSpotCrm
from leadproof.crm.hubspot_candidates import HubSpotCandidates
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_diagnosis import HubSpotDiagnosis
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.hubspot_patience import PatientQuestions
from leadproof.domain.diagnosis import OurField
from leadproof.domain.environment import SHADOW
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import check_against, parse_policy
from leadproof.domain.records import Description
from leadproof.ledger.engine import connect
from leadproof.ledger.schema import check
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Candidates, Crm, CrmDiagnosis
from leadproof.rulebook import Rulebook
from leadproof.settings import Settings
from leadproof.shadow import ReadOnly
from workers.planners import planners_of
from workers.runs import TemporalRuns, TemporalSenders

HUBSPOT = "hubspot"

CONNECT_SECONDS, CALL_SECONDS = 5.0, 15.0
"""Time-outs where no policy says."""


class Composition(NamedTuple):
    """What a worker runs."""

    ledger: SqlLedger
    crms: dict[str, Crm]
    policy: Policy
    activities: Sequence[Callable[..., Any]]


def open_ledger(settings: Settings, *, busy_seconds: float = 30.0) -> SqlLedger:
    """The ledger of the settings, its schema checked.

    Raises:
        LedgerOutdated: the schema is older than this code.
    """
    engine = connect(settings.ledger_url, busy_seconds=busy_seconds)
    try:
        check(engine)
    except BaseException:
        engine.dispose()
        raise
    return SqlLedger(engine, SystemClock(), parse=parse_policy)


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


def hubspot(settings: Settings, policy: Policy) -> HubSpotCrm:
    """The HubSpot of the settings, with the fields and time-outs of the policy.

    Raises:
        ConfigurationRefused: there is no access token.
    """
    target = policy.targets[HUBSPOT]
    return HubSpotCrm(
        token=_hubspot_token(settings),
        base_url=settings.hubspot_base_url,
        app_id=settings.hubspot_app_id,
        fields=HubSpotFields(target.fields),
        external_id_property=settings.hubspot_external_id_property,
        marker_property=settings.hubspot_marker_property,
        connect_timeout=target.connect_timeout_seconds,
        call_timeout=target.call_timeout_seconds,
    )


def hubspot_diagnosis(settings: Settings, policy: Policy | None) -> CrmDiagnosis:
    """The HubSpot of the settings under examination.

    Args:
        policy: for the time-outs; without one that has HubSpot as a target, the defaults hold.

    Raises:
        ConfigurationRefused: there is no access token.
    """
    target = policy.targets.get(HUBSPOT) if policy is not None else None
    return HubSpotDiagnosis(
        token=_hubspot_token(settings),
        base_url=settings.hubspot_base_url,
        external_id_property=settings.hubspot_external_id_property,
        marker_property=settings.hubspot_marker_property,
        connect_timeout=target.connect_timeout_seconds if target is not None else CONNECT_SECONDS,
        call_timeout=target.call_timeout_seconds if target is not None else CALL_SECONDS,
    )


def _hubspot_token(settings: Settings) -> Callable[[], str]:
    if settings.hubspot_token is None:
        raise ConfigurationRefused("HubSpot has no access token; set LEADPROOF_HUBSPOT_TOKEN")
    return settings.hubspot_token.get_secret_value


def hubspot_candidates(settings: Settings, policy: Policy) -> Candidates:
    """The contacts of the settings' HubSpot, as a catch-up finds them.

    Raises:
        ConfigurationRefused: there is no access token, or the policy does not name HubSpot as a target.
    """
    target = policy.targets.get(HUBSPOT)
    if target is None:
        raise ConfigurationRefused("the policy has no [target.hubspot], which says how long HubSpot may take to answer")
    client = HubSpotClient(
        token=_hubspot_token(settings),
        base_url=settings.hubspot_base_url,
        connect_timeout=target.connect_timeout_seconds,
    )
    return HubSpotCandidates(PatientQuestions(client, call_timeout=target.call_timeout_seconds))


def watched_properties(policy: Policy) -> tuple[str, ...]:
    """HubSpot's properties whose changes the policy acts on; where it acts on all, those that we have a field for."""
    kind = policy.event_kind(HUBSPOT, "contact.propertyChange")
    if kind is None:
        return ()
    target = policy.targets.get(HUBSPOT)
    return kind.properties or HubSpotFields(target.fields if target is not None else None).properties()


def crms_of(settings: Settings, policy: Policy) -> dict[str, Crm]:
    """The CRMs that the policy names as targets."""
    return {HUBSPOT: hubspot(settings, policy)} if HUBSPOT in policy.targets else {}


def our_field(system: str, name: str, policy: Policy) -> str | None:
    """Our name of a source's field; `None` where we have none."""
    target = policy.targets.get(system)
    return HubSpotFields(target.fields).name_of(name) if system == HUBSPOT and target is not None else None


def described(settings: Settings, crm: Crm) -> Description:
    """What a target says of itself.

    Raises:
        ConfigurationRefused: it cannot be asked, or the credentials open another account than the settings name.
    """
    description = crm.describe(TargetObject.CONTACT)
    expected = settings.hubspot_portal_id
    if crm.system == HUBSPOT and expected is not None and description.account != expected:
        raise ConfigurationRefused(
            f"the HubSpot token opens account {description.account}, LEADPROOF_HUBSPOT_PORTAL_ID names {expected}"
        )
    return description


def check_targets(settings: Settings, policy: Policy, crms: dict[str, Crm]) -> None:
    """Hold the policy and the settings against what the targets say of themselves.

    Raises:
        PolicyRefused: an owner, a stage or a field of the policy that the target does not know.
        ConfigurationRefused: the credentials open another account than the settings name, or one of our two fields is
            not there or not what it has to be.
    """
    for crm in crms.values():
        description = described(settings, crm)
        if crm.system == HUBSPOT:
            _check_our_properties(settings, description)
        check_against(policy, description)


def _check_our_properties(settings: Settings, description: Description) -> None:
    """Without a unique external id a create can be made twice, without the marker no effect is known for ours."""
    names = {
        OurField.EXTERNAL_ID: settings.hubspot_external_id_property,
        OurField.MARKER: settings.hubspot_marker_property,
    }
    for field, name in names.items():
        found = description.fields.get(field)
        if found is None or found.name != name:
            raise ConfigurationRefused(f"HubSpot has no contact property {name}; `leadproof doctor --create` makes it")
        if field is OurField.EXTERNAL_ID and not found.unique:
            raise ConfigurationRefused(f"HubSpot's property {name} is not unique; `leadproof doctor` says what to do")
        if not (found.writable and found.keeps_history):
            raise ConfigurationRefused(
                f"HubSpot's property {name} is calculated or read-only; `leadproof doctor` says what to do"
            )


def compose(settings: Settings, client: Client, ledger: SqlLedger, policy: Policy, crms: dict[str, Crm]) -> Composition:
    """Adapters and activities of one worker; in shadow mode no adapter can write."""
    if settings.mode == SHADOW:
        crms = {system: ReadOnly(crm) for system, crm in crms.items()}
    clock = SystemClock()
    ledger.load_policy(policy)
    rulebook = Rulebook(ledger, parse_policy, timedelta(seconds=settings.shadow_after_seconds))
    key = settings.decision_key.get_secret_value() if settings.decision_key is not None else None
    source = SourceActivities(ledger, crms, rulebook, clock, our_field)
    planning = PlanningActivities(ledger, crms, planners_of(settings, policy), rulebook, clock)
    effects = EffectActivities(ledger, crms, rulebook, clock)
    review = ReviewActivities(ledger, rulebook, clock, TemporalSenders(client), key)
    sweep = SweepActivities(
        ledger, rulebook, clock, TemporalRuns(client, ledger), timedelta(seconds=settings.sweep_age_seconds)
    )
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
        ],
    )
