from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.inbound.signatures import HubSpotSignature, InvalidSignature, StandardSignature

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hubspot"

# HubSpot's documentation of request validation, v3
DOCS_URL = "https://webhook.site/335453f5-94b3-49d9-b684-a55354d4b8df"
DOCS_SECRET = "cfc68c0b-4b4e-4ef8-b764-95350e4ea479"
DOCS_TIME = "1752613922216"
DOCS_SIGNATURE = "gbj1XPRvUt0noT7i7fXfTzOD4sLzQmf0VT28ZYq0EYg="
DOCS_BODY = (FIXTURES / "01-signed-v3-docs-contact-creation.json").read_bytes()

OWN_URL = "https://leads.example.com/webhooks/hubspot"
OWN_SECRET = "an-example-client-secret"


def at(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def hubspot_headers(signature: str, timestamp: str) -> dict[str, str]:
    return {"x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": timestamp}


@pytest.mark.parametrize(
    ("url", "query", "secret", "timestamp", "file", "signature"),
    [
        (DOCS_URL, "", DOCS_SECRET, DOCS_TIME, "01-signed-v3-docs-contact-creation.json", DOCS_SIGNATURE),
        # another project's published reading of the list of decoded sequences
        (
            "https://example.com/api/hubspot/webhooks",
            "src=hs%3Aapp%2Fv3&x=%28a%29",
            "autopilot-test-client-secret-0001",
            "1790000004000",
            "51-signed-empty-array.json",
            "G8ddQlikFQ0ScZOZn+MHQ0E3WCV7vOJTzKlvrkvbvuk=",
        ),
        # made with openssl, see tests/fixtures/README.md
        (
            OWN_URL,
            "",
            OWN_SECRET,
            "1791000001000",
            "49-signed-two-creations-form-and-ui.json",
            "WMKdNRYrt2TlBqmswy10R7E9+Br77XeN+CUwKAdRp1A=",
        ),
        (
            OWN_URL,
            "",
            OWN_SECRET,
            "1791000003000",
            "50-signed-object-creation-utf8-extra-key.json",
            "LcLptOdtGXy6fnnJ+DXXTTlw0TmCQi7piLKBubecxzs=",
        ),
    ],
)
def test_published_hubspot_vectors(
    url: str, query: str, secret: str, timestamp: str, file: str, signature: str
) -> None:
    body = (FIXTURES / file).read_bytes()
    verifier = HubSpotSignature(["another secret", secret], url)
    headers = hubspot_headers(signature, timestamp)
    verifier.verify(headers, method="POST", query=query, body=body, now=at(timestamp))
    for altered in (body + b"\n", body.replace(b":", b": ", 1) if b":" in body else b"[ ]"):
        with pytest.raises(InvalidSignature):
            verifier.verify(headers, method="POST", query=query, body=altered, now=at(timestamp))
    with pytest.raises(InvalidSignature):
        verifier.verify(headers, method="PUT", query=query, body=body, now=at(timestamp))
    with pytest.raises(InvalidSignature):
        verifier.verify(headers, method="POST", query=query + "&a=b", body=body, now=at(timestamp))


@pytest.mark.parametrize(
    ("body", "timestamp", "signature"),
    [
        # HubSpot's clients for Python and Ruby test with these; there the URI is given by the tests
        (b"{'example_field':'example_value'}", "1693657560000", "K36dawei4A+QBNolUOqo7s91KQDWQ5MXZ/QufNYuk/Y="),
        (b"{'example_field':'example_value'}", "1700000300000", "RnbPH7+UMKVkbV32P8bz450N4M56aPmcru1+D3kSDtw="),
    ],
)
def test_vectors_of_hubspots_own_clients(body: bytes, timestamp: str, signature: str) -> None:
    verifier = HubSpotSignature(["yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy"], "https://www.example.com/webhook_uri")
    verifier.verify(hubspot_headers(signature, timestamp), method="POST", query="", body=body, now=at(timestamp))


def test_exactly_the_listed_sequences_are_decoded() -> None:
    every = "".join(f"%{code:02X}" for code in range(256))
    decoded = HubSpotSignature._decoded(f"https://a.example/b?c={every}")
    for sequence, character in {
        "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
        "%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
    }.items():  # fmt: skip
        assert sequence not in decoded
        every = every.replace(sequence, character)
    assert decoded == f"https://a.example/b?c={every}"
    assert HubSpotSignature._decoded("x?a=%3a%2f%20%25%26%2b%3D") == "x?a=:/%20%25%26%2b%3D"


@pytest.mark.parametrize(("seconds", "accepted"), [(0, True), (299, True), (301, False), (-299, True), (-301, False)])
def test_a_hubspot_delivery_has_five_minutes_both_ways(seconds: int, accepted: bool) -> None:
    verifier = HubSpotSignature([DOCS_SECRET], DOCS_URL)

    def verify() -> None:
        verifier.verify(
            hubspot_headers(DOCS_SIGNATURE, DOCS_TIME),
            method="POST",
            query="",
            body=DOCS_BODY,
            now=at(DOCS_TIME) + timedelta(seconds=seconds),
        )

    if accepted:
        verify()
    else:
        with pytest.raises(InvalidSignature, match="stale" if seconds > 0 else "future"):
            verify()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-hubspot-request-timestamp": DOCS_TIME},
        {"x-hubspot-signature-v3": DOCS_SIGNATURE},
        hubspot_headers("", DOCS_TIME),
        hubspot_headers("ünlesbar ☂", DOCS_TIME),
        hubspot_headers("\ud800", DOCS_TIME),
        hubspot_headers(DOCS_SIGNATURE.lower(), DOCS_TIME),
        hubspot_headers(DOCS_SIGNATURE + "=", DOCS_TIME),
        hubspot_headers(DOCS_SIGNATURE, f" {DOCS_TIME}"),
        hubspot_headers(DOCS_SIGNATURE, f"{DOCS_TIME}.0"),
        hubspot_headers(DOCS_SIGNATURE, f"-{DOCS_TIME}"),
        hubspot_headers(DOCS_SIGNATURE, "١٧٥٢٦١٣٩٢٢٢١٦"),
        hubspot_headers(DOCS_SIGNATURE, "9" * 400),
        hubspot_headers(DOCS_SIGNATURE, "tomorrow"),
        # v1 over the same body, which has no time in it
        {"x-hubspot-signature": DOCS_SIGNATURE, "x-hubspot-signature-version": "v1"},
    ],
)
def test_missing_and_garbled_hubspot_headers_are_the_one_error(headers: dict[str, str]) -> None:
    verifier = HubSpotSignature([DOCS_SECRET], DOCS_URL)
    with pytest.raises(InvalidSignature):
        verifier.verify(headers, method="POST", query="", body=DOCS_BODY, now=at(DOCS_TIME))


