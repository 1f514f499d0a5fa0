"""Signing in, without a person: by an application's secret, or by a signed assertion."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from sandbox.clock import real_milliseconds
from sandbox.provider import Influence
from sandbox.salesforce.people import People
from sandbox.salesforce.sessions import Sessions
from sandbox.salesforce.settings import Settings
from sandbox.wire import Answer, Call

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCES = frozenset({"https://login.salesforce.com", "https://test.salesforce.com"})
LONGEST_LIFE = 180
LEEWAY = 30
"""Seconds that two clocks may differ."""


class SignInRefused(Exception):
    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error


class TokenApi:
    """Args:
    organization: the id of the org.
    """

    def __init__(self, organization: str, people: People, sessions: Sessions, settings: Settings) -> None:
        self._organization = organization
        self._people = people
        self._sessions = sessions
        self._settings = settings

    def create(self, call: Call, _: Influence) -> Answer:
        try:
            user = self._user(form_of(call), call)
        except SignInRefused as refused:
            return Answer(400, {"error": refused.error, "error_description": str(refused)})
        organization = self._organization
        return Answer(
            200,
            {
                "access_token": self._sessions.open(organization, user),
                "signature": base64.b64encode(uuid4().bytes + uuid4().bytes).decode(),
                "scope": "api",
                "instance_url": f"https://{call.headers.get('host', '')}",
                "id": f"https://login.salesforce.com/id/{organization}/{user}",
                "token_type": "Bearer",
                "issued_at": str(real_milliseconds()),
            },
        )

    def userinfo(self, _: Call, user: str) -> Answer:
        row = self._people.users[user]
        shown = {"user_id": user, "organization_id": self._organization, "preferred_username": row["Username"]}
        subject = f"https://login.salesforce.com/id/{self._organization}/{user}"
        further = {"name": row["Name"], "email": row["Email"], "user_type": "STANDARD", "active": row["IsActive"]}
        return Answer(200, {"sub": subject, **shown, **further})

    def _user(self, form: Mapping[str, str], call: Call) -> str:
        grant = form.get("grant_type")
        if grant == "client_credentials":
            self._check_application(*(_basic(call) or (form.get("client_id", ""), form.get("client_secret", ""))))
            return self._people.integration_user
        if grant == JWT_BEARER:
            return self._asserted(form.get("assertion", ""))
        raise SignInRefused("unsupported_grant_type", "grant type not supported")

    def _check_application(self, client_id: str, secret: str) -> None:
        settings = self._settings
        if not client_id or client_id != (settings.client_id or client_id):
            raise SignInRefused("invalid_client_id", "client identifier invalid")
        if not secret or secret != (settings.client_secret or secret):
            raise SignInRefused("invalid_client", "invalid client credentials")

    def _asserted(self, assertion: str) -> str:
        """The user that an assertion is about. Its signature is not looked at: the org has no certificate."""
        header, claims = _parts(assertion)
        if header.get("alg") != "RS256":
            raise SignInRefused("invalid_grant", "invalid assertion")
        issuer = str(claims.get("iss") or "")
        if not issuer or issuer != (self._settings.client_id or issuer):
            raise SignInRefused("invalid_client_id", "client identifier invalid")
        if str(claims.get("aud", "")).rstrip("/") not in AUDIENCES:
            raise SignInRefused("invalid_grant", "audience is invalid")
        expires, now = claims.get("exp"), real_milliseconds() / 1000
        if not isinstance(expires, int | float) or not now - LEEWAY < expires <= now + LONGEST_LIFE + LEEWAY:
            raise SignInRefused("invalid_grant", "expired authorization code")
        user = self._people.of_username(str(claims.get("sub", "")))
        if user is None:
            raise SignInRefused("invalid_grant", "user hasn't approved this consumer")
        return user


def form_of(call: Call) -> dict[str, str]:
    return dict(parse_qsl(call.body, keep_blank_values=True)) if isinstance(call.body, str) else {}


def _basic(call: Call) -> tuple[str, str] | None:
    scheme, _, credentials = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client_id, _, secret = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return client_id, secret


def _parts(assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        header, claims, signature = assertion.split(".")
        read = [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in (header, claims)]
    except (ValueError, binascii.Error):
        raise SignInRefused("invalid_grant", "invalid assertion") from None
    if not signature or not all(isinstance(part, dict) for part in read):
        raise SignInRefused("invalid_grant", "invalid assertion")
    return read[0], read[1]
