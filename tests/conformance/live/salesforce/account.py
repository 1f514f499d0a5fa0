"""A Salesforce org as the live suite uses it, over plain HTTP: our adapter is what is being tested."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import httpx

from leadproof.crm.salesforce_sign_in import SIGN_IN_PATH, ClientCredentials, JwtBearer, SignIn
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.salesforce_ids import salesforce_id
from leadproof.settings import Settings
from tests.conformance.clocks import Waiting
from tests.conformance.hands import Standing
from tests.conformance.live.accounts import Account, Opened, Raw, Unexpected
from tests.conformance.salesforce import SALESFORCE
from tests.conformance.systems import System

_LITERAL: Final = re.compile(r"[A-Za-z0-9@._ -]+")
AS_WE_ARE: Final = {"Sforce-Auto-Assign": "FALSE", "Sforce-Duplicate-Rule-Header": "allowSave=true"}
"""On what the suite itself writes: the org's rules are not what is tried."""

_STANDARD: Final = "WHERE UserType = 'Standard'"
_STATUSES_NEEDED: Final = 2
_CONVERTED: Final = "Closed - Converted"


class SalesforceAccount(Account):
    """Leads of one Salesforce org."""

    name = "salesforce"
    title = "Salesforce"

    def __init__(self, settings: Settings, clock: Waiting, *, run: str) -> None:
        if settings.salesforce_url is None:
            raise ConfigurationRefused("Salesforce has no address; set LEADPROOF_SALESFORCE_URL")
        self.sign_in = _sign_in(settings)
        self.external_id = settings.salesforce_external_id_field
        self.marker = settings.salesforce_marker_field
        self.data = f"/services/data/v{settings.salesforce_api_version}"
        self.leads = f"{self.data}/sobjects/Lead"
        self.user = ""
        self._token = ""
        http = httpx.Client(base_url=settings.salesforce_url, timeout=60, trust_env=False)
        super().__init__(http, clock, run=run, pause=2.5)

    def token(self) -> Raw:
        """Ask for a token, as a worker does."""
        basic = self.sign_in.basic() or httpx.USE_CLIENT_DEFAULT
        answer = self._http.post(SIGN_IN_PATH, data=self.sign_in.form(), auth=basic)
        return Raw(answer.status_code, answer.json() if answer.content else None, answer.headers)

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Raw:
        answer = super().ask(method, path, body, **more)
        if answer.status == httpx.codes.UNAUTHORIZED and "authorization" not in more.get("headers", {}):
            self._renew()
            answer = super().ask(method, path, body, **more)
        return answer

    def query(self, soql: str, *, deleted: bool = False) -> Raw:
        """Ask the database; `deleted`: those in the recycling bin too."""
        return self.ask("GET", f"{self.data}/{'queryAll' if deleted else 'query'}", params={"q": soql})

    def rows(self, names: str, where: str, *, source: str = "Lead", deleted: bool = False) -> list[dict[str, Any]]:
        """The records that a query finds; `where` is made of ours alone, by `equal` where it holds a value.

        Raises:
            Unexpected: the org does not say.
        """
        answer = self.query(f"SELECT {names} FROM {source} {where}", deleted=deleted)  # noqa: S608
        if answer.status != httpx.codes.OK:
            raise Unexpected(f"Salesforce answered {answer.status} to a query")
        found: list[dict[str, Any]] = answer.body["records"]
        return found

    def opened(self) -> Opened:
        self._renew()
        answer = self.ask("GET", "/services/oauth2/userinfo")
        if answer.status != httpx.codes.OK:
            raise ConfigurationRefused(f"Salesforce answers {answer.status} to who we are; nothing was written")
        self.user = salesforce_id(answer.body["user_id"], prefix="005")
        (org,) = self.rows("OrganizationType, IsSandbox", "", source="Organization")
        kind = f"{org['OrganizationType']}, {'a sandbox' if org['IsSandbox'] else 'no sandbox'}"
        return Opened(salesforce_id(answer.body["organization_id"], prefix="00D"), kind)

    def system(self) -> System:
        description = self.ask("GET", f"{self.leads}/describe")
        fields = {field["name"]: field for field in (description.body or {}).get("fields", ())}
        ours, marker = fields.get(self.external_id, {}), self.marker in fields
        if not (ours.get("externalId") and ours.get("unique") and marker):
            raise ConfigurationRefused(
                "our two fields of Salesforce's leads are not as they have to be: ask `leadproof doctor`"
            )
        chosen = [one for one in fields["Status"]["picklistValues"] if one["active"] and not one["defaultValue"]]
        statuses = [one["value"] for one in chosen if one["value"] != _CONVERTED]
        active, left = (
            [row["Id"] for row in self.rows("Id", f"{_STANDARD} AND IsActive = {yes} LIMIT 3", source="User")]
            for yes in ("true", "false")
        )
        queues = self.rows("QueueId", "WHERE SobjectType = 'Lead'", source="QueueSobject")
        owners = [one for one in active if one != self.user] + [row["QueueId"] for row in queues]
        if not owners or len(statuses) < _STATUSES_NEEDED:
            raise ConfigurationRefused(
                "the Salesforce org needs another active user or a queue, and two lead statuses beside its first one"
            )
        reason = fields.get("Disqualification_Reason__c", {})
        return replace(
            SALESFORCE,
            external_id=self.external_id,
            marker=self.marker,
            owner=owners[0],
            other_owner=owners[1] if len(owners) > 1 else None,
            inactive_owner=left[0] if left else None,
            status=statuses[0],
            other_status=statuses[1],
            unusable=SALESFORCE.unusable if reason.get("restrictedPicklist") else None,
        )

    def get(self, record_id: str, **params: str) -> Raw:
        """Read one lead."""
        return self.ask("GET", f"{self.leads}/{record_id}", params=params)

    def _renew(self) -> None:
        answer = self.token()
        if answer.status != httpx.codes.OK:
            raise ConfigurationRefused(f"Salesforce answers {answer.status} to our signing in; nothing was written")
        self._token = str(answer.body["access_token"])

    def _post(self, properties: Mapping[str, Any]) -> Raw:
        return self.ask("POST", self.leads, dict(properties), headers=AS_WE_ARE)

    def _patch(self, record_id: str, properties: Mapping[str, Any]) -> Raw:
        return self.ask("PATCH", f"{self.leads}/{record_id}", dict(properties), headers=AS_WE_ARE)

    def _delete(self, record_id: str) -> Raw:
        return self.ask("DELETE", f"{self.leads}/{record_id}")

    def _standing(self, record_id: str) -> Standing | None:
        names = ", ".join([*self._readable(), self.external_id, self.marker, "IsDeleted", "IsConverted"])
        history = "(SELECT Field, OldValue, NewValue FROM Histories ORDER BY CreatedDate)"
        found = self.rows(f"Id, {names}, {history}", equal(Id=record_id), deleted=True)
        if not found:
            return None
        row = found[0]
        entries = [one for one in (row["Histories"] or {}).get("records", ()) if one["Field"] == self.marker]
        values = [entries[0]["OldValue"], *(one["NewValue"] for one in entries)] if entries else [row[self.marker]]
        return Standing(
            record_id=record_id,
            external_id=row[self.external_id],
            marks=tuple(value for value in values if value),
            values=row,
            live=not row["IsDeleted"] and not row["IsConverted"],
        )

    def _readable(self) -> list[str]:
        """The fields of the cases that every org has."""
        return [name for name in SALESFORCE.properties.values() if not name.endswith("__c")]

    def _ids_by(self, name: str, value: str) -> Sequence[str]:
        return [row["Id"] for row in self.rows("Id", equal(**{name: value}))]

    def _names(self) -> tuple[str, str]:
        return self.external_id, "Email"

    def _authorization(self) -> str:
        return f"Bearer {self._token}"


