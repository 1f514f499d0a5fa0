"""Settings that are lists: what one entry is, and how the text of a variable is read."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SecretStr

from leadproof.setting_types import HeaderSecret, PathSecret, PersonName, QueueName, TokenName

Right = Literal["events", "read", "decide"]
Role = Literal["viewer", "reviewer", "admin"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ApiToken(BaseModel):
    """A named token of the starter's API with its rights."""

    model_config = ConfigDict(frozen=True)

    name: TokenName
    rights: frozenset[Right]
    token: HeaderSecret


class Reviewer(BaseModel):
    """A person whom the proxy names, and what they may on the review page.

    Attributes:
        queues: the queues that are theirs; `None` for all.
    """

    model_config = ConfigDict(frozen=True)

    name: PersonName
    role: Role
    queues: frozenset[QueueName] | None = None

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.role, "+".join(sorted(self.queues or ())))))


def unknown_queues(people: Iterable[Reviewer], policy: Container[str]) -> list[str]:
    """The queues of people that the policy does not have."""
    return sorted({queue for person in people for queue in person.queues or () if queue not in policy})


def _secrets(text: str) -> tuple[SecretStr, ...]:
    """Secrets, comma-separated."""
    return tuple(SecretStr(part) for part in _parts(text))


def _tokens(text: str) -> list[dict[str, Any]]:
    """`name:right+right:token`, comma-separated."""
    tokens = []
    for entry in _parts(text):
        name, _, rest = entry.partition(":")
        rights, _, token = rest.partition(":")
        if not (name and rights and token):
            raise ValueError("an entry is `name:right+right:token`")
        tokens.append({"name": name, "rights": rights.split("+"), "token": token})
    return tokens


def _told_apart(tokens: tuple[ApiToken, ...]) -> tuple[ApiToken, ...]:
    """Refuse tokens of which two have one name, or one text."""
    twice = _twice(token.name for token in tokens)
    if twice:
        raise ValueError(f"several tokens are named {', '.join(twice)}; give each a name of its own")
    texts: dict[str, str] = {}
    for token in tokens:
        other = texts.setdefault(token.token.get_secret_value(), token.name)
        if other != token.name:
            raise ValueError(f"{other} and {token.name} are the same token; give each a text of its own")
    return tokens


def _by_source(text: str) -> dict[str, tuple[SecretStr, ...]]:
    """`source=whsec_...,whsec_...;other=bearer_...`."""
    sources: dict[str, tuple[SecretStr, ...]] = {}
    for entry in _parts(text, ";"):
        name, separator, secrets = entry.partition("=")
        listed = _secrets(secrets)
        if not (name.strip() and separator and listed):
            raise ValueError("an entry is `source=whsec_...`")
        if name.strip() in sources:
            raise ValueError(f"the source {name.strip()} is there twice; list all its secrets in one entry")
        sources[name.strip()] = listed
    return sources


def _reviewers(text: str) -> list[dict[str, Any]]:
    """`name:role` or `name:role:queue+queue`, comma-separated."""
    people: list[dict[str, Any]] = []
    for number, entry in enumerate(_parts(text), 1):
        name, _, rest = entry.partition(":")
        role, separator, queues = rest.partition(":")
        if not (name and role) or (separator and not queues):
            raise ValueError(f"entry {number}: it is `name:role` or `name:role:queue+queue`")
        if role not in get_args(Role):
            raise ValueError(f"entry {number}: a role is viewer, reviewer or admin")
        if role == "admin" and queues:
            raise ValueError(f"entry {number}: an admin has every queue; leave the queues of an admin out")
        people.append({"name": name, "role": role, "queues": queues.split("+") if queues else None})
    twice = _twice(person["name"] for person in people)
    if twice:
        raise ValueError("one name is there twice; give each person one entry with all their queues")
    return people


def _networks(text: str) -> list[Network]:
    """IP addresses and networks, comma-separated."""
    networks = []
    for part in _parts(text):
        try:
            network = ipaddress.ip_network(part)
        except ValueError:
            raise ValueError("an entry is an IP address or a network such as 10.0.0.0/24, not a name") from None
        if network.prefixlen == 0:
            raise ValueError("a network of every address there is would let anyone say who they are")
        networks.append(network)
    return networks


def _parts(text: str, separator: str = ",") -> Iterator[str]:
    return filter(None, (part.strip() for part in text.split(separator)))


def _twice(names: Iterator[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _read_by(read: Callable[[str], Any]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


Secrets = Annotated[tuple[SecretStr, ...], _read_by(_secrets)]
PathSecrets = Annotated[tuple[PathSecret, ...], _read_by(_secrets)]
SecretsBySource = Annotated[dict[str, tuple[SecretStr, ...]], _read_by(_by_source)]
ApiTokens = Annotated[tuple[ApiToken, ...], _read_by(_tokens), AfterValidator(_told_apart)]
Reviewers = Annotated[tuple[Reviewer, ...], _read_by(_reviewers)]
Networks = Annotated[tuple[Network, ...], _read_by(_networks)]
