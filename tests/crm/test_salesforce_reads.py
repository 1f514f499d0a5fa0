"""Look-ups of leads and contacts: one request each, and what cannot be trusted is unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.mutation import RecordRef
from leadproof.domain.policy import TargetField
from leadproof.domain.records import LookUp, Presence
from tests.crm.asking import EXTERNAL_ID, MARKER
from tests.crm.conftest import MakeSalesforce
from tests.crm.hostile import Line, says
from tests.crm.salesforce_org import (
    ALL_FIELDS,
    ANN,
    CONTACT,
    EXTERNAL_FIELD,
    LEAD,
    MARKER_FIELD,
    OTHER_LEAD,
    QUEUE,
    ROBOT,
    Org,
    column,
    described,
    lead_ref,
    query_of,
    row,
    rows,
)

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

EMAIL = "bo@example.com"
CONVERTED_TO = "ConvertedContactId"
ALWAYS = "Id, IsDeleted, MasterRecordId, CreatedDate, CreatedById, LastModifiedById, LastModifiedDate, SystemModstamp"


def read(crm: SalesforceCrm, record_id: str = LEAD, *fields: str, history: bool = False) -> LookUp:
    return crm.read("lead", record_id, fields or ("email",), history=history)


def find(crm: SalesforceCrm, **unique: str) -> LookUp:
    return crm.find(lead_ref(**unique), ["email"], history=False)


def by_id(*found: dict[str, Any]) -> Any:
    """A script that answers a question for one id with that record."""

    def answer(line: Line) -> None:
        asked = query_of(line.request)
        line.respond(200, rows(*(one for one in found if f"'{one['Id']}'" in asked)))

    return answer


def test_a_record_is_read_in_our_names_and_normal_forms(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(
        row(
            Email="Bo@Example.com",
            NumberOfEmployees=1000.0,
            DoNotCall=False,
            CountryCode="DE",
            OwnerId=QUEUE[:15],
            **{EXTERNAL_FIELD: EXTERNAL_ID, MARKER_FIELD: MARKER},
        )
    )
    names = ("email", "employees", "do_not_call", "country", "owner", "lifecycle_stage")
    found = read(salesforce, LEAD[:15], *names)
    assert found.presence is Presence.ONE
    record = found.record
    assert record is not None
    assert (record.record_id, record.external_id, record.marker) == (LEAD, EXTERNAL_ID, MARKER)
    assert record.fields == {
        "email": EMAIL,
        "employees": "1000",
        "do_not_call": False,
        "country": "DE",
        "owner": QUEUE,
    }
    assert (record.raw["email"], record.raw["employees"]) == ("Bo@Example.com", "1000.0")
    assert (record.changed_by, record.changed_at) == ("us", datetime(2026, 11, 30, 1, 37, 4, tzinfo=UTC))
    assert record.history == {}


def test_it_is_one_query_for_deleted_records_too(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row())
    read(salesforce, LEAD[:15], "email", "owner")
    (request,) = org.calls
    assert (request.method, request.path.partition("?")[0]) == ("GET", "/services/data/v62.0/queryAll/")
    assert query_of(request).split(" FROM ") == [
        f"SELECT {ALWAYS}, {EXTERNAL_FIELD}, {MARKER_FIELD}, Email, OwnerId, IsConverted, ConvertedContactId",
        f"Lead WHERE Id = '{LEAD}'",
    ]
    org.shows(row(CONTACT, Histories=None))
    assert salesforce.read("contact", CONTACT, ["country"], history=True).presence is Presence.ONE
    assert query_of(org.calls[1]).split(" FROM ") == [
        f"SELECT {ALWAYS}, {EXTERNAL_FIELD}, {MARKER_FIELD}, MailingCountryCode, "
        "(SELECT Field, OldValue, NewValue, CreatedById, CreatedDate",
        "Histories ORDER BY CreatedDate DESC, Id DESC LIMIT 200)",
        f"Contact WHERE Id = '{CONTACT}'",
    ]


def test_a_find_asks_for_external_id_and_unique_fields_at_once(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows()
    assert find(salesforce, email=EMAIL).presence is Presence.ABSENT
    (request,) = org.calls
    assert query_of(request).endswith(f"WHERE {EXTERNAL_FIELD} = '{EXTERNAL_ID}' OR Email IN ('{EMAIL}')")


def test_a_value_cannot_break_out_of_its_quotes(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows()
    find(salesforce, email="o'hara\\' OR Name LIKE '%@example.com")
    assert query_of(org.calls[0]).endswith("Email IN ('o\\'hara\\\\\\' OR Name LIKE \\'%@example.com')")


def test_an_international_address_is_looked_for_in_both_its_forms(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row(Email="bo@bücher.example"))
    assert find(salesforce, email="bo@xn--bcher-kva.example").presence is Presence.ONE
    assert "Email IN ('bo@xn--bcher-kva.example','bo@bücher.example')" in query_of(org.calls[0])


OURS = {EXTERNAL_FIELD: EXTERNAL_ID}


def test_external_id_and_address_agree_on_one_record(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row(Email="BO@example.com", **OURS))
    assert find(salesforce, email=EMAIL).presence is Presence.ONE


@pytest.mark.parametrize(
    ("found", "presence", "ids"),
    [
        pytest.param([], Presence.ABSENT, (), id="nothing"),
        pytest.param([row(Email=EMAIL)], Presence.ONE, (LEAD,), id="an address and no link"),
        pytest.param(
            [row(**OURS), row(OTHER_LEAD, Email=EMAIL)], Presence.SEVERAL, (LEAD, OTHER_LEAD), id="they do not agree"
        ),
        pytest.param(
            [row(Email=EMAIL), row(OTHER_LEAD, Email=EMAIL)], Presence.SEVERAL, (LEAD, OTHER_LEAD), id="two of one"
        ),
        pytest.param([row(**{EXTERNAL_FIELD: EXTERNAL_ID.upper()})], Presence.ABSENT, (), id="another case"),
        pytest.param([row(IsDeleted=True, **OURS)], Presence.REMOVED, (LEAD,), id="deleted"),
        pytest.param(
            [row(IsConverted=True, ConvertedContactId=CONTACT[:15], **OURS)],
            Presence.REMOVED,
            (LEAD, CONTACT),
            id="converted",
        ),
        pytest.param(
            [row(IsDeleted=True, **OURS), row(OTHER_LEAD, Email=EMAIL)], Presence.ONE, (OTHER_LEAD,), id="one is left"
        ),
    ],
)
def test_what_the_rows_of_a_find_say(
    found: list[dict[str, Any]], presence: Presence, ids: tuple[str, ...], org: Org, salesforce: SalesforceCrm
) -> None:
    org.shows(*found)
    said = find(salesforce, email=EMAIL)
    assert (said.presence, said.record_ids) == (presence, ids)


def test_a_merged_record_is_shown_as_its_master(org: Org, salesforce: SalesforceCrm) -> None:
    loser = row(IsDeleted=True, MasterRecordId=OTHER_LEAD, Email="old@example.com", **OURS)
    org.answers(by_id(loser, row(OTHER_LEAD, Email=EMAIL)))
    found = read(salesforce)
    assert found.presence is Presence.ONE
    assert found.record is not None
    assert (found.record.record_id, found.record.fields) == (OTHER_LEAD, {"email": EMAIL})
    assert len(org.calls) == 2
    org.answers(says(200, rows(loser)), by_id(row(OTHER_LEAD, Email=EMAIL)))
    found = find(salesforce)
    assert (found.presence, found.record_ids) == (Presence.ONE, (OTHER_LEAD,))


def test_a_master_that_is_gone_too_is_removed(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(by_id(row(IsDeleted=True, MasterRecordId=OTHER_LEAD), row(OTHER_LEAD, IsDeleted=True)))
    found = read(salesforce)
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (OTHER_LEAD,))


def test_a_record_that_was_merged_into_one_that_is_nowhere_is_removed(org: Org, salesforce: SalesforceCrm) -> None:
    """Its master is not shared with us, or deleted for good: absent would mean that it may be made a second time."""
    loser = row(IsDeleted=True, MasterRecordId=OTHER_LEAD, Email=EMAIL, **OURS)
    org.answers(by_id(loser))
    assert (read(salesforce).presence, read(salesforce).record_ids) == (Presence.REMOVED, (LEAD,))
    org.answers(says(200, rows(loser)), says(200, rows()))
    found = find(salesforce, email=EMAIL)
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (LEAD,))


def test_records_that_were_merged_in_a_circle_are_unknown(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(
        by_id(row(IsDeleted=True, MasterRecordId=OTHER_LEAD), row(OTHER_LEAD, IsDeleted=True, MasterRecordId=LEAD))
    )
    assert read(salesforce).presence is Presence.UNKNOWN


def test_a_converted_lead_is_shown_under_its_contact(org: Org, salesforce: SalesforceCrm) -> None:
    """A write to it would be answered 2xx and land on a record that nobody looks at."""
    org.shows(row(IsConverted=True, ConvertedContactId=CONTACT, Email=EMAIL))
    found = read(salesforce)
    assert found.presence is Presence.ONE
    assert found.record is not None
    assert (found.record.record_id, found.record.fields) == (CONTACT, {"email": EMAIL})
    org.shows(row(IsConverted=True, ConvertedContactId=None))
    found = read(salesforce)
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (LEAD,))


def test_a_record_that_is_nowhere_is_absent(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows()
    assert read(salesforce).presence is Presence.ABSENT


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b"<html>One moment</html>",
        b"",
        b"null",
        [],
        {},
        7,
        {"records": []},
        {"records": None, "done": True},
        {"records": [7], "done": True},
        {"records": [{}], "done": True},
        rows(row(), done=False),
        rows(row("nonsense")),
        rows(row(CONTACT)),
        rows(row(OTHER_LEAD)),
        rows(row(), row()),
        rows(row(IsDeleted=None)),
        rows(row(IsDeleted="false")),
        rows(row(IsConverted=None)),
        rows({name: value for name, value in row().items() if name != "IsConverted"}),
        rows(row(LastModifiedDate="yesterday")),
        rows(row(LastModifiedDate=None)),
        rows(row(SystemModstamp=None)),
        rows(row(LastModifiedById="nobody")),
        rows({name: value for name, value in row().items() if name != MARKER_FIELD}),
        rows(row(IsDeleted=True, MasterRecordId="nonsense")),
    ],
)
def test_a_success_that_is_not_as_it_should_be_is_unknown(body: Any, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(200, body))
    found = read(salesforce)
    assert (found.presence, found.record, found.refuses_us) == (Presence.UNKNOWN, None, False)
    assert found.detail


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        rows({name: value for name, value in row().items() if name != EXTERNAL_FIELD}),
        rows({name: value for name, value in row().items() if name != "Email"}),
        rows(row(Email="\ud800")),
    ],
)
def test_found_as_it_should_not_be_is_unknown(body: Any, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(200, body))
    found = find(salesforce, email=EMAIL)
    assert (found.presence, found.record, found.refuses_us) == (Presence.UNKNOWN, None, False)
    assert found.detail


def test_a_field_that_was_not_returned_is_not_an_empty_one(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row(Title=None))
    found = read(salesforce, LEAD, "title", "company")
    assert found.record is not None
    assert found.record.fields == {"title": None}


def test_what_the_org_does_not_have_is_not_asked_for(org: Org, salesforce: SalesforceCrm) -> None:
    """One unknown column, and Salesforce refuses the whole query."""
    org.description = described(column("Title"))
    org.shows(row(Title="CTO"))
    found = read(salesforce, LEAD, "title", "utm_source")
    assert found.record is not None
    assert found.record.fields == {"title": "CTO"}
    assert "Utm_Source__c" not in query_of(org.calls[0])
    found = find(salesforce, email=EMAIL)
    assert (found.presence, found.detail) == (Presence.UNKNOWN, "Salesforce has no field for the unique field email")


def test_where_a_record_went_is_not_asked_for_where_it_is_hidden_from_us(org: Org, salesforce: SalesforceCrm) -> None:
    """A lead's contact is, where our user sees no contacts; asked for, no lead could be read at all."""
    org.description = described(*(column(name) for name in ALL_FIELDS if name not in {"MasterRecordId", CONVERTED_TO}))
    shown = row(Title="CTO")
    shown = {name: value for name, value in shown.items() if name not in {"MasterRecordId", CONVERTED_TO}}
    org.shows(shown)
    found = read(salesforce, LEAD, "title")
    assert found.record is not None, found.detail
    asked = query_of(org.calls[0])
    assert ("MasterRecordId" in asked, CONVERTED_TO in asked, "IsConverted" in asked) == (False, False, True)
    for gone in ({"IsConverted": True}, {"IsDeleted": True}):
        org.shows(shown | gone)
        assert read(salesforce, LEAD, "title").presence is Presence.REMOVED


