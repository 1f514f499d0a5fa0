"""A HubSpot account as the live suite uses it, over plain HTTP: our adapter is what is being tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import httpx

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings
from tests.conformance.clocks import Waiting
from tests.conformance.hands import Standing
from tests.conformance.hubspot import HUBSPOT
from tests.conformance.live.accounts import Account, Opened, Raw, Unexpected
from tests.conformance.systems import System

CONTACTS: Final = "/crm/v3/objects/contacts"
_STATUSES_NEEDED: Final = 2


class HubSpotAccount(Account):
    """Contacts of one HubSpot account."""

    name = "hubspot"
    title = "HubSpot"

    def __init__(self, settings: Settings, clock: Waiting, *, run: str) -> None:
        if settings.hubspot_token is None:
            raise ConfigurationRefused("HubSpot has no access token; set LEADPROOF_HUBSPOT_TOKEN")
        self._token = settings.hubspot_token.get_secret_value()
        self.external_id = settings.hubspot_external_id_property
        self.marker = settings.hubspot_marker_property
        http = httpx.Client(base_url=settings.hubspot_base_url, timeout=60, trust_env=False)
        super().__init__(http, clock, run=run, pause=1.5)

    def opened(self) -> Opened:
        answer = self.ask("GET", "/account-info/v3/details")
        if answer.status != httpx.codes.OK:
            raise ConfigurationRefused(f"HubSpot answers {answer.status} to the access token; nothing was written")
        return Opened(str(answer.body["portalId"]), str(answer.body.get("accountType", "unknown")))

    def system(self) -> System:
        for name in (self.external_id, self.marker):
            ours = self.ask("GET", f"/crm/v3/properties/contacts/{name}")
            if ours.status != httpx.codes.OK or (name == self.external_id and not ours.body.get("hasUniqueValue")):
                raise ConfigurationRefused(f"HubSpot's property {name} is not as it has to be: ask `leadproof doctor`")
        active, left = (self._owners(archived=archived) for archived in ("false", "true"))
        definition = self.ask("GET", "/crm/v3/properties/contacts/hs_lead_status")
        options = [option["value"] for option in (definition.body or {}).get("options", ()) if not option.get("hidden")]
        if not active or len(options) < _STATUSES_NEEDED:
            raise ConfigurationRefused(
                "the HubSpot account needs an active owner and two lead statuses, and a token that may read them"
            )
        return replace(
            HUBSPOT,
            external_id=self.external_id,
            marker=self.marker,
            owner=active[0],
            other_owner=active[1] if len(active) > 1 else None,
            inactive_owner=left[0] if left else None,
            status=options[0],
            other_status=options[1],
        )

    def _owners(self, *, archived: str) -> list[str]:
        answer = self.ask("GET", "/crm/v3/owners/", params={"archived": archived})
        return [str(owner["id"]) for owner in (answer.body or {}).get("results", ())]

    def merge(self, winner: str, loser: str) -> None:
        asked = {"primaryObjectId": winner, "objectIdToMerge": loser}
        answer = self.ask("POST", f"{CONTACTS}/merge", asked)
        if answer.status != httpx.codes.OK:
            raise Unexpected(f"HubSpot answered {answer.status} where two records were to be merged")
        self.knows(str(answer.body["id"]))

    def get(self, key: str, **params: str) -> Raw:
        """Read one contact."""
        return self.ask("GET", f"{CONTACTS}/{key}", params=params)

    def _post(self, properties: Mapping[str, Any]) -> Raw:
        return self.ask("POST", CONTACTS, {"properties": _given(properties)})

    def _patch(self, record_id: str, properties: Mapping[str, Any]) -> Raw:
        return self.ask("PATCH", f"{CONTACTS}/{record_id}", {"properties": _given(properties)})

    def _delete(self, record_id: str) -> Raw:
        return self.ask("DELETE", f"{CONTACTS}/{record_id}")

    def _standing(self, record_id: str) -> Standing | None:
        names = ",".join([*HUBSPOT.properties.values(), self.external_id, self.marker])
        for archived in ("false", "true"):
            answer = self.get(record_id, properties=names, propertiesWithHistory=self.marker, archived=archived)
            if answer.status == httpx.codes.OK:
                return self._stands(record_id, answer.body)
            if answer.status != httpx.codes.NOT_FOUND:
                raise Unexpected(f"HubSpot answered {answer.status} where a record was to be read")
        return None

    def _stands(self, record_id: str, body: Mapping[str, Any]) -> Standing:
        versions = (body.get("propertiesWithHistory") or {}).get(self.marker, ())
        return Standing(
            record_id=record_id,
            external_id=body["properties"].get(self.external_id) or None,
            marks=tuple(version["value"] for version in reversed(versions) if version["value"]),
            values=body["properties"],
            live=not body.get("archived") and str(body["id"]) == record_id,
        )

    def _ids_by(self, name: str, value: str) -> Sequence[str]:
        answer = self.get(value, idProperty=name)
        if answer.status == httpx.codes.OK:
            return (str(answer.body["id"]),)
        if answer.status == httpx.codes.NOT_FOUND:
            return ()
        raise Unexpected(f"HubSpot answered {answer.status} where a record was to be looked for")

    def _names(self) -> tuple[str, str]:
        return self.external_id, "email"

    def _authorization(self) -> str:
        return f"Bearer {self._token}"


def _given(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in properties.items()}
