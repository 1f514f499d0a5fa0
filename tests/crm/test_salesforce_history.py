"""Who changed what, from Salesforce's field history."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.records import MARKER as MARKER_NAME
from leadproof.domain.records import Change, FoundRecord
from tests.crm.asking import MARKER
from tests.crm.hostile import Script, says
from tests.crm.salesforce_org import (
    ANN,
    LEAD,
    MARKER_FIELD,
    QUEUE,
    ROBOT,
    US,
    Org,
    column,
    described,
    entry,
    error,
    query_of,
    row,
    rows,
)

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

MADE = datetime(2026, 11, 29, 8, tzinfo=UTC)


def at(hour: int, place: int = 1) -> datetime:
    """A full hour, and the place of a change among those of that second."""
    return datetime(2026, 11, 30, hour, microsecond=place, tzinfo=UTC)


def history(org: Org, crm: SalesforceCrm, *entries: dict[str, Any], names: tuple[str, ...] = ("title",)) -> FoundRecord:
    org.shows(row(Histories=rows(*entries) if entries else None))
    found = crm.read("lead", LEAD, names, history=True)
    assert found.record is not None, found.detail
    return found.record


def test_a_change_has_its_value_its_moment_and_its_author(org: Org, salesforce: SalesforceCrm) -> None:
    record = history(
        org,
        salesforce,
        entry("Title", "CFO", "CTO", "10:00:00"),
        entry("Title", "CEO", "CFO", "09:00:00", ANN),
        entry("created", None, None, "08:00:00"),
    )
    assert record.history == {
        "title": (
            Change(value="CTO", at=at(10), by="us"),
            Change(value="CFO", at=at(9), by=f"person:{ANN}"),
            Change(value="CEO", at=MADE, by=None),
        )
    }, "what it was made with is known from the first change, and by whom is not"


def test_what_a_record_of_ours_was_made_with_is_ours_and_its_marker_too(org: Org, salesforce: SalesforceCrm) -> None:
    """Else a later effect of ours would take what the create wrote for somebody's edit."""
    entries = rows(entry("Title", "CEO", "CFO", "09:00:00", ANN), entry(MARKER_FIELD, MARKER, "other", "09:00:00", ANN))
    org.shows(row(CreatedById=US, Histories=entries))
    record = salesforce.read("lead", LEAD, ("title",), history=True).record
    assert record is not None
    assert record.history["title"][-1] == Change(value="CEO", at=MADE, by="us")
    assert record.history[MARKER_NAME][-1] == Change(value=MARKER, at=MADE, by="us")


def test_what_happened_within_a_second_keeps_its_order(org: Org, salesforce: SalesforceCrm) -> None:
    """An edit that our write replaced is seen although both are of the same second."""
    record = history(
        org,
        salesforce,
        entry(MARKER_FIELD, None, MARKER, "10:00:00"),
        entry("Title", "CFO", "CTO", "10:00:00"),
        entry("Title", "CEO", "CFO", "10:00:00", ANN),
        entry("Title", "COO", "CEO", "09:59:59", ANN),
    )
    marked = record.history[MARKER_NAME][0]
    assert marked == Change(value=MARKER, at=at(10, 3), by="us")
    assert [(change.value, change.at < marked.at) for change in record.history["title"]] == [
        ("CTO", True),
        ("CFO", True),
        ("CEO", True),
        ("COO", True),
    ]
    assert [change.at for change in record.history["title"][:2]] == [at(10, 2), at(10, 1)]


def test_the_marker_has_its_history_too(org: Org, salesforce: SalesforceCrm) -> None:
    record = history(org, salesforce, entry(MARKER_FIELD, None, MARKER, "10:00:00"))
    assert record.history == {
        MARKER_NAME: (Change(value=MARKER, at=at(10), by="us"), Change(value=None, at=MADE, by=None))
    }


def test_a_field_without_an_entry_is_not_there(org: Org, salesforce: SalesforceCrm) -> None:
    assert history(org, salesforce).history == {}
    assert history(org, salesforce, entry("created", None, None, "08:00:00")).history == {}
    assert history(org, salesforce, entry("Rating", None, "Hot", "08:00:00")).history == {}


