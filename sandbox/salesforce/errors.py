"""The bodies with which Salesforce says no."""

from collections.abc import Iterable, Sequence
from typing import Any

from sandbox.wire import Answer

UNKNOWN = "<unknown>"


class SalesforceError(Exception):
    """A request that Salesforce refuses, with one entry or more."""

    def __init__(self, status: int, code: str, message: str, fields: Sequence[str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.entries: list[dict[str, Any]] = [_entry(code, message, fields)]

    def answer(self) -> Answer:
        return Answer(self.status, self.entries)

    def in_row(self) -> list[dict[str, Any]]:
        """The same refusal as the errors of one row of a collection."""
        return [
            {"statusCode": entry["errorCode"], "message": entry["message"], "fields": entry.get("fields", [])}
            for entry in self.entries
        ]


class Several(SalesforceError):
    """More than one record has the value; nothing was written."""

    def __init__(self, name: str, records: Sequence[str], urls: list[str]) -> None:
        found = ", ".join(record[:15] for record in records)
        message = f"{name}: more than one record found for external id field: [{found}]"
        super().__init__(300, "DUPLICATE_EXTERNAL_ID", message, [name])
        self._urls = urls

    def answer(self) -> Answer:
        return Answer(300, self._urls)


class PreconditionFailed(SalesforceError):
    def __init__(self) -> None:
        super().__init__(412, "PRECONDITION_FAILED", "The record was modified since")

    def answer(self) -> Answer:
        return Answer(412)


def together(problems: Sequence[SalesforceError]) -> SalesforceError:
    """Several refusals as one."""
    first, *others = problems
    for problem in others:
        first.entries.extend(problem.entries)
    return first


def _entry(code: str, message: str, fields: Sequence[str] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"message": message, "errorCode": code}
    return entry if fields is None else {**entry, "fields": list(fields)}


def not_found() -> SalesforceError:
    return SalesforceError(404, "NOT_FOUND", "The requested resource does not exist")


def no_such_external_id(name: str) -> SalesforceError:
    message = f"Provided external ID field does not exist or is not accessible: {name}"
    return SalesforceError(404, "NOT_FOUND", message)


def method_not_allowed(method: str, allowed: Iterable[str]) -> SalesforceError:
    message = f"HTTP Method '{method}' not allowed. Allowed are {','.join(sorted(allowed))}"
    return SalesforceError(405, "METHOD_NOT_ALLOWED", message)


def invalid_session() -> SalesforceError:
    return SalesforceError(401, "INVALID_SESSION_ID", "Session expired or invalid")


def limit_exceeded() -> SalesforceError:
    return SalesforceError(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")


def unreadable(message: str) -> SalesforceError:
    return SalesforceError(400, "JSON_PARSER_ERROR", message)


def no_such_column(name: str, kind: str) -> SalesforceError:
    return SalesforceError(400, "INVALID_FIELD", f"No such column '{name}' on sobject of type {kind}")


def malformed_id(text: str) -> SalesforceError:
    return SalesforceError(400, "MALFORMED_ID", f"malformed id {text}", [])


def no_such_record() -> SalesforceError:
    return SalesforceError(404, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", [])


def deleted() -> SalesforceError:
    return SalesforceError(404, "ENTITY_IS_DELETED", "entity is deleted", [])


def duplicate_value(name: str = UNKNOWN, holder: str = UNKNOWN) -> SalesforceError:
    """Another record has this value of a unique field; which one may not be told."""
    shown = holder if holder == UNKNOWN else holder[:15]
    message = f"duplicate value found: {name} duplicates value on record with id: {shown}"
    return SalesforceError(400, "DUPLICATE_VALUE", message, [])


def converted() -> SalesforceError:
    return SalesforceError(400, "CANNOT_UPDATE_CONVERTED_LEAD", "cannot reference converted lead", [])


def not_writable(names: Sequence[str]) -> SalesforceError:
    listed = ", ".join(names)
    message = (
        f"Unable to create/update fields: {listed}. Please check the security settings of this field and verify that "
        "it is read/write for your profile or permission set."
    )
    return SalesforceError(400, "INVALID_FIELD_FOR_INSERT_UPDATE", message, names)


def required_missing(names: Sequence[str]) -> SalesforceError:
    message = f"Required fields are missing: [{', '.join(names)}]"
    return SalesforceError(400, "REQUIRED_FIELD_MISSING", message, names)