def test_where_the_org_does_not_describe_itself_everything_is_asked_for(org: Org, salesforce: SalesforceCrm) -> None:
    org.description = b"<html>"
    org.shows(row(Title="CTO"))
    found = read(salesforce, LEAD, "title")
    assert found.record is not None
    assert found.record.fields == {"title": "CTO"}


def test_a_name_in_another_case_finds_its_value(org: Org, make_salesforce: MakeSalesforce) -> None:
    from leadproof.crm.salesforce_fields import SalesforceFields

    fields = SalesforceFields({"budget": TargetField(property="budget__C", spec=FieldSpec(type=FieldType.MONEY))})
    org.description = described(column("Budget__c"))
    org.shows(row(Budget__c=12345678901234.55))
    found = read(make_salesforce(org.server.url, fields=fields), LEAD, "budget")
    assert found.record is not None
    assert found.record.fields == {"budget": "12345678901234.55"}


def test_who_changed_a_record_last(org: Org, salesforce: SalesforceCrm) -> None:
    org.users = [
        {"Id": ANN, "UserType": "Standard"},
        {"Id": ROBOT, "UserType": "AutomatedProcess"},
    ]
    for user, by in ((ANN, f"person:{ANN}"), (ROBOT, f"automation:{ROBOT}"), (ANN, f"person:{ANN}")):
        org.shows(row(LastModifiedById=user))
        found = read(salesforce)
        assert found.record is not None
        assert found.record.changed_by == by
    assert org.users_asked_for == [f"Id IN ('{ANN}')"], "the other one was told along with her"


