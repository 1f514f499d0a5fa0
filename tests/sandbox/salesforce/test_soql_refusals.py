"""What is no query, or none of the subset: refused by name, with Salesforce's code, whatever the text is."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simple_salesforce.format import format_soql

from sandbox.salesforce import soql
from tests.sandbox.salesforce.org import asked

SELECT = "SELECT Id FROM Lead "
WHERE = "SELECT Id FROM Lead WHERE "
WORDS = (
    *("SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "LIKE", "ORDER BY", "LIMIT", "OFFSET", "COUNT()"),
    *("(", ")", ",", "=", "!=", "<", "'", "'x'", "\\", "null", "true", "5", "-1.5", "INCLUDES"),
    *("Lead", "Id", "Email", "Score__c", "Owner.Name", "a.b.c", "Histories"),
    *("2026-11-30", "2026-11-30T01:37:04Z", "2026-99-99", "2026-11-30T99:00:00Z"),
)


def condition(text: str) -> soql.Query:
    return soql.parse(WHERE + text)


@given(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    for query in (text, WHERE + text, SELECT + text):
        with suppress(soql.SoqlError):
            asked(query)


@given(st.text())
def test_text_that_the_client_library_quotes_is_that_text(text: str) -> None:
    parsed = soql.parse(format_soql("SELECT Id FROM Lead WHERE LastName = {} LIMIT 1", text))
    assert isinstance(parsed.where, soql.Comparison)
    assert parsed.where.literal.value == text
    assert parsed.limit == 1


@given(st.text())
def test_text_that_the_client_library_escapes_for_like_is_found_as_it_is(text: str) -> None:
    parsed = soql.parse(format_soql("SELECT Id FROM Lead WHERE LastName LIKE '{:like}%'", text))
    assert isinstance(parsed.where, soql.Like)
    assert parsed.where.pattern.fullmatch(text + "and more")
    assert not text or parsed.where.pattern.fullmatch(text[:-1]) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "<EOF>"),
        ("DELETE FROM Lead", "DELETE"),
        ("SELECT FROM Lead", "FROM"),
        ("SELECT Id Lead", "Lead"),
        ("SELECT Id, FROM Lead", "FROM"),
        ("SELECT Id FROM Lead l", "l"),
        ("SELECT Id FROM Lead GROUP BY Id", "GROUP"),
        ("SELECT Id FROM Lead WITH SECURITY_ENFORCED", "WITH"),
        ("SELECT Id FROM Lead USING SCOPE mine", "USING"),
        ("SELECT Id FROM Lead FOR UPDATE", "FOR"),
        ("SELECT Id FROM Lead ALL ROWS", "ALL"),
        ("SELECT Id FROM Lead LIMIT -1", "-1"),
        ("SELECT Id FROM Lead LIMIT x", "x"),
        ("SELECT Id FROM Lead; SELECT Id FROM Lead", ";"),
        ("SELECT Id, Id FROM Lead", "duplicate field selected: id"),
        ("SELECT FIELDS(ALL) FROM Lead", "FIELDS(): functions"),
        ("SELECT toLabel(Status) FROM Lead", "toLabel(): functions"),
        ("SELECT COUNT(Id) FROM Lead", "COUNT(): functions"),
        ("SELECT Owner.Profile.Name FROM Lead", "only one relationship"),
        ("SELECT Id, (SELECT Id, (SELECT Id FROM X) FROM Histories) FROM Lead", "a subquery in a subquery"),
        ("SELECT Id, (SELECT Id FROM Histories LIMIT 1 OFFSET 1) FROM Lead", "OFFSET in a subquery"),
        ("SELECT Id FROM Lead ORDER BY Interests__c", "can not be sorted"),
    ],
)
def test_outside_the_subset_is_named(text: str, named: str) -> None:
    with pytest.raises(soql.Malformed, match=re.escape(named)) as refused:
        asked(text)
    assert refused.value.code == "MALFORMED_QUERY"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Email = 'a' AND Email = 'b' OR Email = 'c'", "OR"),
        ("Email = 'a' AND NOT Email = 'b'", "NOT"),
        ('Email = "a"', '"'),
        ("Email = 'a", "unterminated string literal"),
        ("Email = 'a'b'", "b"),
        ("Email = a", "a"),
        ("Email = :bound", ":"),
        ("Email == 'a'", "="),
        ("Email IN ()", ")"),
        ("Email IN 'a'", "'a'"),
        ("Email LIKE a", "a"),
        ("Email IN (SELECT Email FROM Contact)", "semi-joins"),
        ("CreatedDate > TODAY", "TODAY"),
        ("CreatedDate > 2026-13-30T00:00:00Z", "Invalid datetime"),
        ("CreatedDate > 2026-11-30T00:00:00", "T00"),
        ("Born__c > 2026-02-30", "Invalid date"),
        (r"Email = 'a\x'", r"illegal character sequence '\x'"),
        (r"Email = 'a\%'", r"illegal character sequence '\%'"),
        (r"Email = 'a\u12'", r"illegal character sequence '\u'"),
        ("(" * 60 + "Id = null" + ")" * 60, "deep"),
    ],
)
def test_no_condition_of_the_subset_is_named(text: str, named: str) -> None:
    with pytest.raises(soql.Malformed, match=re.escape(named)):
        condition(text)


@pytest.mark.parametrize(
    ("text", "refusal", "message"),
    [
        ("SELECT Nope FROM Lead", soql.UnknownField, "No such column 'Nope' on entity 'Lead'"),
        ("SELECT Id FROM Lead WHERE Nope = 1", soql.UnknownField, "No such column 'Nope' on entity 'Lead'"),
        ("SELECT Id FROM Lead ORDER BY Nope", soql.UnknownField, "No such column 'Nope' on entity 'Lead'"),
        ("SELECT Nobody.Name FROM Lead", soql.UnknownField, "Didn't understand relationship 'Nobody'"),
        ("SELECT Id FROM Nope", soql.UnknownObject, "sObject type 'Nope' is not supported"),
        ("SELECT Id, (SELECT Id FROM Nopes) FROM Lead", soql.UnknownObject, "'Nopes'"),
        ("SELECT Id FROM Lead WHERE Email = 5", soql.UnknownField, "of type string and should be enclosed in quotes"),
        ("SELECT Id FROM Lead WHERE Score__c = '5'", soql.UnknownField, "of type double and should not be enclosed"),
        ("SELECT Id FROM Lead WHERE IsConverted = 'true'", soql.UnknownField, "of type boolean"),
        ("SELECT Id FROM Lead WHERE CreatedDate = '2026-11-30T01:37:04Z'", soql.UnknownField, "of type dateTime"),
        ("SELECT Id FROM Lead WHERE Born__c = 2026-11-30T01:37:04Z", soql.UnknownField, "of type date "),
        ("SELECT Id FROM Lead WHERE Score__c LIKE '5%'", soql.WrongOperator, "'LIKE' on double field"),
        ("SELECT Id FROM Lead WHERE Id LIKE '00Q%'", soql.WrongOperator, "'LIKE' on id field"),
        ("SELECT Id FROM Lead WHERE IsConverted > false", soql.WrongOperator, "'>' on boolean field"),
        ("SELECT Id FROM Lead WHERE Score__c < null", soql.WrongOperator, "'<' on double field"),
        ("SELECT Id FROM Lead WHERE Email INCLUDES ('a')", soql.WrongOperator, "'INCLUDES' on email field"),
        ("SELECT Id FROM Lead OFFSET 2001", soql.OutOfRange, "Maximum SOQL offset"),
    ],
)
def test_what_the_object_does_not_have_or_take(text: str, refusal: type[soql.SoqlError], message: str) -> None:
    with pytest.raises(refusal, match=re.escape(message)):
        asked(text)


def test_a_refusal_shows_the_place() -> None:
    with pytest.raises(soql.UnknownField) as refused:
        asked("SELECT Id\nFROM Lead WHERE Nope = 1")
    assert refused.value.message.startswith("\nFROM Lead WHERE Nope = 1\n                ^\nERROR at Row:2:Column:17\n")


def test_text_in_a_condition_is_not_longer_than_allowed() -> None:
    condition(f"Email = '{'x' * 4_000}'")
    with pytest.raises(soql.Malformed, match="more than 4000 characters"):
        condition(f"Email = '{'x' * 4_001}'")


def test_a_statement_is_not_longer_than_allowed() -> None:
    with pytest.raises(soql.Malformed, match="100000"):
        soql.parse("SELECT Id FROM Lead".ljust(100_001))
