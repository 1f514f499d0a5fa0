"""What the sandbox needs of a provider: to be called, to be watched, and to be edited by people."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox.faults import Fault
from sandbox.wire import Answer, Call


@dataclass(frozen=True, slots=True)
class Influence:
    """What armed faults do inside a provider while it carries out one request."""

    stale: bool = False
    rewrite: Fault | None = None
    failing: Fault | None = None


@dataclass(frozen=True, slots=True)
class Route:
    operation: str | None
    handle: Callable[[Call, Influence], Answer]
    batch: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """One input of a request: the record it means, if that exists, and every id and value it mentions."""

    record: str | None
    words: frozenset[str]


class UnknownRecord(LookupError):
    """No such record."""


class Refused(ValueError):
    """The provider would not let a person do this; `body` is what it says."""

    def __init__(self, body: Any) -> None:
        super().__init__(str(body))
        self.body = body


class Provider(Protocol):
    """A service behind HTTP and, where it keeps records, the same service as its users see it."""

    name: str
    operations: tuple[str, ...]
    fault_kinds: tuple[str, ...]

    def route(self, call: Call) -> Route: ...

    def authenticate(self, call: Call) -> Answer | None: ...

    def named(self, call: Call) -> list[Named]: ...

    def refusal(self, fault: Fault) -> Answer: ...

    def unanswered(self, records: Iterable[str]) -> AbstractContextManager[None]:
        """For as long as the answer that names these records has not left."""

    def dress(self, answer: Answer, operation: str | None) -> Answer: ...

    def records(self, kind: str) -> list[dict[str, Any]]: ...

    def put_record(self, kind: str, record: str | None, user: str, fields: Mapping[str, Any]) -> dict[str, Any]: ...

    def restore_record(self, kind: str, record: str, user: str) -> dict[str, Any]: ...

    def archive_record(self, kind: str, record: str, user: str) -> None: ...

    def merge_records(self, kind: str, winner: str, loser: str, user: str) -> dict[str, Any]: ...

    def convert_record(self, kind: str, record: str, user: str) -> dict[str, Any]: ...

    def side_effects(self) -> list[dict[str, Any]]: ...

    def reset(self) -> None: ...


class Recordless:
    """What people do to the records of a provider that keeps none."""

    def records(self, kind: str) -> list[dict[str, Any]]:
        raise UnknownRecord(f"no object {kind!r}")

    def put_record(self, kind: str, record: str | None, user: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        raise UnknownRecord(f"no object {kind!r}")

    def restore_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        raise UnknownRecord(f"no object {kind!r}")

    def archive_record(self, kind: str, record: str, user: str) -> None:
        raise UnknownRecord(f"no object {kind!r}")

    def merge_records(self, kind: str, winner: str, loser: str, user: str) -> dict[str, Any]:
        raise UnknownRecord(f"no object {kind!r}")

    def convert_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        raise UnknownRecord(f"no object {kind!r}")

    def side_effects(self) -> list[dict[str, Any]]:
        return []

    def unanswered(self, records: Iterable[str]) -> AbstractContextManager[None]:
        return nullcontext()
