"""Salesforce, as settings and policy open it. Its client library costs 1.5 s and 40 MB: only what needs it loads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from leadproof.crm.salesforce_fields import OBJECTS, SalesforceFields
from leadproof.domain.diagnosis import OurField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.policy_target import objects_of, source_objects
from leadproof.ports import Candidates, CrmDiagnosis
from leadproof.settings import Settings
from workers.systems.system import System, timeouts

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm
    from leadproof.crm.salesforce_client import SalesforceClient
    from leadproof.crm.salesforce_sign_in import SignIn

NAME: Final = "salesforce"

_WRITTEN: Final = ("create", "edit")


def crm(settings: Settings, policy: Policy) -> SalesforceCrm:
    """Salesforce with the fields and time-outs of the policy.

    Raises:
        ConfigurationRefused: address or credentials are missing, or a field is mapped to one of our own two.
    """
    url, sign_in = _address(settings), _sign_in(settings)
    from leadproof.crm.salesforce import SalesforceCrm  # noqa: PLC0415

    within = timeouts(policy, NAME)
    return SalesforceCrm(
        url=url,
        sign_in=sign_in,
        api_version=settings.salesforce_api_version,
        fields=_fields(policy),
        external_id_field=settings.salesforce_external_id_field,
        marker_field=settings.salesforce_marker_field,
        connect_timeout=within.connect,
        call_timeout=within.call,
    )


def diagnosis(settings: Settings, policy: Policy | None) -> CrmDiagnosis:
    """Salesforce under examination.

    Raises:
        ConfigurationRefused: address or credentials are missing.
    """
    client = _client(settings, policy)
    from leadproof.crm.salesforce_diagnosis import SalesforceDiagnosis  # noqa: PLC0415

    return SalesforceDiagnosis(
        client,
        version=settings.salesforce_api_version,
        external_id_field=settings.salesforce_external_id_field,
        marker_field=settings.salesforce_marker_field,
        objects=_written(policy),
        call_timeout=timeouts(policy, NAME).call,
    )


def candidates(settings: Settings, policy: Policy) -> Candidates:
    """The records from which leads come, as a catch-up finds them.

    Raises:
        ConfigurationRefused: address or credentials are missing.
    """
    client = _client(settings, policy)
    from leadproof.crm.salesforce_candidates import SalesforceCandidates  # noqa: PLC0415

    objects = source_objects(policy, NAME)
    return SalesforceCandidates(client, objects=objects, call_timeout=timeouts(policy, NAME).call)


def _client(settings: Settings, policy: Policy | None) -> SalesforceClient:
    url, sign_in = _address(settings), _sign_in(settings)
    from leadproof.crm.salesforce_client import SalesforceClient  # noqa: PLC0415

    return SalesforceClient(
        url=url,
        sign_in=sign_in,
        version=settings.salesforce_api_version,
        connect_timeout=timeouts(policy, NAME).connect,
    )


def _written(policy: Policy | None) -> dict[TargetObject, tuple[str, ...]]:
    """What the policy's actions do to which objects; without a policy, everything to every one."""
    if policy is None:
        return {TargetObject(name): _WRITTEN for name in OBJECTS}
    written: dict[TargetObject, tuple[str, ...]] = {}
    for each in objects_of(policy, NAME) or (TargetObject.LEAD,):
        kinds = {one.kind for one in policy.actions if (one.target, one.object) == (NAME, each)}
        # what is created can already be there, and is then edited
        written[each] = _WRITTEN if ActionKind.CREATE in kinds else ("edit",) if kinds else ()
    return written


def _fields(policy: Policy) -> SalesforceFields:
    target = policy.targets.get(NAME)
    return SalesforceFields(target.fields if target is not None else None)


def _our_name(name: str, policy: Policy) -> str | None:
    """Our name of a field of leads, or, where they have none of it, of contacts."""
    fields = _fields(policy)
    return fields.name_of(TargetObject.LEAD, name) or fields.name_of(TargetObject.CONTACT, name)


def _address(settings: Settings) -> str:
    if settings.salesforce_url is None:
        raise ConfigurationRefused("Salesforce has no address; set LEADPROOF_SALESFORCE_URL to the My Domain address")
    return settings.salesforce_url


def _sign_in(settings: Settings) -> SignIn:
    """By client credentials where there is a consumer secret, else by a signed JWT."""
    from leadproof.crm.salesforce_sign_in import ClientCredentials, JwtBearer  # noqa: PLC0415

    client_id, secret = settings.salesforce_client_id, settings.salesforce_client_secret
    if client_id is None:
        raise ConfigurationRefused("Salesforce has no credentials; set LEADPROOF_SALESFORCE_CLIENT_ID")
    if secret is not None:
        return ClientCredentials(client_id.get_secret_value(), secret.get_secret_value())
    username, key = settings.salesforce_username, settings.salesforce_private_key
    if username is None or key is None:
        raise ConfigurationRefused(
            "Salesforce has no whole credentials; set LEADPROOF_SALESFORCE_CLIENT_SECRET, or "
            "LEADPROOF_SALESFORCE_USERNAME and LEADPROOF_SALESFORCE_PRIVATE_KEY"
        )
    try:
        text = key.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationRefused(
            "the private key for Salesforce cannot be read; set LEADPROOF_SALESFORCE_PRIVATE_KEY to its PEM file"
        ) from None
    return JwtBearer(
        client_id=client_id.get_secret_value(),
        username=username,
        private_key=text,
        audience=settings.salesforce_audience,
    )


SALESFORCE: Final = System(
    name=NAME,
    title="Salesforce",
    field_word="field",
    usual_object=TargetObject.LEAD,
    account_setting="salesforce_org_id",
    account_word="organization",
    our_fields={
        OurField.EXTERNAL_ID: "salesforce_external_id_field",
        OurField.MARKER: "salesforce_marker_field",
    },
    how_to_make="`leadproof doctor` says what it has to be and where it is made",
    has_credentials=lambda settings: settings.salesforce_client_id is not None,
    crm=crm,
    diagnosis=diagnosis,
    candidates=candidates,
    our_name=_our_name,
)
