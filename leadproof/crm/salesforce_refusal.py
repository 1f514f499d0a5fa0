"""What Salesforce says when it does not do something: its codes, without any value of a field."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leadproof.crm.answers import OUR_FIELD_UNUSABLE, SALESFORCE, TOO_MANY_AT_ONCE, Meaning, retry_after
from leadproof.deadline import Response
from leadproof.domain.errors import MalformedValue
from leadproof.domain.mutation import Answer
from leadproof.domain.salesforce_ids import salesforce_id

_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,79}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_COLUMN = re.compile(r"[Nn]o such column '([A-Za-z][A-Za-z0-9_]{0,79})'")
_CORRELATION = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_NAMES_A_FIELD = frozenset({"INVALID_FIELD", "INVALID_FIELD_FOR_INSERT_UPDATE", "NOT_FOUND"})
_SPEAKS_OF_A_VALUE = frozenset({"DUPLICATE_VALUE", "DUPLICATES_DETECTED"})
_MOST_MATCHES = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body.

    Attributes:
        codes: Salesforce's own codes, most telling first.
        detail: codes and field names, for a duplicate rule its name and what it matched; messages are left out, since
            they repeat values.
        readable: the body is in Salesforce's error format.
    """

    codes: tuple[str, ...] = ()
    detail: str = ""
    readable: bool = False

    def meaning(self, status: int | None) -> Meaning:
        return SALESFORCE.meaning(self.codes, status, readable=self.readable)

    def answer(self, status: int, headers: Mapping[str, str]) -> Answer:
        """The class of this refusal."""
        meaning, told = self.meaning(status), retry_after(headers)
        return Answer(
            outcome=meaning.outcome,
            http_status=status,
            correlation_id=correlation_id(headers),
            code=self.codes[0] if self.codes else f"HTTP_{status}",
            detail=self.detail or None,
            retry_after_seconds=meaning.seconds() if told is None else told,
            read_first=meaning.read_first,
        )


def correlation_id(headers: Mapping[str, str]) -> str | None:
    told = headers.get("X-SFDC-Request-Id")
    return told if told is not None and _CORRELATION.fullmatch(told) else None


def of_response(response: Response, ours: Collection[str] = ()) -> Refusal:
    """Read an answer that is no success.

    Args:
        ours: names of the fields without which we cannot write at all.
    """
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        return Refusal()
    rows = body if isinstance(body, list) else [body]
    errors = [row for row in rows if isinstance(row, dict) and _code(row)]
    if not errors:
        return Refusal()
    derived = dict.fromkeys(code for error in errors for code in _derived(error, ours))
    return Refusal(
        codes=(*derived, *dict.fromkeys(_code(error) for error in errors)),
        detail="; ".join(dict.fromkeys(_shown(error) for error in errors))[:500],
        readable=True,
    )


def _code(error: Mapping[str, Any]) -> str:
    code = error.get("errorCode")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _derived(error: Mapping[str, Any], ours: Collection[str]) -> Iterator[str]:
    """Codes for what Salesforce says in its message only, or what a code says about a field of ours."""
    code, message = _code(error), str(error.get("message") or "")
    if code == "REQUEST_LIMIT_EXCEEDED" and "ConcurrentPerOrg" in message:
        yield TOO_MANY_AT_ONCE
    named = {name.casefold() for name in _fields(error)}
    for name in ours:
        said = code in _NAMES_A_FIELD and name.casefold() in message.casefold()
        if said or (name.casefold() in named and code not in _SPEAKS_OF_A_VALUE):
            yield OUR_FIELD_UNUSABLE


def _fields(error: Mapping[str, Any]) -> list[str]:
    fields = error.get("fields")
    named = [name for name in fields if _is_name(name)] if isinstance(fields, list) else []
    column = _COLUMN.search(str(error.get("message") or ""))
    return named or ([column[1]] if column is not None else [])


def _shown(error: Mapping[str, Any]) -> str:
    code, fields = _code(error), _fields(error)
    found = error.get("duplicateResut", error.get("duplicateResult"))  # the first is Salesforce's own spelling
    if isinstance(found, dict):
        rule = found.get("duplicateRule")
        return f"{code}: the rule {rule if _is_name(rule) else 'without a name'} matched {_matches(found)}"
    return f"{code}: {', '.join(fields)}" if fields else code


def _matches(found: Mapping[str, Any]) -> str:
    ids = list(dict.fromkeys(_matched_ids(found)))
    more = f" and {len(ids) - _MOST_MATCHES} more" if len(ids) > _MOST_MATCHES else ""
    return f"{', '.join(ids[:_MOST_MATCHES])}{more}" if ids else "records that it does not name"


def _matched_ids(found: Mapping[str, Any]) -> Iterator[str]:
    for result in _rows(found.get("matchResults")):
        for match in _rows(result.get("matchRecords")):
            record = match.get("record")
            if isinstance(record, dict):
                try:
                    yield salesforce_id(record.get("Id"))
                except MalformedValue:
                    continue


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None
