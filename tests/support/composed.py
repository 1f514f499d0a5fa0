"""docker-compose.yml and the Dockerfile as their tools read them, as far as these files go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # ships no annotations
from dotenv import dotenv_values

ROOT = Path(__file__).parents[2]

PASSWORDS = {
    "POSTGRES_PASSWORD": "password-of-the-superuser",
    "TEMPORAL_DB_PASSWORD": "password-of-temporal",
    "LEDGER_DB_PASSWORD": "password-of-the-ledger",
}
FILLED_IN = {
    **PASSWORDS,
    "DEMO_WEBHOOK_SECRET": "secret-of-the-demonstration",
    "LEADPROOF_DECISION_KEY": "key-of-the-decisions",
    "LEADPROOF_REVIEW_KEY": "key-of-the-review-page",
    "LEADPROOF_HUBSPOT_TOKEN": "token-of-a-real-account",
    "LEADPROOF_SALESFORCE_CLIENT_SECRET": "secret-of-a-real-org",
}
"""What a person writes into the .env that .env.example begins."""

# https://docs.docker.com/reference/compose-file/interpolation/: $$, ${NAME}, ${NAME:-default}, ${NAME:?sentence}
_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}|(?P<stray>\$)")


class Unset(Exception):
    """A variable without which the file says that nothing may start."""


def dotenv(**changes: str) -> dict[str, str]:
    """The variables of .env.example, filled in."""
    example = {name: value or "" for name, value in dotenv_values(ROOT / ".env.example", interpolate=False).items()}
    return {**example, **FILLED_IN, **changes}


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        assert found["stray"] is None, f"a $ that is none of the forms: {text}"
        given = variables.get(found["name"], "")
        if given or found["kind"] is None:
            return given
        if found["kind"] == "?":
            raise Unset(found["rest"])
        return found["rest"] or ""

    return _VARIABLE.sub(value, text)


def _deep(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _deep(inner, variables) for name, inner in value.items()}
    if isinstance(value, list):
        return [_deep(inner, variables) for inner in value]
    return interpolated(value, variables) if isinstance(value, str) else value


@cache
def _parsed() -> dict[str, Any]:
    said: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return said


def words(value: str | list[str] | None) -> list[str]:
    return value.split() if isinstance(value, str) else list(value or [])


@dataclass(frozen=True)
class Service:
    """One service, interpolated."""

    name: str
    said: dict[str, Any]
    variables: Mapping[str, str]

    @property
    def ours(self) -> bool:
        return "build" in self.said

    @property
    def one_shot(self) -> bool:
        return str(self.said["restart"]).startswith("on-failure")

    @property
    def entrypoint(self) -> list[str]:
        return words(self.said.get("entrypoint"))

    @property
    def command(self) -> list[str]:
        return words(self.said.get("command"))

    @property
    def environment(self) -> dict[str, str]:
        """What the container is given: `environment` counts before `env_file`."""
        given = dict(self.variables) if self.said.get("env_file") == ".env" else {}
        return {**given, **self.said.get("environment", {})}

    @property
    def probe(self) -> list[str]:
        return words(self.said.get("healthcheck", {}).get("test"))

    @property
    def waits_for(self) -> dict[str, str]:
        return {name: how["condition"] for name, how in self.said.get("depends_on", {}).items()}

    @property
    def mounts(self) -> list[tuple[str, str, str]]:
        """Source, target, mode."""
        parts = [volume.split(":") for volume in self.said.get("volumes", [])]
        return [(part[0], part[1], part[2] if len(part) > 2 else "rw") for part in parts]

    @property
    def networks(self) -> set[str]:
        return set(self.said.get("networks", ["default"]))

    @property
    def published(self) -> list[tuple[str, int, int]]:
        """Address of the host, port of the host, port of the container."""
        parts = [port.rpartition(":") for port in self.said.get("ports", [])]
        hosts = [(left.rpartition(":"), right) for left, _, right in parts]
        return [(host[0], int(host[2]), int(right)) for host, right in hosts]

    def replaced(self, places: Mapping[str, str]) -> Service:
        """With texts exchanged wherever they stand: names of hosts for addresses, say."""
        any_of = re.compile("|".join(re.escape(old) for old in sorted(places, key=len, reverse=True)))
        said = any_of.sub(lambda found: places[found[0]], json.dumps(self.said))
        return Service(self.name, json.loads(said), self.variables)


@dataclass(frozen=True)
class Composed:
    """The file as `docker compose` sees it with these variables."""

    said: dict[str, Any]
    services: dict[str, Service]

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> Composed:
        """With the variables of an .env.

        Raises:
            Unset: a required one is missing; the sentence for a person.
        """
        said = _deep(_parsed(), variables)
        services = {name: Service(name, body, variables) for name, body in said["services"].items()}
        return cls(said, services)

    def of(self, profile: str) -> dict[str, Service]:
        """The services that are started with a profile."""
        return {
            name: service
            for name, service in self.services.items()
            if profile in service.said.get("profiles", [profile])
        }

    def in_order(self, profile: str) -> Iterator[list[Service]]:
        """The services of a profile, together those that can start at once, each after those that it waits for."""
        waiting = self.of(profile)
        done: set[str] = set()
        while waiting:
            ready = [service for service in waiting.values() if done.issuperset(service.waits_for)]
            assert ready, f"they wait for each other, or for one that is not there: {sorted(waiting)}"
            yield ready
            done |= {service.name for service in ready}
            waiting = {name: service for name, service in waiting.items() if name not in done}


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile, its lines joined."""

    stage: int
    word: str
    rest: str

    @property
    def copied(self) -> tuple[list[str], str]:
        """Sources and target of a COPY from the context; no sources where it copies from another stage."""
        parts = self.rest.split()
        return ([], "") if parts[0].startswith("--from=") else (parts[:-1], parts[-1])


def dockerfile() -> list[Instruction]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    stage, found = -1, []
    for line in joined:
        word, _, rest = line.partition(" ")
        stage += word == "FROM"
        found.append(Instruction(stage, word, " ".join(rest.split())))
    return found