def equal(**values: str) -> str:
    """The condition that fields have these values of ours."""
    if not all(_LITERAL.fullmatch(value) for value in values.values()):
        raise Unexpected("a value of ours cannot stand in a query")
    return "WHERE " + " AND ".join(f"{name} = '{value}'" for name, value in values.items())


def _sign_in(settings: Settings) -> SignIn:
    client_id, secret = settings.salesforce_client_id, settings.salesforce_client_secret
    if client_id is None:
        raise ConfigurationRefused("Salesforce has no credentials; set LEADPROOF_SALESFORCE_CLIENT_ID")
    if secret is not None:
        return ClientCredentials(client_id.get_secret_value(), secret.get_secret_value())
    username, key = settings.salesforce_username, settings.salesforce_private_key
    if username is None or key is None or not key.is_file():
        raise ConfigurationRefused(
            "Salesforce has no whole credentials; set LEADPROOF_SALESFORCE_CLIENT_SECRET, or "
            "LEADPROOF_SALESFORCE_USERNAME and LEADPROOF_SALESFORCE_PRIVATE_KEY"
        )
    return JwtBearer(
        client_id=client_id.get_secret_value(),
        username=username,
        private_key=key.read_text(encoding="ascii"),
        audience=settings.salesforce_audience,
    )