def test_software_can_move_a_record_and_leave_its_last_change(org: Org, salesforce: SalesforceCrm) -> None:
    for stamp, moved in (("01:37:04", "01:37:04"), ("02:00:00", "02:00:00"), ("01:00:00", "01:37:04")):
        org.shows(row(SystemModstamp=f"2026-11-30T{stamp}.000+0000"))
        found = read(salesforce)
        assert found.record is not None
        assert str(found.record.changed_at) == "2026-11-30 01:37:04+00:00"
        assert str(found.record.moved_at) == f"2026-11-30 {moved}+00:00"


def test_a_user_of_whom_nothing_is_told_is_nobody(org: Org, salesforce: SalesforceCrm) -> None:
    other = "005xx000001Sv6DAAS"
    for user, users in ((ANN, []), (ROBOT, [{"Id": ROBOT, "UserType": "SomethingNew"}]), (other, [{"nonsense": 1}])):
        org.users = users
        org.shows(row(LastModifiedById=user))
        found = read(salesforce)
        assert found.record is not None
        assert found.record.changed_by is None


def test_a_user_of_whom_nothing_is_told_is_asked_for_once(org: Org, salesforce: SalesforceCrm) -> None:
    """Such a question is one of the org's calls, and it stands behind every look at what that user changed."""
    org.users = []
    org.shows(row(LastModifiedById=ANN))
    for _ in range(3):
        read(salesforce)
    assert len(org.users_asked_for) == 1


