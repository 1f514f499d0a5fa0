"""What settings may hold: bounded numbers, addresses, names and secrets that can be used as what they are."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from leadproof.domain.errors import MalformedValue
from leadproof.domain.salesforce_ids import salesforce_id

_HOST: Final = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"
_PATH: Final = r"[!-\"$->@-\[\]-~]*"  # visible ASCII without ? # and a backslash
_ADDRESS: Final = re.compile(rf"https?://{_HOST}(?::(?P<port>[0-9]{{1,5}}))?(?:/{_PATH})?")
_HOST_AND_PORT: Final = re.compile(rf"{_HOST}:(?P<port>[0-9]{{1,5}})")
_VISIBLE: Final = re.compile(r"[!-~]+")
_PROPERTY: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
_PATH_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{20,200}")
_SHORTEST_KEY: Final = 16
_LOGIN_PAGES: Final = frozenset({"login.salesforce.com", "test.salesforce.com"})
_LIGHTNING: Final = (".lightning.force.com", ".lightning.com", ".salesforce-setup.com")
_HUBSPOTS_OWN: Final = ("hs_", "hubspot_")
_LARGEST_PORT: Final = 65_535


def _url(text: str) -> str:
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match["port"] or 1) <= _LARGEST_PORT:
        raise ValueError("an address is http://HOST[:PORT][/PATH] or https://..., without user, query and fragment")
    return text


def _my_domain(text: str) -> str:
    host = urlsplit(_url(text)).hostname or ""
    if host in _LOGIN_PAGES:
        raise ValueError(
            "that is the login page of every org; take the My Domain address, https://NAME.my.salesforce.com"
        )
    if host.endswith(_LIGHTNING):
        raise ValueError(
            "that is where people see the org (Lightning); take the My Domain address, https://NAME.my.salesforce.com"
        )
    return text


def _host_and_port(text: str) -> str:
    match = _HOST_AND_PORT.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= _LARGEST_PORT:
        raise ValueError("it is HOST:PORT, without http://")
    return text


def _in_a_header(secret: SecretStr) -> SecretStr:
    if _VISIBLE.fullmatch(secret.get_secret_value()) is None:
        raise ValueError("it has a space, a line break or another character that an HTTP header cannot carry")
    return secret


def _matching(pattern: str, why: str) -> AfterValidator:
    form = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if form.fullmatch(text) is None:
            raise ValueError(why)
        return text

    return AfterValidator(check)


def _property(name: str) -> str:
    if _PROPERTY.fullmatch(name) is None:
        raise ValueError(
            "a HubSpot property's name has lower-case letters, digits and underscores, begins with a letter, and is at "
            "most 100 long"
        )
    if name.startswith(_HUBSPOTS_OWN):
        raise ValueError("names that begin with hs_ or hubspot_ are HubSpot's own; name a property of ours")
    return name


Seconds = Annotated[float, Field(gt=0, le=10_000_000, allow_inf_nan=False)]
"""Up to 115 days, as the policy's durations are bounded; what is longer no timer of ours takes."""

WholeSeconds = Annotated[float, Field(ge=1, le=10_000_000, allow_inf_nan=False)]
"""At least a second: what a schedule of Temporal can have as its interval."""

Hours = Annotated[float, Field(gt=0, le=720, allow_inf_nan=False)]
"""Up to 30 days."""

Url = Annotated[str, AfterValidator(_url)]
SalesforceUrl = Annotated[str, AfterValidator(_my_domain)]
"""My Domain of a Salesforce org, or a sandbox of ours; neither the login page nor what people look at."""

HostAndPort = Annotated[str, AfterValidator(_host_and_port)]
"""Where a gRPC client connects to."""

HeaderSecret = Annotated[SecretStr, AfterValidator(_in_a_header)]
"""A secret that is sent in a header."""

NamespaceName = Annotated[str, _matching(r"[!-~]{1,255}", "it has a space or a character beyond ASCII")]
AccountId = Annotated[str, _matching(r"[1-9][0-9]{0,19}", "it is a number, as HubSpot shows it")]
TokenName = Annotated[
    str,
    _matching(
        r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,59}", "a name has letters, digits and any of `_.@-`, and is at most 60 long"
    ),
]
"""It stands behind `api:` where a reviewer is named."""

PropertyName = Annotated[str, AfterValidator(_property)]
"""A property that we have in HubSpot."""


def _of_a_path(secret: SecretStr) -> SecretStr:
    if _PATH_SECRET.fullmatch(secret.get_secret_value()) is None:
        raise ValueError("a path secret has 20 to 200 letters, digits, `-` and `_`")
    return secret


def _organization(text: str) -> str:
    try:
        return salesforce_id(text, prefix="00D")
    except MalformedValue:
        raise ValueError("it is an organization's id: 15 or 18 characters that begin with 00D") from None


OrganizationId = Annotated[str, AfterValidator(_organization)]
"""Of a Salesforce org, in its 18 characters."""

ApiVersion = Annotated[str, _matching(r"[1-9][0-9]\.0", "it is a version as in 62.0")]
FieldName = Annotated[
    str,
    _matching(
        r"[A-Za-z](?:_?[A-Za-z0-9])*__c",
        "a custom field's API name has letters, digits and single underscores, and ends with `__c`",
    ),
]
"""A custom field that we have in Salesforce."""

PathSecret = Annotated[SecretStr, AfterValidator(_of_a_path)]
"""The last part of an address that only its caller knows."""

PersonName = Annotated[
    str,
    _matching(r"[!-+\--9;-~]{1,100}", "a name has visible characters without `:` and `,`, and is at most 100 long"),
]
"""A person, as a proxy names them: it stands behind `person:` where a reviewer is named."""

QueueName = Annotated[str, _matching(r"[!-~]{1,60}", "a queue is named as the policy names it")]
HeaderName = Annotated[str, _matching(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", "a header's name has letters, digits and `-`")]


def _long_enough(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < _SHORTEST_KEY:
        raise ValueError("it can be guessed: take at least 16 characters, such as `openssl rand -hex 32` prints")
    return secret


SigningKey = Annotated[SecretStr, AfterValidator(_long_enough)]
"""What is signed with it is in other people's hands, who can try keys for as long as they like."""
