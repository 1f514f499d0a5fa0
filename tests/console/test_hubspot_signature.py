from datetime import UTC, datetime

import pytest

from console import hubspot_signature
from leadproof.inbound.signatures import HubSpotSignature, InvalidSignature

URL = "https://leads.example.com/webhooks/hubspot"
BODY = b'[{"eventId":1}]'


def headers(secret: str) -> dict[str, str]:
    return {name.lower(): value for name, value in hubspot_signature.headers(secret, URL, BODY).items()}


def test_what_it_signs_is_accepted_at_the_door() -> None:
    door = HubSpotSignature(["right"], URL)
    door.verify(headers("right"), method="POST", query="", body=BODY, now=datetime.now(UTC))
    with pytest.raises(InvalidSignature):
        door.verify(headers("wrong"), method="POST", query="", body=BODY, now=datetime.now(UTC))
