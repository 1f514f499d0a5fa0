"""A catch-up on Salesforce at the starter's door: what a notification brought is known, what none did is started."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain.candidates import Candidate, Version
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.steps import Arrival
from leadproof.inbound import salesforce_catch_up
from starter.admission import judge_reading, source_fields
from starter.catch_up import Report, admitting, catch_up_salesforce, foretelling, seeing
from starter.intake import Intake
from tests.starter.salesforce import LEAD, ORGANIZATION, POLICY, Org, an_org, notification
from tests.support.ledgers import START

CONTACT = "003xx000004TmiQAAS"
SINCE = START - timedelta(days=1)
READ = parse_policy(POLICY)


class Records:
    """Records of an org, each with the time at which it last moved; one that is gone has none."""

    def __init__(self, **moved: datetime | None) -> None:
        self.moved = moved

    def account(self) -> str:
        return ORGANIZATION

    def changed_since(self, since: datetime) -> Iterator[str]:
        return iter(self.moved)

    def read(self, record_id: str, properties: Sequence[str]) -> Candidate | None:
        moved = self.moved[record_id]
        if moved is None:
            return None
        made = Version(value=None, at=START - timedelta(days=9))
        return Candidate(record_id=record_id, created=made, changed=Version(value=None, at=moved), touched=moved)

    def close(self) -> None:
        pass


async def caught_up(
    org: Org, records: Records, *, foretell: bool = False, until: datetime | None = None
) -> dict[str, int]:
    """The counts of one catch-up, without those that are zero."""
    door, fields, report = org.door, source_fields(READ), Report()
    asked: dict[str, Any] = {"ledger": door.ledger, "policy": READ, "settings": door.settings, "clock": door.clock}
    intake = Intake(client=door.client, fields=fields, **asked)
    await catch_up_salesforce(
        records,
        foretelling(fields=fields, **asked) if foretell else admitting(intake, source="salesforce", pauses=()),
        seeing(fields=fields, **asked),
        account=ORGANIZATION,
        since=SINCE,
        until=until,
        report=report,
    )
    return {name: count for name, count in report.counts().items() if count}


@pytest.fixture
async def org(unworked: Client, tmp_path: Path) -> AsyncIterator[Org]:
    async with an_org(unworked, tmp_path) as opened:
        yield opened


def rows(org: Org) -> int:
    return sum(org.door.ledger.counts().leads.values())


ONE_OF_EACH = Records(**{LEAD: START - timedelta(seconds=20), CONTACT: START - timedelta(seconds=10)})


async def test_what_no_notification_brought_is_started_once(org: Org) -> None:
    expected = {"records": 2, "seen": 2, "started": 2}
    assert await caught_up(org, ONE_OF_EACH, foretell=True) == expected
    assert rows(org) == 0
    assert await caught_up(org, ONE_OF_EACH) == expected
    assert await org.door.run(f"lead:{org.key(CONTACT, 'contact.saved')}") is not None
    for foretell in (True, False):
        assert await caught_up(org, ONE_OF_EACH, foretell=foretell) == {"records": 2, "seen": 2, "duplicate": 2}
    assert rows(org) == 2


async def test_a_kind_that_counts_once_per_record_has_the_key_of_its_notification(org: Org) -> None:
    contact = notification(record=CONTACT, type_='xsi:type="sf:Contact"')
    records = Records(**{CONTACT: START})
    assert (await caught_up(org, records))["started"] == 1
    assert await org.acknowledged(contact) == {"duplicate": 1}
    org.door.clock.forward(3600)
    assert (await caught_up(org, Records(**{CONTACT: org.door.clock.now()})))["duplicate"] == 1
    assert rows(org) == 1


async def test_a_save_that_a_notification_brought_is_known_though_nothing_tells_its_name(org: Org) -> None:
    assert await org.acknowledged(notification()) == {"started": 1}
    for foretell in (True, False):
        counts = await caught_up(org, Records(**{LEAD: START - timedelta(seconds=5)}), foretell=foretell)
        assert counts == {"records": 1, "seen": 1, "duplicate": 1}
    assert rows(org) == 1


async def test_a_save_after_the_last_notification_is_admitted_even_if_that_one_came_again(org: Org) -> None:
    assert await org.acknowledged(notification()) == {"started": 1}
    moved = org.door.clock.forward(60)
    org.door.clock.forward(60)
    assert await org.acknowledged(notification()) == {"duplicate": 1}
    assert await caught_up(org, Records(**{LEAD: moved})) == {"records": 1, "seen": 1, "started": 1}
    assert rows(org) == 2


async def test_a_notification_that_comes_after_the_catch_up_is_a_second_event(org: Org) -> None:
    """What is promised: its run finds everything already so."""
    assert (await caught_up(org, Records(**{LEAD: START - timedelta(seconds=10)})))["started"] == 1
    assert await org.acknowledged(notification()) == {"started": 1}
    assert rows(org) == 2


async def test_a_row_whose_run_was_not_started_is_completed_by_the_same_again(org: Org) -> None:
    records = Records(**{LEAD: START - timedelta(seconds=10)})
    candidate = records.read(LEAD, ())
    assert candidate is not None
    (reading,) = salesforce_catch_up.readings(candidate, account=ORGANIZATION, since=SINCE, until=None)
    judged = judge_reading(reading, policy=READ, settings=org.door.settings, fields={}, now=START)
    assert isinstance(judged, tuple)
    org.door.ledger.admit([Arrival(event=judged[0])])
    assert (await caught_up(org, records))["started"] == 1
    assert await org.door.run(f"lead:{judged[0].event_key}") is not None


async def test_what_is_gone_or_outside_of_the_time_is_not_admitted(org: Org) -> None:
    records = Records(**{LEAD: None, CONTACT: START - timedelta(seconds=10)})
    assert await caught_up(org, records, until=START - timedelta(seconds=11)) == {"records": 2, "gone": 1}
    assert await caught_up(org, records) == {"records": 2, "gone": 1, "seen": 1, "started": 1}


async def test_what_is_held_back_is_kept_once_and_can_be_taken_in_later(org: Org) -> None:
    ahead = Records(**{LEAD: START + timedelta(hours=1)})
    for foretell in (True, False, False):
        assert (await caught_up(org, ahead, foretell=foretell))["quarantined"] == 1
    (entry,) = await org.entries()
    assert (entry["reason"], entry["source_system"]) == ("future", "salesforce")
    org.door.clock.forward(3600)
    answer = await org.door.post(f"{entry['path']}/retry", by="decide")
    assert answer.json()["result"] == "started"
