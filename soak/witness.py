"""What the CRMs really hold and really received, by the sandbox's own books, in the ledger's names of the fields.

The names stand here once more, and not by way of the adapters: a mistake in theirs must not cancel out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from soak.ledger import moment

_NAMES: Mapping[str, Mapping[str, str]] = {
    "hubspot": {
        "email": "email",
        "phone": "phone",
        "firstname": "first_name",
        "lastname": "last_name",
        "company": "company",
        "jobtitle": "title",
        "country": "country",
        "hubspot_owner_id": "owner",
        "lifecyclestage": "lifecycle_stage",
        "hs_lead_status": "lead_status",
        "disqualification_reason": "disqualification_reason",
        "salesforce_lead_id": "salesforce_id",
        "leadproof_effect": "marker",
        "leadproof_external_id": "external_id",
    },
    "salesforce": {
        "Email": "email",
        "Phone": "phone",
        "FirstName": "first_name",
        "LastName": "last_name",
        "Company": "company",
        "Title": "title",
        "CountryCode": "country",
        "OwnerId": "owner",
        "Status": "lead_status",
        "Disqualification_Reason__c": "disqualification_reason",
        "Leadproof_Effect__c": "marker",
        "Leadproof_External_Id__c": "external_id",
    },
}
_OBJECTS = {"hubspot": "contacts", "salesforce": "leads"}
_OURS = {"hubspot": "INTEGRATION", "salesforce": "API"}
_IDENTITY = frozenset({"marker", "external_id"})
_NO_SESSION = 401
_COUNTRIES = {"united states": "us", "germany": "de", "united kingdom": "gb"}


def plain(value: object) -> str:
    """A value as it is compared here: nothing is empty text, and neither case nor spelling of a country counts."""
    text = "" if value is None else str(value).strip().casefold()
    return _COUNTRIES.get(text, text)


@dataclass(frozen=True, slots=True)
class Version:
    """One entry of a record's history."""

    at: datetime
    value: str
    by: str

    @property
    def ours(self) -> bool:
        return self.by in _OURS.values()


@dataclass(frozen=True, slots=True)
class Record:
    """One record; versions oldest first."""

    system: str
    record_id: str
    fields: Mapping[str, str]
    versions: Mapping[str, Sequence[Version]] = field(default_factory=dict)

    def value_at(self, name: str, at: datetime) -> str | None:
        """The value of a field at a time; `None` where nobody knows any more."""
        entries = self.versions.get(name, ())
        if not entries:
            return self.fields.get(name, "")
        before = [entry for entry in entries if entry.at <= at]
        if before:
            return before[-1].value
        return "" if self.system == "hubspot" else None

    def effects(self, mutation_key: str) -> list[Version]:
        """Where the marker of a mutation came to stand on the record."""
        return [entry for entry in self.versions.get("marker", ()) if entry.value == mutation_key]

    def stood(self, intended: Mapping[str, str], since: datetime | None) -> bool:
        """Whether at any moment, from a time on, every field had its intended value."""
        times = {entry.at for name in (*intended, "marker") for entry in self.versions.get(name, ())}
        wanted = [at for at in times if since is None or at >= since]
        return any(all(self.value_at(name, at) in {value, None} for name, value in intended.items()) for at in wanted)


@dataclass(frozen=True, slots=True)
class Write:
    """One request to change a record.

    Attributes:
        marker: the mutation that it names; empty where it names none.
        values: the fields that it sets, but for marker and external id.
        refused_session: it was turned away unread, for want of a session: the same attempt signs in and repeats it.
    """

    system: str
    at: datetime
    marker: str
    values: Mapping[str, str]
    applied: bool
    refused_session: bool = False


@dataclass(frozen=True, slots=True)
class Witness:
    """Both CRMs, at one look.

    Attributes:
        armed: by kind, how many faults no request has met.
    """

    records: Sequence[Record] = ()
    writes: Sequence[Write] = ()
    armed: Mapping[str, int] = field(default_factory=dict)

    def record(self, system: str, record_id: str | None) -> Record | None:
        return next((one for one in self.records if (one.system, one.record_id) == (system, record_id)), None)

    def of_address(self, system: str, email: str) -> list[Record]:
        return [one for one in self.records if one.system == system and one.fields.get("email") == plain(email)]

    def writes_of(self, mutation_key: str) -> list[Write]:
        return [write for write in self.writes if write.marker == mutation_key]


async def look(sandbox: str, http: httpx.AsyncClient) -> Witness:
    """Ask the sandbox for all that it knows."""

    async def asked(path: str, **query: str) -> Any:
        return (await http.get(f"{sandbox}/_sandbox/{path}", params=query)).raise_for_status().json()

    records, writes = [], []
    for system, kind in _OBJECTS.items():
        records += [_record(system, one) for one in await asked("records", provider=system, object=kind)]
        received = await asked("requests", provider=system, operation=f"{kind}.write")
        writes += [write for one in received for write in _writes(system, one)]
    armed: Counter[str] = Counter()
    for fault in await asked("faults"):
        armed[fault["kind"]] += int(fault["times"])
    return Witness(records, writes, armed)


def _record(system: str, said: Mapping[str, Any]) -> Record:
    names = _NAMES[system]
    return Record(
        system=system,
        record_id=str(said["id"]),
        fields={names[name]: plain(value) for name, value in said["properties"].items() if name in names},
        versions={
            names[name]: [
                Version(moment(entry["timestamp"]), plain(entry["value"]), str(entry["sourceType"]))
                for entry in reversed(entries)
            ]
            for name, entries in said["history"].items()
            if name in names
        },
    )


def _writes(system: str, said: Mapping[str, Any]) -> list[Write]:
    body = said["body"] if isinstance(said["body"], dict) else json.loads(said["body"] or "{}")
    inputs = (
        [row.get("properties", {}) for row in body["inputs"]] if "inputs" in body else [body.get("properties", body)]
    )
    found = []
    for values in inputs:
        named = {_NAMES[system].get(name, name): plain(value) for name, value in values.items()}
        found.append(
            Write(
                system=system,
                at=moment(said["at"]),
                marker=named.get("marker", ""),
                values={name: value for name, value in named.items() if name not in _IDENTITY},
                applied=bool(said["applied"]),
                refused_session=said["status"] == _NO_SESSION and not said["applied"],
            )
        )
    return found
