"""Mutations that are pinned to an older policy than the worker's own: they keep its names of fields, at the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.messages import Book, LookCommand, WriteCommand
from leadproof.adapters import Adapters
from leadproof.clock import SystemClock
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings
from leadproof.shadow import ReadOnly
from tests.domain.samples import POLICY, changed
from tests.support.ledgers import OwnedLedger, a_lead_event, a_mutation, planned, sqlite_ledger
from tests.workers.clinic import Clinic
from workers.compose import compose, crms_of, older_adapter
from workflows.options import HOPELESS

OLDER = parse_policy(POLICY)
SWAPPED = """[target.hubspot.fields]
title = { property = "company" }
company = { property = "jobtitle" }
"""
NEWER = parse_policy(changed("[target.hubspot.fields]\n", SWAPPED).replace('version = "1"', 'version = "2"'))
PATIENT = parse_policy(changed("apply_lag_seconds = 120", "apply_lag_seconds = 120\ncall_timeout_seconds = 30"))


class Worker:
    """The activities of a worker that runs with the newer policy."""

    def __init__(self, settings: Settings, ledger: OwnedLedger) -> None:
        self.ledger = ledger
        ledger.load_policy(OLDER)
        ledger.load_policy(NEWER)
        composition = compose(settings, cast(Client, None), ledger, NEWER, dict(crms_of(settings, NEWER)))
        self._activities: dict[str, Any] = {one.__name__: one for one in composition.activities}
        self._environment = ActivityEnvironment()

    def effect(self, policy: Policy, record: str) -> Mutation:
        event = a_lead_event(record, policy_version=policy.version)
        (row,) = planned(self.ledger, event, a_mutation(event, fields={"title": "CTO"}, provider_record_id=record))
        return row

    def write(self, row: Mutation) -> Mutation:
        """Write and read back; the row after that."""
        self.run("write", WriteCommand(mutation_key=row.mutation_key, version=row.version, number=1))
        self.run("reconcile", LookCommand(mutation_key=row.mutation_key))
        after = self.ledger.mutation(row.mutation_key)
        assert after is not None
        return after

    def run(self, name: str, command: object) -> Book:
        book: Book = self._environment.run(self._activities[name], command)
        return book


@pytest.fixture
def ledger(clinic: Clinic) -> Iterator[OwnedLedger]:
    with sqlite_ledger(clinic.folder / "ledger.db", SystemClock()) as opened:
        yield opened


@pytest.mark.parametrize(("policy", "written"), [(OLDER, "jobtitle"), (NEWER, "company")])
def test_a_field_is_written_and_read_as_the_policy_calls_it_that_the_plan_was_made_under(
    clinic: Clinic, ledger: OwnedLedger, policy: Policy, written: str
) -> None:
    record = clinic.control.person(email="dana@example.com")["id"]
    worker = Worker(clinic.settings(), ledger)
    assert worker.write(worker.effect(policy, record)).status is Status.OBSERVED
    stands = clinic.control.record(record)["properties"]
    assert {name: stands.get(name) for name in ("jobtitle", "company") if stands.get(name)} == {written: "CTO"}


def test_policies_that_speak_alike_share_an_adapter_and_others_have_one_each(clinic: Clinic) -> None:
    settings = clinic.settings()
    current = crms_of(settings, NEWER)
    adapters = Adapters(current, NEWER, partial(older_adapter, settings))
    assert adapters.of("hubspot", NEWER.model_copy(update={"version": "3"})) is current["hubspot"]
    older, patient = adapters.of("hubspot", OLDER), adapters.of("hubspot", PATIENT)
    assert older is not patient  # how long a call may take is the policy's as well
    assert older is adapters.of("hubspot", OLDER)
    assert adapters.of("website", OLDER) is None


def test_in_shadow_mode_no_adapter_of_an_older_policy_can_write(clinic: Clinic) -> None:
    assert isinstance(older_adapter(clinic.settings(mode="shadow"), "hubspot", OLDER), ReadOnly)


def test_a_system_that_can_no_longer_be_opened_is_a_sentence_for_a_person(clinic: Clinic) -> None:
    with pytest.raises(PolicyRefused, match="version '1' has the target hubspot, which cannot be opened") as refused:
        older_adapter(clinic.settings(hubspot_token=None), "hubspot", OLDER)
    assert type(refused.value).__name__ in HOPELESS