def test_an_assignment_rule_is_named_and_only_ids_of_owners_count(org: Org, salesforce: SalesforceCrm) -> None:
    record = history(
        org,
        salesforce,
        entry("ownerAssignment", US, QUEUE[:15], "10:00:00"),
        entry("ownerAssignment", "Us", "Inbound", "10:00:00"),
        entry("Owner", ANN, US, "09:00:00"),
        entry("Owner", "Ann", "Us", "09:00:00"),
        names=("owner",),
    )
    assert record.history["owner"] == (
        Change(value=QUEUE, at=at(10, 2), by="automation:assignment_rule"),
        Change(value=US, at=at(9, 2), by="us"),
        Change(value=ANN, at=MADE, by=None),
    )


def test_a_value_as_long_as_history_keeps_it_is_whole_where_none_is_longer(org: Org, salesforce: SalesforceCrm) -> None:
    """Left out, an edit of that length would be replaced unseen."""
    full = "x" * 255
    edits = [entry("Title", full, "CTO", "11:00:00"), entry("Title", "CFO", full, "10:00:00", ANN)]
    assert [(one.value, one.by) for one in history(org, salesforce, *edits).history["title"]] == [
        ("CTO", "us"),
        (full, f"person:{ANN}"),
        ("CFO", None),
    ]


@pytest.mark.parametrize("description", [described(column("Title", length=256), column("Description")), b"<html>"])
def test_a_value_that_history_cut_is_left_out(description: Any, org: Org, salesforce: SalesforceCrm) -> None:
    org.description = description
    record = history(
        org,
        salesforce,
        entry("Title", "x" * 255, "CTO", "11:00:00"),
        entry("Title", "CFO", "x" * 255, "10:00:00"),
        entry("Title", "CEO", "CFO", "09:00:00"),
        entry("Description", None, None, "09:00:00"),
        names=("title", "message"),
    )
    assert [change.value for change in record.history["title"]] == ["CFO", "CEO"]
    assert "message" not in record.history, "of a long text it says only that it changed"


def test_a_cleared_value_is_a_change(org: Org, salesforce: SalesforceCrm) -> None:
    record = history(org, salesforce, entry("Title", "CEO", None, "09:00:00", ANN))
    assert record.history["title"][0] == Change(value=None, at=at(9), by=f"person:{ANN}")


@pytest.mark.parametrize(
    ("user_type", "by"),
    [
        ("Standard", f"person:{ROBOT}"),
        ("PowerPartner", f"person:{ROBOT}"),
        ("AutomatedProcess", f"automation:{ROBOT}"),
        ("Guest", f"automation:{ROBOT}"),
        ("CloudIntegrationUser", f"integration:{ROBOT}"),
        ("CSPLitePortal", f"person:{ROBOT}"),
        ("CspLitePortal", f"person:{ROBOT}"),
        ("CsnOnly", f"person:{ROBOT}"),
        ("OfTomorrow", None),
    ],
)
def test_a_users_type_says_who_it_was(user_type: str, by: str | None, org: Org, salesforce: SalesforceCrm) -> None:
    org.users = [{"Id": ROBOT, "UserType": user_type}]
    record = history(org, salesforce, entry("Title", "CEO", "CTO", "09:00:00", ROBOT[:15]))
    assert record.history["title"][0].by == by


def test_users_are_asked_for_once_and_together(org: Org, salesforce: SalesforceCrm) -> None:
    org.users = [{"Id": ANN, "UserType": "Standard"}, {"Id": ROBOT, "UserType": "AutomatedProcess"}]
    entries = [entry("Title", "CEO", "CTO", "10:00:00", ANN), entry("Title", "CFO", "CEO", "09:00:00", ROBOT)]
    for _ in range(3):
        history(org, salesforce, *entries)
    assert org.users_asked_for == [f"Id IN ('{ANN}','{ROBOT}')"]
    assert len(org.calls) == 3


