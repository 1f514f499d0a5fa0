"""Queries as a client asks them: what is selected, which rows, in which order."""

import pytest
from simple_salesforce.format import format_soql

from sandbox.salesforce import soql
from tests.sandbox.salesforce.org import ANN, BO, CY, DEE, LAST_NAMES, PERSON, QUEUE, asked, found

OHARA, SURE = "O'Hara", "100%_sure"


def test_fields_come_by_their_canonical_names_with_their_attributes() -> None:
    [row] = asked("select ID, email, SCORE__C from lead where lastname = 'o\\'hara'")
    assert row == {
        "attributes": {"type": "Lead", "url": f"/sobjects/Lead/{ANN}"},
        "Id": ANN,
        "Email": "Ann@Example.com",
        "Score__c": 10.0,
    }


def test_a_parent_is_a_record_in_its_record_or_null() -> None:
    rows = asked("SELECT LastName, Owner.Name, Owner.Id FROM Lead")
    assert [row["Owner"] for row in rows] == [
        {"attributes": {"type": "User", "url": f"/sobjects/User/{PERSON}"}, "Name": "Dana", "Id": PERSON},
        {"attributes": {"type": "Group", "url": f"/sobjects/Group/{QUEUE}"}, "Name": "Inbound", "Id": QUEUE},
        None,
        None,
    ]
    assert found("Owner.Name = 'inbound'") == [SURE]


def test_children_are_a_page_in_their_record_or_null() -> None:
    rows = asked("SELECT Id, (SELECT Field, NewValue FROM Histories ORDER BY Id DESC LIMIT 1) FROM Lead LIMIT 3")
    first, second, third = (row["Histories"] for row in rows)
    assert first == {
        "totalSize": 1,
        "done": True,
        "records": [
            {
                "attributes": {"type": "LeadHistory", "url": "/sobjects/LeadHistory/017xx0000000002AAA"},
                "Field": "LastName",
                "NewValue": OHARA,
            }
        ],
    }
    assert [record["NewValue"] for record in second["records"]] == [None]
    assert third is None


def test_children_are_filtered_by_themselves() -> None:
    [row, *_] = asked("SELECT Id, (SELECT Id FROM Histories WHERE Field = 'status') FROM Lead")
    assert [record["Id"] for record in row["Histories"]["records"]] == ["017xx0000000001AAA"]


def test_count_is_a_number_of_rows_without_records() -> None:
    query = soql.parse("SELECT COUNT() FROM Lead WHERE IsConverted = false")
    assert query.counts
    assert asked("SELECT COUNT() FROM Lead WHERE IsConverted = false") == [{}, {}, {}]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("Email = 'ANN@example.com'", [OHARA]),
        ("Key__c = 'ab'", []),
        ("Key__c = 'Ab'", [OHARA]),
        ("Key__c IN ('aB', 'x')", [SURE]),
        ("Score__c = 2.50", [SURE, "Dee"]),
        ("Score__c > 2.5", [OHARA]),
        ("Score__c <= 2.5", [SURE, "Dee"]),
        ("Score__c < -1", []),
        ("IsConverted = TRUE", [SURE]),
        ("IsConverted = null", [OHARA, "cy", "Dee"]),
        ("IsConverted != null", [SURE]),
        ("Email = null", ["cy"]),
        ("Email = ''", ["cy"]),
        ("Email != null AND Score__c != 10", [SURE, "Dee"]),
        ("Email != 'bo@example.com'", [OHARA, "cy", "Dee"]),
        ("NOT Score__c > 2.5", [SURE, "cy", "Dee"]),
        ("Score__c NOT IN (10, 3)", [SURE, "cy", "Dee"]),
        ("Score__c in (null, 10)", [OHARA, "cy"]),
        ("(NOT Email = null) AND (Score__c = 10 OR LastName = 'dee')", [OHARA, "Dee"]),
        ("Born__c = 2001-02-03", [OHARA]),
        ("Born__c < 2001-02-03", []),
        ("CreatedDate >= 2026-11-30T02:00:00Z", [SURE, "cy"]),
        ("CreatedDate = 2026-11-30T03:37:04+02:00", [OHARA]),
        ("CreatedDate = 2026-11-30T01:37:04.000+0000", [OHARA]),
        ("Interests__c INCLUDES ('c;b', 'x')", [SURE]),
        ("Interests__c INCLUDES ('b')", [OHARA, SURE]),
        ("Interests__c EXCLUDES ('a')", [SURE, "cy", "Dee"]),
        ("Interests__c = 'b;a'", [OHARA]),
    ],
)
def test_conditions(where: str, names: list[str]) -> None:
    assert found(where) == names


@pytest.mark.parametrize("form", [18, 15])
def test_ids_are_told_apart_by_case_in_either_form(form: int) -> None:
    assert found(f"Id = '{CY[:form]}'") == ["cy"]
    assert found(f"Id = '{DEE[:form]}'") == ["Dee"]
    assert found(f"Id IN ('{ANN[:form]}', '{BO}')") == [OHARA, SURE]
    assert found(f"Id > '{BO[:form]}'") == ["cy", "Dee"]


@pytest.mark.parametrize("text", ["x", "00Qxx000000000aEAQ", "00Qxx000000000", "00Qxx000000000-"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(soql.WrongOperator, match="invalid ID field"):
        found(f"Id = '{text}'")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("o%A", [OHARA]),
        ("%", [OHARA, SURE, "cy", "Dee"]),
        ("__", ["cy"]),
        (r"100\%%", [SURE]),
        (r"%\_sure", [SURE]),
        (r"%\%%\_%", [SURE]),
        ("sure", []),
    ],
)
def test_patterns(pattern: str, names: list[str]) -> None:
    assert found(f"LastName LIKE '{pattern}'") == names


def test_a_pattern_does_not_match_null_and_takes_no_time() -> None:
    assert found("Email LIKE '_%'") == [OHARA, SURE, "Dee"]
    pattern = soql.parse("SELECT Id FROM Lead WHERE LastName LIKE '" + "%a" * 40 + "%b'").where
    assert isinstance(pattern, soql.Like)
    assert pattern.pattern.fullmatch("a" * 5_000) is None
    assert pattern.pattern.fullmatch("a" * 5_000 + "b")


@pytest.mark.parametrize(
    ("clauses", "names"),
    [
        ("ORDER BY Score__c", ["cy", SURE, "Dee", OHARA]),
        ("ORDER BY Score__c ASC NULLS LAST", [SURE, "Dee", OHARA, "cy"]),
        ("ORDER BY Score__c DESC", ["cy", OHARA, SURE, "Dee"]),
        ("ORDER BY Score__c NULLS LAST, LastName DESC", ["Dee", SURE, OHARA, "cy"]),
        ("ORDER BY LastName", [SURE, "cy", "Dee", OHARA]),
        ("ORDER BY Id DESC LIMIT 2", ["cy", "Dee"]),
        ("ORDER BY LastName LIMIT 2 OFFSET 1", ["cy", "Dee"]),
        ("LIMIT 0", []),
    ],
)
def test_order_and_limits(clauses: str, names: list[str]) -> None:
    assert [row["LastName"] for row in asked(LAST_NAMES + clauses)] == names


def test_what_the_client_library_quotes_is_found() -> None:
    query = format_soql("SELECT Id FROM Lead WHERE LastName = {} AND Id IN {}", OHARA, [ANN, BO])
    assert [row["Id"] for row in asked(query)] == [ANN]
    likely = format_soql("SELECT Id FROM Lead WHERE LastName LIKE '{:like}%'", "100%_")
    assert [row["Id"] for row in asked(likely)] == [BO]