def test_without_a_secret_nothing_is_accepted_and_an_empty_one_is_refused() -> None:
    verifier = HubSpotSignature([], DOCS_URL)
    forged = verifier.sign(b"", method="POST", query="", body=DOCS_BODY, timestamp=DOCS_TIME)
    with pytest.raises(InvalidSignature):
        verifier.verify(hubspot_headers(forged, DOCS_TIME), method="POST", query="", body=DOCS_BODY, now=at(DOCS_TIME))
    with pytest.raises(ConfigurationRefused):
        HubSpotSignature([""], DOCS_URL)


# Two vectors that Svix publishes for the scheme that became Standard Webhooks
STANDARD = [
    (
        "whsec_plJ3nmyCDGBKInavdOK15jsl",
        "msg_loFOjxBNrRLzqYUf",
        "1731705121",
        b'{"event_type":"ping","data":{"success":true}}',
        "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
    ),
    (
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        b'{"test": 2432232314}',
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
]


def standard_headers(message_id: str, timestamp: str, signature: str) -> dict[str, str]:
    return {"webhook-id": message_id, "webhook-timestamp": timestamp, "webhook-signature": signature}


@pytest.mark.parametrize(("secret", "message_id", "timestamp", "body", "signature"), STANDARD)
def test_published_standard_vectors(secret: str, message_id: str, timestamp: str, body: bytes, signature: str) -> None:
    now = datetime.fromtimestamp(int(timestamp), UTC)
    verifier = StandardSignature(["whsec_b3RoZXIgc2VjcmV0IG9mIG91cnM=", secret])
    among_others = f"v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw v1,Z2FyYmxlZA== {signature} v2,x"
    for given in (signature, among_others):
        verifier.verify(standard_headers(message_id, timestamp, given), body=body, now=now)
    digest = signature.removeprefix("v1,")
    for garbled in ("", digest, f"v1{digest}", f"v1a,{digest}", f"v1,{digest},", "v1,", "☂", "\ud800", f"V1,{digest}"):
        with pytest.raises(InvalidSignature):
            verifier.verify(standard_headers(message_id, timestamp, garbled), body=body, now=now)
    for headers in (
        {},
        standard_headers("", timestamp, signature),
        standard_headers("msg_other", timestamp, signature),
        standard_headers(message_id, "", signature),
        standard_headers(message_id, f"{timestamp}000", signature),
        standard_headers(message_id, f"0{timestamp}", signature),
    ):
        with pytest.raises(InvalidSignature):
            verifier.verify(headers, body=body, now=now)
    with pytest.raises(InvalidSignature):
        verifier.verify(standard_headers(message_id, timestamp, signature), body=body + b" ", now=now)
    for seconds in (301, -301):
        with pytest.raises(InvalidSignature):
            verifier.verify(
                standard_headers(message_id, timestamp, signature), body=body, now=now + timedelta(seconds=seconds)
            )
    for seconds in (299, -299):
        verifier.verify(
            standard_headers(message_id, timestamp, signature), body=body, now=now + timedelta(seconds=seconds)
        )


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!", "whsec_é", "whsec_abc"])
def test_a_standard_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(ConfigurationRefused):
        StandardSignature([secret])
