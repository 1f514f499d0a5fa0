"""What a catch-up makes of a record has the keys and the fingerprints that the source's own deliveries have.

The witness is the sandbox's emitter of webhooks, which knows nothing of our code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadproof.crm.hubspot_candidates import HubSpotCandidates
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_patience import PatientQuestions
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.inbound import hubspot, hubspot_catch_up
from leadproof.inbound.reading import Reading
from sandbox.server import running
from starter.admission import HeldBack, LeftAlone, judge_reading, source_fields
from tests.sandbox.control import AUTHORIZED, CONTACTS, Control, eventually
from tests.sandbox.receiver import Receiver, receiving
from tests.starter.door import POLICY, PORTAL, settings_of

SETTINGS = settings_of()
WATCHED = ("email", "company", "country", "annualrevenue", "hs_email_optout", "hs_lead_status")
SECRET = "a-secret-of-the-tests"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Identity = tuple[str, str, str]
"""Record, key and fingerprint of one event."""


def watching_policy() -> Policy:
    """Both kinds count once per event, so that the time of each stands in its key."""
    text = POLICY.read_text(encoding="utf-8")
    creation = 'kind = "contact.creation"\nscopes = [{ from = 2026-01-01T00:00:00Z, scope = "record" }]'
    listed = 'properties = ["email", "company", "country"]'
    assert creation in text
    assert listed in text
    names = ", ".join(f'"{name}"' for name in WATCHED)
    return parse_policy(
        text.replace(creation, creation.replace('"record"', '"event"')).replace(listed, f"properties = [{names}]")
    )


@dataclass(frozen=True)
class Account:
    """A HubSpot account that a test changes, its deliveries, and how a catch-up looks at it."""

    control: Control
    http: httpx.Client
    receiver: Receiver
    candidates: HubSpotCandidates
    policy: Policy

    def reset(self) -> None:
        self.control.post("/reset")
        self.control.post("/webhooks", {"target": self.receiver.target, "secret": SECRET, "on": True})
        self.receiver.deliveries.clear()

    def delivered(self) -> set[Identity]:
        eventually(lambda: self.control.get("/webhooks")["waiting"] == 0)
        readings = [reading for one in self.receiver.deliveries for reading in hubspot.parse(one.body)]
        return self._identities(readings)

    def caught_up(self, since: datetime = EPOCH, until: datetime | None = None) -> set[Identity]:
        self.control.advance(5)  # until the index knows
        found: list[Reading] = []
        for record in self.candidates.changed_since(since):
            candidate = self.candidates.read(record, WATCHED)
            assert candidate is not None
            told = hubspot_catch_up.readings(candidate, account=str(PORTAL), since=since, until=until)
            assert len({str(reading.body) for reading in told}) == len(told)
            found += told
        return self._identities(found)

    def _identities(self, readings: Sequence[Reading]) -> set[Identity]:
        identities = set()
        for reading in readings:
            judged = judge_reading(
                reading,
                policy=self.policy,
                settings=SETTINGS,
                fields=source_fields(self.policy),
                now=datetime.now(UTC),
            )
            assert not isinstance(judged, HeldBack)
            if not isinstance(judged, LeftAlone):
                identities.add((judged[0].source_record_id, judged[0].event_key, judged[0].fingerprint))
        return identities

    def living(self) -> set[str]:
        return {row["id"] for row in self.control.records() if not row["archived"] and row["mergedInto"] is None}


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with running() as address, receiving() as receiver, httpx.Client(base_url=address, trust_env=False) as http:
        client = HubSpotClient(token=lambda: "any", base_url=f"{address}/hubspot", connect_timeout=2)
        candidates = HubSpotCandidates(PatientQuestions(client, call_timeout=5, search_spacing=0), page=4)
        yield Account(Control(http), http, receiver, candidates, watching_policy())
        candidates.close()


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
values = st.one_of(
    st.tuples(st.just("company"), texts),
    st.tuples(st.just("country"), st.sampled_from(["US", " us ", "Deutschland", "", "München"])),
    st.tuples(st.just("annualrevenue"), st.sampled_from(["1000", "1000.0", "1e3", ""])),
    st.tuples(st.just("hs_email_optout"), st.sampled_from(["true", "false", ""])),
    st.tuples(st.just("hs_lead_status"), st.sampled_from(["NEW", "OPEN", ""])),
    st.tuples(st.just("email"), st.sampled_from(["Ana@Lead.Example", "bo@lead.example", "ü@bücher.example", ""])),
    st.tuples(st.just("firstname"), texts),  # not watched
)
properties = st.lists(values, max_size=4).map(dict)
which = st.integers(0, 5)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("made by a person"), which, properties),
        st.tuples(st.just("made by an application"), which, properties),
        st.tuples(st.just("edited by a person"), which, properties),
        st.tuples(st.just("edited by an application"), which, properties),
        st.tuples(st.just("archived"), which, st.just({})),
        st.tuples(st.just("restored"), which, st.just({})),
        st.tuples(st.just("merged"), which, st.just({})),
    ),
    min_size=1,
    max_size=10,
)


def carry_out(account: Account, steps: Sequence[tuple[str, int, dict[str, str]]]) -> None:
    """Do what is possible of it; what HubSpot refuses has not happened."""
    control = account.control
    named: dict[str, Any] = {"provider": "hubspot", "object": "contacts", "user": "9002"}
    for what, number, given_ in steps:
        rows = control.records()
        record = rows[number % len(rows)]["id"] if rows else "101"
        other = rows[(number + 1) % len(rows)]["id"] if rows else "101"
        with contextlib.suppress(httpx.HTTPStatusError):
            match what:
                case "made by a person":
                    control.person(**given_)
                case "made by an application":
                    account.http.post(CONTACTS, json={"properties": given_}, headers=AUTHORIZED)
                case "edited by a person":
                    control.person(record=record, **given_)
                case "edited by an application":
                    account.http.patch(f"{CONTACTS}/{record}", json={"properties": given_}, headers=AUTHORIZED)
                case "archived":
                    control.delete("/records", named | {"id": record})
                case "restored":
                    control.put("/records", named | {"id": record, "archived": False})
                case "merged":
                    control.post("/merge", named | {"winner": record, "loser": other})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_every_event_has_the_identity_of_its_delivery(
    account: Account, steps: list[tuple[str, int, dict[str, str]]]
) -> None:
    account.reset()
    carry_out(account, steps)
    living = account.living()
    assert account.caught_up() == {identity for identity in account.delivered() if identity[0] in living}


def test_a_window_takes_the_events_that_occurred_in_it(account: Account) -> None:
    account.reset()
    record = str(account.control.person(company="One")["id"])
    for name in ("Two", "Three", "Four"):
        account.control.person(record=record, company=name)
    versions = account.control.record(record)["history"]["company"]
    times = [datetime.fromisoformat(version["timestamp"]) for version in versions][::-1]
    everything, delivered = account.caught_up(), account.delivered()
    assert len(everything) == 5
    assert everything == delivered
    assert len(account.caught_up(since=times[1])) == 3
    assert len(account.caught_up(since=times[1], until=times[2])) == 2
    assert len(account.caught_up(since=times[1] + timedelta(milliseconds=1), until=times[2])) == 1
    assert account.caught_up(until=times[0] - timedelta(milliseconds=1)) == set()


def test_a_concealed_value_is_what_a_delivery_says(account: Account) -> None:
    """HubSpot's webhooks say `REDACTED` for a sensitive property, its history the value: no conflict may come of it."""
    account.reset()
    record = str(account.control.person(company="Acme")["id"])
    account.control.advance(5)
    candidate = account.candidates.read(record, WATCHED)
    assert candidate is not None
    concealed = candidate.model_copy(update={"concealed": frozenset({"company"})})
    told = hubspot_catch_up.readings(concealed, account=str(PORTAL), since=EPOCH, until=None)
    eventually(lambda: len(account.receiver.events) == 2)
    sent = [
        hubspot.parse_event(event | ({"propertyValue": "REDACTED"} if event.get("propertyName") else {}))
        for event in account.receiver.events
    ]
    assert account._identities(told) == account._identities(sent)
    assert "Acme" not in str([reading.body for reading in told])
