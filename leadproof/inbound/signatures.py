"""Whether a delivery comes from whom it says: one small class a scheme, one error type."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import AnyStr, ClassVar, Final

from leadproof.domain.errors import ConfigurationRefused, LeadproofError

TOLERANCE_SECONDS: Final = 300
"""Both schemes ask for five minutes; it is allowed both ways, since either clock may be the one that is off."""


class InvalidSignature(LeadproofError):
    """A delivery whose signature is missing, unreadable, wrong, stale or from the future."""


class HubSpotSignature:
    """HubSpot's request signature v3.

    base64(HMAC-SHA256(secret, method + URI + body + timestamp)); v1 and v2 carry no time and are never accepted.
    Source: developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests.

    Args:
        secrets: client secrets, any of which may have signed.
        url: the address that HubSpot calls, as configured there, without query; never taken from a Host header.
    """

    scheme: ClassVar = "v3"
    signature_header: ClassVar = "x-hubspot-signature-v3"
    timestamp_header: ClassVar = "x-hubspot-request-timestamp"

    _DECODED: ClassVar = {
        "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$", "%27": "'",
        "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
    }  # fmt: skip
    _ENCODED: ClassVar = re.compile("|".join(_DECODED), re.IGNORECASE)

    def __init__(self, secrets: Sequence[str], url: str) -> None:
        self._secrets = [_not_empty(secret).encode("utf-8") for secret in secrets]
        self._url = url

    def sign(self, secret: bytes, *, method: str, query: str, body: bytes, timestamp: str) -> str:
        """The signature of one request under one secret."""
        uri = f"{self._url}?{query}" if query else self._url
        message = method.encode() + self._decoded(uri).encode() + body + timestamp.encode()
        return base64.b64encode(hmac.new(secret, message, hashlib.sha256).digest()).decode("ascii")

    def verify(self, headers: Mapping[str, str], *, method: str, query: str, body: bytes, now: datetime) -> None:
        """Accept a delivery or raise.

        Args:
            headers: by lower-case name.
            query: the query as it came, still encoded, without its question mark.
            body: the raw bytes.

        Raises:
            InvalidSignature: saying why, for our log; a caller of the starter is not told.
        """
        timestamp = _timestamp(headers, self.timestamp_header)
        _check_age(int(timestamp) / 1000, now)
        given = headers.get(self.signature_header, "")
        signed = [
            self.sign(secret, method=method, query=query, body=body, timestamp=timestamp) for secret in self._secrets
        ]
        if not _any_equal([given], signed):
            raise InvalidSignature("no secret gives this HubSpot signature")

    @classmethod
    def _decoded(cls, uri: str) -> str:
        """HubSpot signs the URI with exactly these sequences decoded; `%20`, `%25`, `%26` and others stay."""
        return cls._ENCODED.sub(lambda match: cls._DECODED[match.group().upper()], uri)


class StandardSignature:
    """Standard Webhooks, symmetric scheme v1.

    base64(HMAC-SHA256(secret, id + "." + timestamp + "." + body)). Source: the specification at standardwebhooks.com.

    Args:
        secrets: base64 with or without the prefix `whsec_`, any of which may have signed.

    Raises:
        ConfigurationRefused: a secret is no base64.
    """

    scheme: ClassVar = "v1"
    id_header: ClassVar = "webhook-id"
    timestamp_header: ClassVar = "webhook-timestamp"
    signature_header: ClassVar = "webhook-signature"

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [self._key(secret) for secret in secrets]

    def sign(self, secret: bytes, *, message_id: str, timestamp: str, body: bytes) -> str:
        """The signature of one message under one secret's bytes, with its scheme."""
        message = f"{message_id}.{timestamp}.".encode() + body
        return f"{self.scheme}," + base64.b64encode(hmac.new(secret, message, hashlib.sha256).digest()).decode("ascii")

    def verify(self, headers: Mapping[str, str], *, body: bytes, now: datetime) -> None:
        """Accept a delivery or raise; of several signatures one right one is enough.

        Raises:
            InvalidSignature: saying why, for our log; a caller of the starter is not told.
        """
        timestamp = _timestamp(headers, self.timestamp_header)
        _check_age(int(timestamp), now)
        message_id = headers.get(self.id_header, "")
        if not message_id:
            raise InvalidSignature(f"the header {self.id_header} is missing")
        given = headers.get(self.signature_header, "").split(" ")[:_MOST_SIGNATURES]
        signed = [self.sign(secret, message_id=message_id, timestamp=timestamp, body=body) for secret in self._secrets]
        if not _any_equal(given, signed):
            raise InvalidSignature("no secret gives one of these Standard Webhooks signatures")

    @staticmethod
    def _key(secret: str) -> bytes:
        text = _not_empty(secret).removeprefix("whsec_")
        try:
            key = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ConfigurationRefused("a Standard Webhooks secret is no base64 text") from None
        return _not_empty(key)


