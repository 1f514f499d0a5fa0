"""What a Flow of Salesforce can send: JSON in its own spelling, and a secret where others sign."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from leadproof.domain.errors import ConfigurationRefused, MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.inbound import standard
from leadproof.inbound.signatures import InvalidSignature, SecretPath, SharedSecret, StandardSource
from tests.starter.signing import standard_headers

SHARED, OTHER = "bearer_a-named-credential-of-a-flow", "bearer_the-credential-before-that"
SIGNING = "whsec_c2VjcmV0IG9mIHRoZSB3ZWJzaXRl"
NOW = datetime(2026, 11, 30, 1, 37, 4, tzinfo=UTC)

FLOW: dict[str, Any] = {
    "source_record_id": "00Qxx0000004C92EAE",
    "event_kind": "lead.routed",
    "occurrence": "4c1e9b2d-interview",
    "occurred_at": "2026-11-30T01:37:04.000+0000",
    "lead": {
        "email": "mira@example.com",
        "phone": None,
        "first_name": "",
        "company": "Sample & Co",
        "employees": 120.0,
        "utm": {"utm_source": None, "utm_medium": "mail"},
        "consent": {"email_opt_out": True, "do_not_call": None},
        "AnnualRevenue": 10000.5,
    },
    "extra": None,
}


def parse(value: object) -> SourceEvent:
    return standard.parse(json.dumps(value).encode(), source="flow").event


def authorization(text: str) -> dict[str, str]:
    return {"authorization": text}


# -- spelling ----------------------------------------------------------------------------------------------------------
def test_what_a_flow_sends_is_read() -> None:
    event = parse(FLOW)
    assert event.occurred_at == NOW
    assert event.lead == {
        "email": "mira@example.com",
        "company": "Sample & Co",
        "employees": 120,
        "utm_medium": "mail",
        "email_opt_out": True,
    }
    assert isinstance(event.lead["employees"], int)
    assert event.extra["AnnualRevenue"] == 10000.5


@pytest.mark.parametrize("time", ["2026-11-30T01:37:04.000+0000", "2026-11-30T01:37:04Z", "2026-11-30T02:37:04+0100"])
def test_a_time_in_either_form_is_the_same(time: str) -> None:
    assert parse(FLOW | {"occurred_at": time}).occurred_at == NOW


def test_half_a_person_is_not_employed() -> None:
    for employees in (120.5, "120.0", 1e300, True):
        with pytest.raises(MalformedDelivery, match=r"lead\.employees"):
            parse(FLOW | {"lead": FLOW["lead"] | {"employees": employees}})


# -- who sends ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sent", [f"Bearer {SHARED}", f"bearer {OTHER}", f"Bearer  {SHARED} "])
def test_a_secret_that_is_shown_is_accepted(sent: str) -> None:
    assert StandardSource([OTHER, SHARED]).verify(authorization(sent), body=b"", now=NOW) is False


@pytest.mark.parametrize(
    "headers",
    [
        {},
        authorization(""),
        authorization("Bearer"),
        authorization(SHARED),
        authorization(f"Basic {SHARED}"),
        authorization(f"Bearer {SHARED}x"),
        authorization(f"Bearer {SHARED[:-1]}"),
        authorization(f"Bearer {SHARED.removeprefix('bearer_')}"),
        authorization("Bearer \udcff☂"),
        authorization(f"Bearer {SIGNING}"),
        {"x-secret": SHARED},
    ],
)
def test_anything_else_is_refused_without_being_repeated(headers: dict[str, str]) -> None:
    for secrets in ([SHARED], [SHARED, SIGNING]):
        with pytest.raises(InvalidSignature) as refused:
            StandardSource(secrets).verify(headers, body=b"", now=NOW)
        assert SHARED not in str(refused.value)


def test_of_a_source_with_both_kinds_either_counts_and_each_by_its_own_rule() -> None:
    both, body = StandardSource([SIGNING, SHARED]), b"{}"
    signed = standard_headers(body, secret=SIGNING, seconds=int(NOW.timestamp()))
    assert both.verify(signed, body=body, now=NOW) is True
    assert both.verify(authorization(f"Bearer {SHARED}"), body=body, now=NOW) is False
    forged = signed | authorization(f"Bearer {SHARED}")
    with pytest.raises(InvalidSignature):
        both.verify(forged, body=b"[]", now=NOW)


def test_a_source_that_signs_does_not_show_its_secret() -> None:
    with pytest.raises(InvalidSignature):
        StandardSource([SIGNING]).verify(authorization(f"Bearer {SIGNING}"), body=b"", now=NOW)


@pytest.mark.parametrize("secret", ["bearer_", "bearer_short", "bearer_" + "ü" * 20, "bearer_" + "a b" * 10])
def test_a_shared_secret_that_could_be_guessed_or_not_sent_is_refused(secret: str) -> None:
    for refused in (SharedSecret, StandardSource):
        with pytest.raises(ConfigurationRefused, match="20 to 200"):
            refused([secret])


def test_an_address_without_a_secret_is_nobodys() -> None:
    with pytest.raises(InvalidSignature):
        SecretPath([]).verify("")
    with pytest.raises(ConfigurationRefused):
        SecretPath([""])
