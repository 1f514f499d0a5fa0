"""HubSpot, as settings and policy open it. Its client library is slow to import: only what needs it loads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.domain.diagnosis import OurField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.ports import Candidates, CrmDiagnosis
from leadproof.settings import Settings
from workers.systems.system import System, timeouts

if TYPE_CHECKING:
    from leadproof.crm.hubspot import HubSpotCrm

NAME: Final = "hubspot"


def crm(settings: Settings, policy: Policy) -> HubSpotCrm:
    """HubSpot with the fields and time-outs of the policy.

    Raises:
        ConfigurationRefused: there is no access token, or a field is mapped to one of our own two.
    """
    from leadproof.crm.hubspot import HubSpotCrm  # noqa: PLC0415

    within = timeouts(policy, NAME)
    return HubSpotCrm(
        token=_token(settings),
        base_url=settings.hubspot_base_url,
        app_id=settings.hubspot_app_id,
        fields=_fields(policy),
        external_id_property=settings.hubspot_external_id_property,
        marker_property=settings.hubspot_marker_property,
        connect_timeout=within.connect,
        call_timeout=within.call,
    )


def diagnosis(settings: Settings, policy: Policy | None) -> CrmDiagnosis:
    """HubSpot under examination.

    Raises:
        ConfigurationRefused: there is no access token.
    """
    from leadproof.crm.hubspot_diagnosis import HubSpotDiagnosis  # noqa: PLC0415

    within = timeouts(policy, NAME)
    return HubSpotDiagnosis(
        token=_token(settings),
        base_url=settings.hubspot_base_url,
        external_id_property=settings.hubspot_external_id_property,
        marker_property=settings.hubspot_marker_property,
        connect_timeout=within.connect,
        call_timeout=within.call,
    )


def candidates(settings: Settings, policy: Policy) -> Candidates:
    """The contacts, as a catch-up finds them.

    Raises:
        ConfigurationRefused: there is no access token.
    """
    from leadproof.crm.hubspot_candidates import HubSpotCandidates  # noqa: PLC0415
    from leadproof.crm.hubspot_client import HubSpotClient  # noqa: PLC0415
    from leadproof.crm.hubspot_patience import PatientQuestions  # noqa: PLC0415

    within = timeouts(policy, NAME)
    client = HubSpotClient(token=_token(settings), base_url=settings.hubspot_base_url, connect_timeout=within.connect)
    return HubSpotCandidates(PatientQuestions(client, call_timeout=within.call))


def watched_properties(policy: Policy) -> tuple[str, ...]:
    """The properties whose changes the policy acts on; where it acts on all, those that we have a field for."""
    kind = policy.event_kind(NAME, "contact.propertyChange")
    return (kind.properties or _fields(policy).properties()) if kind is not None else ()


def _fields(policy: Policy) -> HubSpotFields:
    target = policy.targets.get(NAME)
    return HubSpotFields(target.fields if target is not None else None)


def _token(settings: Settings) -> Callable[[], str]:
    if settings.hubspot_token is None:
        raise ConfigurationRefused("HubSpot has no access token; set LEADPROOF_HUBSPOT_TOKEN")
    return settings.hubspot_token.get_secret_value


HUBSPOT: Final = System(
    name=NAME,
    title="HubSpot",
    field_word="property",
    usual_object=TargetObject.CONTACT,
    account_setting="hubspot_portal_id",
    account_word="account",
    our_fields={
        OurField.EXTERNAL_ID: "hubspot_external_id_property",
        OurField.MARKER: "hubspot_marker_property",
    },
    how_to_make="`leadproof doctor --create` makes it",
    has_credentials=lambda settings: settings.hubspot_token is not None,
    crm=crm,
    diagnosis=diagnosis,
    candidates=candidates,
    our_name=lambda name, policy: _fields(policy).name_of(name),
)