@pytest.mark.parametrize("record_id", ["", ".", "..", "//evil.example/x", "00Q", "003", LEAD + "/x", "1" * 18])
def test_what_is_no_id_of_the_object_is_not_asked_for(record_id: str, org: Org, salesforce: SalesforceCrm) -> None:
    assert read(salesforce, record_id).presence is Presence.UNKNOWN
    assert org.server.requests == []


def test_a_lead_by_the_id_of_its_contact_is_no_lead_any_more(org: Org, salesforce: SalesforceCrm) -> None:
    """Under that id a converted lead is shown, and a decision to overwrite is carried out on what was shown."""
    found = read(salesforce, CONTACT[:15])
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (CONTACT,))
    assert org.server.requests == []


def test_what_cannot_be_looked_for_is_unknown(org: Org, salesforce: SalesforceCrm) -> None:
    assert salesforce.read("company", LEAD, [], history=False).presence is Presence.UNKNOWN
    company = RecordRef(target_system="salesforce", target_object="company", external_id=EXTERNAL_ID)
    assert salesforce.find(company, [], history=False).presence is Presence.UNKNOWN
    found = find(salesforce, lifecycle_stage="x")
    assert (found.presence, found.detail) == (
        Presence.UNKNOWN,
        "Salesforce has no field for the unique field lifecycle_stage",
    )
    assert salesforce.find(lead_ref(external_id=""), [], history=False).presence is Presence.UNKNOWN
    assert org.calls == []


def test_a_field_on_one_of_our_own_two_is_refused(make_salesforce: MakeSalesforce) -> None:
    from leadproof.crm.salesforce_fields import SalesforceFields

    fields = SalesforceFields({"ours": TargetField(property=MARKER_FIELD.upper())})
    with pytest.raises(ConfigurationRefused, match="the field ours is mapped to Leadproof_Effect__c"):
        make_salesforce("https://x.my.salesforce.com", fields=fields)
    with pytest.raises(ConfigurationRefused, match="a Salesforce field each"):
        make_salesforce("https://x.my.salesforce.com", marker_field=EXTERNAL_FIELD)
