"""A real account as the live suite uses it: hands that make only records of their own, and take them away again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import httpx

from tests.conformance.clocks import Waiting
from tests.conformance.hands import Mischief, NotHere, Standing
from tests.conformance.systems import System

_PATIENCE: Final = 5
_PAUSE_SECONDS: Final = 10.0


class Raw(NamedTuple):
    """An answer as it came."""

    status: int
    body: Any
    headers: Mapping[str, str]


class Unexpected(Exception):
    """The account did not do what the suite needs of it; the text holds no values."""


class Opened(NamedTuple):
    """The account that the credentials open, and what kind of account it says it is."""

    account: str
    kind: str


@dataclass(frozen=True)
class Removal:
    """What became of the records of a run.

    Attributes:
        left: what could not be removed, and why.
    """

    removed: int = 0
    left: tuple[str, ...] = ()


@dataclass
class Journal:
    """Every trace of a record of ours, written down before the request that may make it leaves.

    Attributes:
        ids: of records that are known to have been made.
        external_ids: under which a record may stand.
        addresses: of records whose making was not answered.
    """

    ids: dict[str, None] = field(default_factory=dict)
    external_ids: dict[str, None] = field(default_factory=dict)
    addresses: dict[str, None] = field(default_factory=dict)


class Account(ABC):
    """One real account; what is common to all of them.

    Args:
        http: bound to the account's address.
        pause: seconds to wait after an edit, so that the target's history tells it from what follows.
    """

    name: str
    title: str

    def __init__(self, http: httpx.Client, clock: Waiting, *, run: str, pause: float) -> None:
        self._http = http
        self._clock = clock
        self._pause = pause
        self._numbers = iter(range(1, 1_000_000))
        self.run = run
        self.journal = Journal()
        self._mine: dict[str, None] = {}
        self._expected: dict[str, None] = {}

    # -- of each system ----------------------------------------------------------------------------------------------
    @abstractmethod
    def opened(self) -> Opened:
        """Asked before anything is written."""

    @abstractmethod
    def system(self) -> System:
        """The system with the owners and values that this account has."""

    @abstractmethod
    def _post(self, properties: Mapping[str, Any]) -> Raw: ...

    @abstractmethod
    def _patch(self, record_id: str, properties: Mapping[str, Any]) -> Raw: ...

    @abstractmethod
    def _delete(self, record_id: str) -> Raw: ...

    @abstractmethod
    def _standing(self, record_id: str) -> Standing | None:
        """The record, gone or not; `None` where the account knows nothing of it."""

    @abstractmethod
    def _ids_by(self, name: str, value: str) -> Sequence[str]:
        """Live records that hold a value of the external id or of the address.

        Raises:
            Unexpected: the account does not say.
        """

    @abstractmethod
    def _names(self) -> tuple[str, str]:
        """The account's names of the external id and of the address."""

    @abstractmethod
    def _authorization(self) -> str: ...

    # -- asking ------------------------------------------------------------------------------------------------------
    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Raw:
        """One request; where the account asks us to wait, we wait."""
        headers = {"authorization": self._authorization(), **more.pop("headers", {})}
        for _ in range(_PATIENCE):
            answer = self._http.request(method, path, json=body, headers=headers, **more)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                break
            self._clock.wait(float(answer.headers.get("retry-after", _PAUSE_SECONDS)))
        return Raw(answer.status_code, _parsed(answer), answer.headers)

    def address(self) -> str:
        """An e-mail address that no other record has; who finds one left over knows the run by it."""
        return f"live-{self.run}.p{next(self._numbers)}@example.com"

    def make(self, properties: Mapping[str, Any]) -> Raw:
        """Ask for a new record, and write down what may come of it before."""
        external_id, email = (properties.get(name) for name in self._names())
        if email:
            self.journal.addresses[email] = None
        if external_id:
            self.journal.external_ids[external_id] = None
        answer = self._post(properties)
        made = str((answer.body or {}).get("id", "")) if isinstance(answer.body, dict) else ""
        if made:
            self.knows(made)
            self.journal.addresses.pop(email or "", None)
        return answer

    def knows(self, record_id: str) -> None:
        """Remember a record of ours."""
        self.journal.ids[record_id] = self._mine[record_id] = None

    # -- hands -------------------------------------------------------------------------------------------------------
    @property
    def editors(self) -> Sequence[str]:
        """Edits are made with our own credentials, so that history may say anything."""
        return ()

    def begin(self) -> None:
        """A case begins: what was made before it is no longer looked at."""
        self._mine, self._expected = {}, {}

    def expects(self, external_id: str) -> None:
        self.journal.external_ids[external_id] = self._expected[external_id] = None

    def create(self, properties: Mapping[str, Any]) -> str:
        answer = self.make(properties)
        if answer.status != httpx.codes.CREATED:
            raise Unexpected(f"{self.title} answered {answer.status} where a record was to be made")
        return str(answer.body["id"])

    def edit(self, record_id: str, properties: Mapping[str, Any]) -> None:
        self._clock.wait(self._pause)
        answer = self._patch(record_id, properties)
        if not httpx.codes.is_success(answer.status):
            raise Unexpected(f"{self.title} answered {answer.status} where a record was to be edited")
        self._clock.wait(self._pause)

    def archive(self, record_id: str) -> None:
        answer = self._delete(record_id)
        if not httpx.codes.is_success(answer.status):
            raise Unexpected(f"{self.title} answered {answer.status} where a record was to be deleted")

    def merge(self, winner: str, loser: str) -> None:
        raise NotHere(f"{self.title} merges records over another interface only")

    def arm(self, mischief: Mischief) -> None:
        raise NotHere("a real account does not fail on demand")

    def person_in_between(self, operation: str, properties: Mapping[str, Any], *, before: bool) -> None:
        raise NotHere("nobody can edit a real record in the middle of a request")

    def sent(self) -> None:
        """A real account shows nobody its request log."""
        return None

    def records(self) -> tuple[Standing, ...]:
        external_id, _ = self._names()
        for expected in self._expected:
            for found in self._ids_by(external_id, expected):
                self.knows(found)
        seen = [self._standing(record_id) for record_id in self._mine]
        return tuple(one for one in seen if one is not None)

    # -- afterwards --------------------------------------------------------------------------------------------------
    def remove_all(self) -> Removal:
        """Remove every record of this run that is still there; a further Ctrl-C ends it, and the rest is listed."""
        external_id, address = self._names()
        waiting: list[tuple[str | None, str]] = [(None, one) for one in self.journal.ids]
        waiting += [(external_id, one) for one in self.journal.external_ids]
        waiting += [(address, one) for one in self.journal.addresses]
        removed: dict[str, None] = {}
        left: list[str] = []
        try:
            while waiting:
                name, value = waiting[0]
                what = value if name is None else f"whatever has the {name} {_shown(value)}"
                try:
                    found = (value,) if name is None else self._ids_by(name, value)
                    left += self._remove(dict.fromkeys(found), removed)
                except (Unexpected, httpx.HTTPError) as error:
                    left.append(f"{what}: {type(error).__name__}")
                waiting.pop(0)
        except KeyboardInterrupt:
            left += [f"{_shown(value)}: interrupted again" for _, value in waiting]
        return Removal(len(removed), tuple(left))

    def _remove(self, record_ids: Iterable[str], removed: dict[str, None]) -> Iterator[str]:
        for record_id in record_ids:
            if record_id in removed:
                continue
            why = self._removed(record_id)
            if why is None:
                removed[record_id] = None
            else:
                yield f"{record_id}: {why}"

    def _removed(self, record_id: str) -> str | None:
        """Delete a record that is there; what stands in the way, if anything does."""
        standing = self._standing(record_id)
        if standing is None or not standing.live:
            return None
        answer = self._delete(record_id)
        standing = self._standing(record_id)
        return None if standing is None or not standing.live else f"the deletion was answered {answer.status}"

    def close(self) -> None:
        self._http.close()


def _shown(value: str) -> str:
    """A trace of a record of ours, without an address in it."""
    return value.replace("@", " at ")


def _parsed(answer: httpx.Response) -> Any:
    try:
        return answer.json() if answer.content else None
    except ValueError:
        return answer.text