class SharedSecret:
    """A secret that the sender shows as it is, for those that cannot sign (a Flow of Salesforce).

    It says who sends and nothing of what is sent or when: whoever sees one request can send it again.

    Args:
        secrets: texts that begin with `bearer_`, any of which may be shown.

    Raises:
        ConfigurationRefused: a secret is too short to be none that is guessed.
    """

    beginning: ClassVar = "bearer_"
    header: ClassVar = "authorization"

    _FORM: ClassVar = re.compile(r"bearer_[A-Za-z0-9_-]{20,200}", re.ASCII)

    def __init__(self, secrets: Sequence[str]) -> None:
        if not all(self._FORM.fullmatch(secret) for secret in secrets):
            raise ConfigurationRefused(
                "a shared secret is `bearer_` and 20 to 200 letters, digits, `-` and `_` that nobody guesses"
            )
        self._secrets = list(secrets)

    def verify(self, headers: Mapping[str, str]) -> None:
        """Accept a delivery or raise.

        Raises:
            InvalidSignature: saying why, for our log; a caller of the starter is not told.
        """
        scheme, _, given = headers.get(self.header, "").partition(" ")
        if scheme.lower() != "bearer" or not _any_equal([given.strip(" ")], self._secrets):
            raise InvalidSignature("no shared secret is in the header authorization")


class StandardSource:
    """How a generic source shows who it is: it signs by Standard Webhooks, or sends a shared secret.

    Args:
        secrets: of both kinds; those that begin with `bearer_` are shown, all others sign.

    Raises:
        ConfigurationRefused: one is none of its kind.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        shown = [secret for secret in secrets if secret.startswith(SharedSecret.beginning)]
        signing = [secret for secret in secrets if secret not in shown]
        self._shared = SharedSecret(shown) if shown else None
        self._signature = StandardSignature(signing) if signing or not shown else None

    def verify(self, headers: Mapping[str, str], *, body: bytes, now: datetime) -> bool:
        """Accept a delivery or raise.

        Returns:
            Whether it was signed; what was not may be a repetition that only its content tells.

        Raises:
            InvalidSignature: saying why, for our log; a caller of the starter is not told.
        """
        signed = StandardSignature.signature_header in headers
        if self._signature is not None and (signed or self._shared is None):
            self._signature.verify(headers, body=body, now=now)
            return True
        if self._shared is not None:
            self._shared.verify(headers)
        return False


class SecretPath:
    """An address that only its caller knows; Salesforce's outbound messages carry no signature.

    Args:
        secrets: last parts of the address, any of which may be called; without one nobody may.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [_not_empty(secret) for secret in secrets]

    def verify(self, given: str) -> None:
        """Accept the last part of a called address or raise.

        Raises:
            InvalidSignature: for our log; the address answers like one that is none.
        """
        if not _any_equal([given], self._secrets):
            raise InvalidSignature("the address that was called ends with no secret of ours")


_MOST_SIGNATURES: Final = 10


def _not_empty(secret: AnyStr) -> AnyStr:
    if not secret:
        raise ConfigurationRefused("a webhook secret is empty, anyone could sign with it")
    return secret


def _timestamp(headers: Mapping[str, str], name: str) -> str:
    text = headers.get(name, "")
    if re.fullmatch(r"[0-9]{1,15}", text, re.ASCII) is None:
        raise InvalidSignature(f"the header {name} is missing or no time")
    return text


def _check_age(seconds: float, now: datetime) -> None:
    age = now.timestamp() - seconds
    if age > TOLERANCE_SECONDS:
        raise InvalidSignature("the delivery is stale")
    if age < -TOLERANCE_SECONDS:
        raise InvalidSignature("the delivery is from the future")


def _any_equal(given: Sequence[str], signed: Sequence[str]) -> bool:
    """Compare every pair in constant time, as bytes: `compare_digest` raises for a text that is not ASCII."""
    pairs = [(one.encode("utf-8", "backslashreplace"), other.encode("ascii")) for one in given for other in signed]
    equal = [hmac.compare_digest(one, other) for one, other in pairs]  # all of them, whichever is right
    return any(equal)
