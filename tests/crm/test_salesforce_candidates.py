"""Records of Salesforce that changed: none is passed over, however pages are cut and whatever changes meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.crm.salesforce_sign_in import ClientCredentials
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject
from tests.crm.hostile import Hostile, Line, Script, says
from tests.crm.salesforce_org import ANN, LEAD, NO_SESSION, ORG, Org, error, query_of, rows
from tests.sandbox.control import Control

if TYPE_CHECKING:
    from leadproof.crm.salesforce_candidates import SalesforceCandidates

Make = Callable[..., "SalesforceCandidates"]

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BOTH = (TargetObject.LEAD, TargetObject.CONTACT)
COLUMNS = {
    "Id": LEAD,
    "CreatedDate": "2026-11-29T08:00:00.000+0000",
    "CreatedById": ANN,
    "LastModifiedDate": "2026-11-30T08:00:00.000+0000",
    "LastModifiedById": ANN,
    "SystemModstamp": "2026-11-30T09:00:00.000+0000",
}


@pytest.fixture
def make() -> Iterator[Make]:
    from leadproof.crm.salesforce_candidates import SalesforceCandidates
    from leadproof.crm.salesforce_client import SalesforceClient

    made: list[SalesforceCandidates] = []

    def candidates(url: str, *, call_timeout: float = 5.0, **other: Any) -> SalesforceCandidates:
        sign_in = ClientCredentials("leadproof", "secret")
        client = SalesforceClient(url=url, sign_in=sign_in, version="62.0", connect_timeout=2.0)
        asked: dict[str, Any] = {"objects": BOTH, "pauses": (0.01, 0.01)} | other
        made.append(SalesforceCandidates(client, call_timeout=call_timeout, **asked))
        return made[-1]

    yield candidates
    for one in made:
        one.close()


@pytest.fixture
def found(address: str, sandbox: Control, make: Make) -> SalesforceCandidates:
    """Pages of three, so that a few records need several."""
    return make(address, page=3)


def person(sandbox: Control, record: str | None = None, kind: str = "leads", **fields: str) -> str:
    fields = {"LastName": "Bo", **({"Company": "Example"} if kind == "leads" else {}), **fields}
    asked = {"provider": "salesforce", "object": kind, "id": record, "user": ANN, "properties": fields}
    return str(sandbox.put("/records", asked)["id"])


def people(sandbox: Control, number: int, kind: str = "leads") -> list[str]:
    return [person(sandbox, kind=kind, LastName=f"P{index}") for index in range(number)]


# -- finding -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [0, 2, 3, 4, 8])
def test_every_record_is_found_once_by_the_time_of_its_change(
    number: int, found: SalesforceCandidates, sandbox: Control
) -> None:
    leads, contacts = people(sandbox, number), people(sandbox, 1, "contacts")
    sandbox.advance(5)
    if leads:
        person(sandbox, leads[0], Title="Later")
    assert list(found.changed_since(LONG_AGO)) == [*leads[1:], *leads[:1], *contacts]


def test_only_the_objects_from_which_leads_come_are_asked_for(address: str, sandbox: Control, make: Make) -> None:
    people(sandbox, 1)
    contacts = people(sandbox, 2, "contacts")
    assert list(make(address, objects=[TargetObject.CONTACT]).changed_since(LONG_AGO)) == contacts
    assert sandbox.get("/requests", provider="salesforce", operation="leads.read") == []


def test_what_changed_before_is_not_found(found: SalesforceCandidates, sandbox: Control) -> None:
    people(sandbox, 1)
    sandbox.advance(60)
    (later,) = people(sandbox, 1)
    candidate = found.read(later, ())
    assert candidate is not None
    assert candidate.touched is not None
    assert list(found.changed_since(candidate.touched)) == [later]
    assert list(found.changed_since(candidate.touched + timedelta(milliseconds=1))) == []


def test_a_change_between_two_pages_passes_over_nobody(found: SalesforceCandidates, sandbox: Control) -> None:
    made = people(sandbox, 9)
    ids = found.changed_since(LONG_AGO)
    first = [next(ids) for _ in range(3)]
    sandbox.advance(5)
    for record in first:  # they move behind all the others
        person(sandbox, record, Title="Edited")
    assert [*first, *ids] == made


def test_the_deleted_and_the_merged_are_not_found_and_not_read(found: SalesforceCandidates, sandbox: Control) -> None:
    deleted, loser, winner = people(sandbox, 3)
    sandbox.delete("/records", {"provider": "salesforce", "object": "leads", "id": deleted, "user": ANN})
    merged = {"provider": "salesforce", "object": "leads", "winner": winner, "loser": loser, "user": ANN}
    sandbox.post("/merge", merged)
    assert list(found.changed_since(LONG_AGO)) == [winner]
    assert [found.read(record, ()) is not None for record in (deleted, loser, winner)] == [False, False, True]


def test_answers_that_are_cut_short_are_gone_on_with(org: Org, make: Make) -> None:
    moments = [NOON + timedelta(milliseconds=one) for one in (0, 0, 500, 500, 501)]
    table = sorted(zip(moments, [f"00Qxx0000004C9{one}EAE" for one in "23456"], strict=True))

    def answer(line: Line) -> None:
        soql = query_of(line.request)
        left = [one for one in table if _beyond(soql, *one)]
        page = [{"Id": record, "SystemModstamp": _written(moved)} for moved, record in left[:1]]
        line.respond(200, rows(*page, done=len(left) <= 1))

    org.answers(answer)
    ids = list(make(org.server.url, objects=[TargetObject.LEAD]).changed_since(NOON))
    assert ids == [record for _, record in table]


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}+0000"


def _beyond(soql: str, moved: datetime, record: str) -> bool:
    at = f"{_written(moved)[:-5]}Z"
    if " >= " in soql:
        return at >= soql.partition(" >= ")[2][: len(at)]
    after = soql.partition("SystemModstamp > ")[2][: len(at)]
    return at > after or (at == after and record > soql.partition("Id > '")[2][:18])


# -- reading -----------------------------------------------------------------------------------------------------------
def test_a_record_is_read_with_its_times_and_who_made_them(org: Org, make: Make) -> None:
    org.shows(COLUMNS)
    candidate = make(org.server.url).read(LEAD, ("Title",))
    assert candidate is not None
    assert candidate.record_id == LEAD
    assert (candidate.created.at, candidate.created.source_id) == (datetime(2026, 11, 29, 8, tzinfo=UTC), ANN)
    assert candidate.changed is not None
    assert (candidate.changed.at, candidate.changed.source_id) == (datetime(2026, 11, 30, 8, tzinfo=UTC), ANN)
    assert candidate.touched == datetime(2026, 11, 30, 9, tzinfo=UTC)


def test_an_id_of_something_else_is_not_asked_for(org: Org, make: Make) -> None:
    assert make(org.server.url).read("001xx000003DGb2AAG", ()) is None
    assert org.server.requests == []


# -- waiting, and giving up --------------------------------------------------------------------------------------------
FOUND = says(200, rows(COLUMNS))


@pytest.mark.parametrize(
    "lost",
    [
        Line.reset,
        says(500, error("UNKNOWN_EXCEPTION")),
        says(200, b"<html>"),
        says(200, {"records": [{}], "done": True}),
        says(423, **{"Retry-After": "0"}),
    ],
    ids=["reset", "500", "a page", "another object", "locked"],
)
def test_a_lost_answer_is_asked_for_again(lost: Script, org: Org, make: Make) -> None:
    org.answers(FOUND, lost, FOUND)
    found = make(org.server.url)
    assert found.read(LEAD, ()) == found.read(LEAD, ())
    assert len(org.calls) == 3


def test_salesforce_is_waited_for_as_long_as_it_says(org: Org, make: Make) -> None:
    org.answers(says(429, **{"Retry-After": "0.4"}), FOUND)
    began = time.monotonic()
    assert make(org.server.url).read(LEAD, ()) is not None
    assert time.monotonic() - began >= 0.4


def test_calls_that_are_spaced_are_waited_for_and_too_long_a_wait_is_said(org: Org, make: Make) -> None:
    org.answers(says(200, rows(COLUMNS), **{"Sforce-Limit-Info": "api-usage=4990/5000"}))
    found = make(org.server.url, patience=10.0)
    assert found.read(LEAD, ()) is not None
    with pytest.raises(ConfigurationRefused, match=r"cannot be asked now .* calls are spaced\) and asks to wait \d+"):
        found.read(LEAD, ())


def test_what_stays_lost_is_given_up_with_a_sentence(org: Org, make: Make) -> None:
    org.answers(says(503, error("SERVER_UNAVAILABLE")))
    with pytest.raises(ConfigurationRefused, match=r"^Salesforce answered 503 SERVER_UNAVAILABLE$"):
        make(org.server.url).read(LEAD, ())
    assert len(org.calls) == 3


def test_a_salesforce_that_never_answered_is_not_waited_for(server: Hostile, make: Make) -> None:
    found = make(server.url, pauses=(30.0,))
    server.close_listener()
    with pytest.raises(ConfigurationRefused, match=r"^Salesforce cannot be reached: signing in brought no token"):
        found.account()


def test_a_call_has_a_total_deadline(org: Org, make: Make) -> None:
    org.answers(lambda line: line.trickle(b"x" * 100, 0.05, after=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"))
    with pytest.raises(ConfigurationRefused, match="the deadline passed"):
        make(org.server.url, call_timeout=0.3).read(LEAD, ())


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, NO_SESSION, "refuses us: 401 INVALID_SESSION_ID"),
        (403, error("REQUEST_LIMIT_EXCEEDED"), "refuses us: 403 REQUEST_LIMIT_EXCEEDED"),
        (400, error("MALFORMED_QUERY"), "could not be asked: 400 MALFORMED_QUERY"),
        (404, b"no such page", "refuses us: 404 without a reason"),
    ],
)
def test_a_refusal_ends_it_at_once(status: int, body: object, said: str, org: Org, make: Make) -> None:
    org.answers(says(status, body))
    with pytest.raises(ConfigurationRefused) as refused:
        make(org.server.url).read(LEAD, ())
    assert str(refused.value) == f"Salesforce {said}"


def test_credentials_that_are_refused_are_not_tried_again(org: Org, make: Make) -> None:
    org.sign_in = says(400, {"error": "invalid_grant"})
    with pytest.raises(ConfigurationRefused, match="refuses us: invalid_grant"):
        make(org.server.url).account()
    assert len(org.sign_ins) == 1


def test_the_org_that_lets_us_in_is_the_account(org: Org, make: Make) -> None:
    assert make(org.server.url).account() == ORG


def test_closing_ends_a_wait(org: Org, make: Make) -> None:
    org.answers(says(429, **{"Retry-After": "60"}))
    found = make(org.server.url)
    threading.Timer(0.2, found.close).start()
    began = time.monotonic()
    with pytest.raises(ConfigurationRefused, match="Salesforce was no longer waited for"):
        found.read(LEAD, ())
    assert time.monotonic() - began < 30


def test_finding_names_no_person(org: Org, make: Make) -> None:
    org.shows()
    list(make(org.server.url, objects=[TargetObject.LEAD]).changed_since(NOON))
    (asked,) = org.calls
    assert query_of(asked).startswith("SELECT Id, SystemModstamp FROM Lead WHERE ")
