"""A query that is answered from few records finds what it would find among all."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.clock import Clock
from sandbox.provider import Influence
from sandbox.salesforce.org import Org
from sandbox.wire import Call
from tests.sandbox.salesforce.client import ANN, EXTERNAL_ID

ADDRESSES = ("ann@example.com", "ANN@example.com", "bo@example.com", "")
KEYS = ("x1", "X1", "x2", "")


def org_with_leads() -> tuple[Org, list[str]]:
    """Leads that were deleted, merged, given other addresses and other keys."""
    org = Org(Clock(), first_id=101, saved=lambda _kind, _record: None)
    leads = [
        org.put_record("leads", None, "", {**ANN, "Email": address, EXTERNAL_ID: key})["id"]
        for address, key in zip(ADDRESSES, KEYS, strict=True)
    ]
    org.put_record("leads", leads[0], "", {"Email": "bo@example.com", EXTERNAL_ID: "x3"})
    org.put_record("leads", leads[2], "", {EXTERNAL_ID: "x1"})
    org.archive_record("leads", leads[1], "")
    org.merge_records("leads", leads[2], leads[3], "")
    return org, leads


ORG, LEADS = org_with_leads()


def found(condition: str, *, deleted: bool, stale: bool) -> list[str]:
    query = " ".join(("SELECT Id FROM Lead WHERE", condition, "ORDER BY Id"))
    path = ("data", "v62.0", "queryAll" if deleted else "query")
    call = Call(method="GET", target="", segments=path, query={"q": [query]}, body=None, token="")
    answer = ORG.route(call).handle(call, Influence(stale=stale))
    assert answer.status == 200, answer.body
    return [row["Id"] for row in answer.body["records"]]


def texts(values: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from([*values, "x3", "nothing"]).map(lambda value: f"'{value}'")


IDS = st.sampled_from([*LEADS, LEADS[0][:15], "00Qxx0000000001"]).map(lambda value: f"'{value}'")
ATOMS = st.one_of(
    st.builds("{} {} {}".format, st.just("Id"), st.sampled_from(["=", "!="]), IDS),
    st.builds("{} {} {}".format, st.just(EXTERNAL_ID), st.sampled_from(["=", "!="]), texts(KEYS)),
    st.builds("{} {} {}".format, st.just("email"), st.sampled_from(["=", "!="]), texts(ADDRESSES)),
    st.builds("Email {} ({}, {})".format, st.sampled_from(["IN", "NOT IN"]), texts(ADDRESSES), texts(ADDRESSES)),
    st.sampled_from(["Email = null", "IsDeleted = true", "Company LIKE 'Ac%'"]),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.builds("({} AND {})".format, parts, parts),
        st.builds("({} OR {})".format, parts, parts),
        st.builds("(NOT ({}))".format, parts),
    ),
    max_leaves=5,
)


@given(condition=CONDITIONS, deleted=st.booleans(), stale=st.booleans())
def test_narrowed_or_not(condition: str, deleted: bool, stale: bool) -> None:
    everywhere = found(f"NOT (NOT ({condition}))", deleted=deleted, stale=stale)
    assert found(condition, deleted=deleted, stale=stale) == everywhere
