import json
from importlib.resources import files

import pytest

from console import recorded
from console.embedded import APP_ID, PORTAL_ID

NAMES = sorted(path.name.removesuffix(".json") for path in (files("console") / "deliveries").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_speaks_of_the_records_that_it_is_given(name: str) -> None:
    events = json.loads(recorded.delivery(name, "7001", "7002"))
    assert {event["objectId"] for event in events} <= {7001, 7002}
    assert {(str(event["portalId"]), str(event["appId"])) for event in events} == {(PORTAL_ID, APP_ID)}


def test_recordings_of_one_event_differ_in_what_is_in_no_key() -> None:
    first, retry, other = (
        json.loads(recorded.delivery(name, "7001"))[0]
        for name in ("contact-creation", "contact-creation-retry", "contact-creation-other-event-id")
    )
    assert first["attemptNumber"] != retry["attemptNumber"]
    assert first["eventId"] != other["eventId"]
    assert first["subscriptionType"] == retry["subscriptionType"] == other["subscriptionType"]
