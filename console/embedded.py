"""The settings of an embedded stack: what `up` decides instead of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from console.data_dir import DataDir
from console.free_ports import HOST
from leadproof.settings import Settings, variable

PORTAL_ID = "62515"
APP_ID = "54321"
"""The sandbox's account and app; HubSpot's own documentation uses them."""

ORGANIZATION_ID = "00Dxx0000001gPLEAY"
"""The sandbox's Salesforce org."""

STANDARD_SOURCE = "website"
"""The generic source that the embedded policy knows."""

API_TOKEN_NAME = "local"  # noqa: S105  a name
SANDBOX_TOKEN = "sandbox"  # noqa: S105  the sandbox takes any


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the stack's processes listen; `sandbox` is `None` where none is wanted."""

    temporal: int
    ui: int
    starter: int
    sandbox: int | None


@dataclass(frozen=True, slots=True)
class Secrets:
    """The embedded stack's secrets, from the environment or made up."""

    hubspot: str
    api_token: str
    decision_key: str
    review_key: str
    standard: dict[str, str]
    salesforce_path: str


@dataclass(frozen=True, slots=True)
class Addresses:
    """What `up --json` prints."""

    temporal: str
    namespace: str
    ui: str
    starter: str
    sandbox: str | None
    ledger: str

    @classmethod
    def of(cls, ports: Ports, data_dir: DataDir, settings: Settings) -> Addresses:
        return cls(
            temporal=f"{HOST}:{ports.temporal}",
            namespace=settings.temporal_namespace,
            ui=f"http://{HOST}:{ports.ui}",
            starter=f"http://{HOST}:{ports.starter}",
            sandbox=None if ports.sandbox is None else f"http://{HOST}:{ports.sandbox}",
            ledger=f"sqlite:///{data_dir.ledger}",
        )


def secrets_of(settings: Settings, data_dir: DataDir) -> Secrets:
    """The secrets that the environment sets; where it sets none, those that the directory keeps."""
    hubspot, tokens, standard = settings.hubspot_webhook_secrets, settings.api_tokens, settings.standard_secrets
    paths = settings.salesforce_path_secrets
    return Secrets(
        hubspot=hubspot[0].get_secret_value() if hubspot else data_dir.kept_secret("hubspot"),
        api_token=max(tokens, key=lambda token: len(token.rights)).token.get_secret_value()
        if tokens
        else data_dir.kept_secret("api_token"),
        decision_key=settings.decision_key.get_secret_value()
        if settings.decision_key
        else data_dir.kept_secret("decision_key"),
        review_key=settings.review_key.get_secret_value()
        if settings.review_key
        else data_dir.kept_secret("review_key"),
        standard={name: secrets[0].get_secret_value() for name, secrets in standard.items()}
        if standard
        else {STANDARD_SOURCE: data_dir.kept_secret(f"standard_{STANDARD_SOURCE}", prefix="whsec_")},
        salesforce_path=paths[0].get_secret_value() if paths else data_dir.kept_secret("salesforce_path"),
    )


def variables(
    settings: Settings, addresses: Addresses, ports: Ports, secrets: Secrets, *, policy: str
) -> dict[str, str]:
    """The environment variables that make every process and command use the stack; the rest stays as it is set.

    Args:
        policy: the path of the policy, where the settings name none.
    """
    given = settings.model_fields_set
    chosen: dict[str, str] = {
        # the demonstration takes neither from the environment, and they go together
        "environment": settings.environment,
        "mode": settings.mode,
        "shadow_after_seconds": str(settings.shadow_after_seconds),
        "ledger_url": addresses.ledger,
        "temporal_address": addresses.temporal,
        "temporal_namespace": addresses.namespace,
        "temporal_api_key": "",  # a key of the environment is for another Temporal, and would switch TLS on
        "temporal_tls": "false",
        "temporal_ui_url": addresses.ui,
        "starter_host": HOST,
        "starter_port": str(ports.starter),
        "starter_url": addresses.starter,
        "decision_key": secrets.decision_key,
        "review_key": secrets.review_key,
    }
    # absolute, and also where it is somebody's own: a command in another directory is to judge the same file
    chosen["policy"] = str(settings.policy.absolute()) if "policy" in given else policy
    if addresses.sandbox is not None or "public_url" not in given:
        chosen["public_url"] = addresses.starter
    if not settings.api_tokens:
        chosen["api_tokens"] = f"{API_TOKEN_NAME}:events+read+decide:{secrets.api_token}"
    if settings.review_proxy_header is None:  # nor does it take who may look from the environment
        chosen |= {"reviewers": "", "review_proxy_header": "", "review_proxy_addresses": ""}
    if not settings.hubspot_webhook_secrets:
        chosen["hubspot_webhook_secrets"] = secrets.hubspot
    if not settings.standard_secrets:
        chosen["standard_secrets"] = ";".join(f"{name}={secret}" for name, secret in secrets.standard.items())
    if not settings.salesforce_path_secrets:
        chosen["salesforce_path_secrets"] = secrets.salesforce_path
    if addresses.sandbox is not None:
        chosen["salesforce_url"] = addresses.sandbox
        chosen["salesforce_org_id"] = ORGANIZATION_ID
        chosen["salesforce_client_id"] = SANDBOX_TOKEN
        chosen["salesforce_client_secret"] = SANDBOX_TOKEN
        chosen["salesforce_username"] = ""  # the secret signs in, not somebody's key
        chosen["hubspot_token"] = SANDBOX_TOKEN
        chosen["hubspot_base_url"] = f"{addresses.sandbox}/hubspot"
        chosen["hubspot_portal_id"] = PORTAL_ID
        chosen["hubspot_app_id"] = APP_ID
        # what the sandbox is told must not cost anything elsewhere, nor be told to anybody
        chosen["anthropic_provider"] = "anthropic"
        chosen["anthropic_api_key"] = SANDBOX_TOKEN
        chosen["anthropic_base_url"] = f"{addresses.sandbox}/anthropic"
    return {variable(field): value for field, value in chosen.items()}


def for_shells(variables: dict[str, str], addresses: Addresses) -> tuple[dict[str, str], list[str]]:
    """What a shell beside the stack is given: its variables, those that Temporal's own CLI reads, and remarks.

    The stack's processes are not given Temporal's: theirs are settings of ours.
    """
    of_temporal = {"TEMPORAL_ADDRESS": addresses.temporal, "TEMPORAL_NAMESPACE": addresses.namespace}
    remarks = [f"the sandbox: {addresses.sandbox}"] if addresses.sandbox is not None else []
    return variables | of_temporal, remarks


def as_json(addresses: Addresses, secrets: Secrets, worker_pids: list[int], *, review: str) -> dict[str, Any]:
    """The one line of `up --json`.

    Args:
        review: a one-time link to the review page.
    """
    return {
        "temporal": addresses.temporal,
        "namespace": addresses.namespace,
        "ui": addresses.ui,
        "starter": addresses.starter,
        "sandbox": addresses.sandbox,
        "ledger": addresses.ledger,
        "review": review,
        "worker_pids": worker_pids,
        "secrets": {
            "hubspot": secrets.hubspot,
            "api_token": secrets.api_token,
            "salesforce_path": secrets.salesforce_path,
            "standard": secrets.standard,
        },
    }
