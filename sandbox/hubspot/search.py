"""The search index: late, and blind to what is archived."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.clock import Clock
from sandbox.hubspot.contact import Contact, State
from sandbox.hubspot.contacts import Contacts
from sandbox.hubspot.errors import invalid_input
from sandbox.hubspot.reading import Found, Reader
from sandbox.hubspot.shapes import page, shown
from sandbox.hubspot.values import epoch
from sandbox.provider import Influence
from sandbox.wire import Answer, Call

PAGE = 10
MAX_PAGE = 200
MAX_TOTAL = 10_000
MAX_GROUPS = 5
TEXT_PROPERTIES = ("email", "firstname", "lastname", "phone", "company")

Filter = dict[str, Any]


class Search:
    """Sees each contact as it was `lag` seconds ago."""

    def __init__(self, contacts: Contacts, reader: Reader, clock: Clock, lag: float) -> None:
        self._contacts = contacts
        self._reader = reader
        self._clock = clock
        self._lag = round(lag * 1000)

    def search(self, call: Call, influence: Influence) -> Answer:
        body = call.body if isinstance(call.body, dict) else {}
        limit, after = _count(body.get("limit"), PAGE), _count(body.get("after"), 0)
        if limit > MAX_PAGE:
            raise invalid_input(f"limit must be at most {MAX_PAGE}")
        if after + limit > MAX_TOTAL:
            raise invalid_input(f"paging past {MAX_TOTAL} results is not possible")
        groups, text = _groups(body), str(body.get("query") or "").lower()
        found = [row for row in self._indexed(stale=influence.stale) if _matches(row[1], groups, text)]
        for sort in reversed(body.get("sorts") or []):
            _sort(found, *_sorting(sort))
        names = self._reader.names([str(name) for name in body.get("properties") or ()])
        end = after + limit
        rows = [shown(contact, state, names) for contact, state in found[after:end]]
        return Answer(200, {"total": len(found), **page(rows, str(end) if len(found) > end else None)})

    def _indexed(self, *, stale: bool) -> list[Found]:
        moment = self._clock.now() - self._lag
        rows = []
        for contact in self._contacts:
            state = self._state(contact, moment, stale=stale)
            if state and state.live and contact.now.live:
                rows.append((contact, state))
        return rows

    def _state(self, contact: Contact, moment: int, *, stale: bool) -> State | None:
        return contact.before if stale else contact.as_of(moment)


def _count(value: Any, default: int) -> int:
    text = str(value or default)
    if not text.isdigit():
        raise invalid_input(f"{text} is not a number")
    return int(text)


def _groups(body: dict[str, Any]) -> list[list[Filter]]:
    groups = body.get("filterGroups") or []
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise invalid_input("Invalid input JSON: filterGroups are a list of objects")
    if len(groups) > MAX_GROUPS:
        raise invalid_input(f"at most {MAX_GROUPS} filter groups")
    filters = [list(group.get("filters") or ()) for group in groups]
    for item in (item for group in filters for item in group):
        if not isinstance(item, dict) or item.get("operator") not in _OPERATORS:
            raise invalid_input("Invalid input JSON: each filter has a propertyName and a known operator")
    return filters


def _matches(state: State, groups: list[list[Filter]], text: str) -> bool:
    if text and not any(text in state.values.get(name, "").lower() for name in TEXT_PROPERTIES):
        return False
    return not groups or any(all(_passes(state, item) for item in group) for group in groups)


def _passes(state: State, item: Filter) -> bool:
    return _OPERATORS[item["operator"]](state.values.get(str(item.get("propertyName")), ""), item)


def _equal(value: str, item: Filter) -> bool:
    return value != "" and _order(value) == _order(_wanted(item))


def _among(value: str, item: Filter) -> bool:
    return value.lower() in {str(choice) for choice in item.get("values") or ()}


def _token(value: str, item: Filter) -> bool:
    return _wanted(item).strip("*").lower() in value.lower()


def _compare(passes: Callable[[tuple[int, Any], tuple[int, Any]], bool]) -> Callable[[str, Filter], bool]:
    def test(value: str, item: Filter) -> bool:
        mine, wanted = _order(value), _order(_wanted(item))
        return value != "" and mine[0] == wanted[0] and passes(mine, wanted)

    return test


def _between(value: str, item: Filter) -> bool:
    mine, low, high = _order(value), _order(_wanted(item)), _order(str(item.get("highValue", "")))
    return value != "" and mine[0] == low[0] == high[0] and low <= mine <= high


def _wanted(item: Filter) -> str:
    return str(item.get("value", ""))


def _order(value: str) -> tuple[int, Any]:
    """Numbers and times by size, everything else as text without case."""
    try:
        return 0, Decimal(value)
    except InvalidOperation:
        moment = epoch(value) if value[:4].isdigit() else None
        return (0, Decimal(moment)) if moment is not None else (1, value.lower())


def _sort(rows: list[Found], name: str, descending: bool) -> None:
    rows.sort(key=lambda row: _order(row[1].values.get(name, "")), reverse=descending)


def _sorting(sort: Any) -> tuple[str, bool]:
    if isinstance(sort, dict):
        return str(sort.get("propertyName")), sort.get("direction") == "DESCENDING"
    return str(sort).removeprefix("-"), str(sort).startswith("-")


_OPERATORS: dict[str, Callable[[str, Filter], bool]] = {
    "EQ": _equal,
    "NEQ": lambda value, item: not _equal(value, item),
    "IN": _among,
    "NOT_IN": lambda value, item: not _among(value, item),
    "GT": _compare(lambda mine, wanted: mine > wanted),
    "GTE": _compare(lambda mine, wanted: mine >= wanted),
    "LT": _compare(lambda mine, wanted: mine < wanted),
    "LTE": _compare(lambda mine, wanted: mine <= wanted),
    "BETWEEN": _between,
    "HAS_PROPERTY": lambda value, _: value != "",
    "NOT_HAS_PROPERTY": lambda value, _: value == "",
    "CONTAINS_TOKEN": _token,
    "NOT_CONTAINS_TOKEN": lambda value, item: not _token(value, item),
}