def test_a_history_that_cannot_be_read_makes_the_record_unknown(org: Org, salesforce: SalesforceCrm) -> None:
    for entries in ([7], [{"Field": "Title"}], [entry("Title", "a", "b", "25:00:00")], [entry("Title", 1, 2, "", "x")]):
        org.shows(row(Histories={"records": entries}))
        assert salesforce.read("lead", LEAD, ["title"], history=True).record is None
    org.shows(row())  # it was asked for, and is not there at all
    assert salesforce.read("lead", LEAD, ["title"], history=True).record is None


def test_where_there_is_no_history_it_is_not_asked_for(org: Org, salesforce: SalesforceCrm) -> None:
    """Salesforce would refuse the whole query, and the record could never be read."""
    org.description = described(column("Title"), histories=False)
    org.shows(row(Title="CTO"))
    found = salesforce.read("lead", LEAD, ["title"], history=True)
    assert found.record is not None
    assert (found.record.fields, found.record.history) == ({"title": "CTO"}, {})
    assert "Histories" not in query_of(org.calls[0])


TRACKED = rows({"QualifiedApiName": "Title"}, {"QualifiedApiName": "OwnerId"}, {"QualifiedApiName": "Description"})


def test_history_is_kept_of_what_the_org_tracks(org: Org, salesforce: SalesforceCrm) -> None:
    org.description = described(
        column("Title"), column("OwnerId", "reference", length=18), column("Description", "textarea", length=32000)
    )
    org.answers(says(200, TRACKED))
    assert salesforce.keeps_history("lead", ["title", "owner"])
    assert not salesforce.keeps_history("lead", ["title", "company"])
    assert not salesforce.keeps_history("lead", ["message"]), "its history says that it changed and not to what"
    assert not salesforce.keeps_history("lead", ["lifecycle_stage"])
    assert not salesforce.keeps_history("company", ["title"])
    (request,) = org.calls
    assert query_of(request) == (
        "SELECT QualifiedApiName FROM FieldDefinition "
        "WHERE EntityDefinition.QualifiedApiName = 'Lead' AND IsFieldHistoryTracked = true"
    )


@pytest.mark.parametrize(("status", "body"), [(500, b""), (403, b""), (200, b"<html>"), (200, {}), (400, [])])
def test_where_the_org_does_not_tell_no_history_is_kept(
    status: int, body: Any, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(status, body))
    assert not salesforce.keeps_history("lead", ["title"])


def test_what_the_org_refuses_to_tell_is_not_asked_again_at_once(org: Org, salesforce: SalesforceCrm) -> None:
    """Each effect that is planned asks, and each question is one of the org's calls."""
    org.answers(says(400, error("INVALID_TYPE")))
    for field in ("title", "company", "owner"):
        assert not salesforce.keeps_history("lead", [field])
    assert len(org.calls) == 1


@pytest.mark.parametrize("lost", [says(500), says(403, error("REQUEST_LIMIT_EXCEEDED")), lambda line: line.reset()])
def test_an_org_that_does_not_answer_for_a_moment_has_not_lost_its_history(lost: Script, org: Org) -> None:
    """A plan is made once: what it says of a history then, it says for good."""
    from leadproof.crm.salesforce_client import SalesforceClient
    from leadproof.crm.salesforce_definitions import KEPT_SECONDS, OUTDATED_SECONDS, Definitions
    from leadproof.crm.salesforce_sign_in import ClientCredentials

    now = [0.0]
    client = SalesforceClient(
        url=org.server.url, sign_in=ClientCredentials("a", "b"), version="62.0", connect_timeout=5.0
    )
    definitions = Definitions(client, clock=lambda: now[0])
    org.answers(says(200, TRACKED), lost)
    try:
        assert "title" in definitions.tracked("Lead", Deadline(5))
        org.describes = lost  # type: ignore[assignment,method-assign]
        now[0] = KEPT_SECONDS + 1
        assert "title" in definitions.tracked("Lead", Deadline(5))
        assert definitions.of("Lead", Deadline(5)).field("Title")
        with pytest.raises(ConfigurationRefused):
            definitions.of("Lead", Deadline(5), age=5.0)
        now[0] = OUTDATED_SECONDS + 1
        for ask in (definitions.tracked, definitions.of):
            with pytest.raises(ConfigurationRefused):
                ask("Lead", Deadline(5))
        assert len(org.calls) == 3
    finally:
        client.close()
