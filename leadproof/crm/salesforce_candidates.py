"""Leads and contacts that changed, found by a query and then read one by one.

A query reads the database itself, so that nothing of it is late. `SystemModstamp` is the time by which records are
found: it moves with every change, also with those of automation that leave `LastModifiedDate` alone. Pages are turned
by time and id: a record that changes meanwhile moves behind the page and is found again, and none is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeVar

from leadproof.crm import salesforce_refusal
from leadproof.crm.patience import PATIENCE, PAUSES, Heard, NotHeard, Patience, refused
from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_fields import OBJECTS
from leadproof.crm.salesforce_question import answered, body_of
from leadproof.deadline import Deadline, Exchange
from leadproof.domain.candidates import Candidate, Version
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.plan import TargetObject
from leadproof.domain.salesforce_ids import PREFIXES, salesforce_id

T = TypeVar("T")

PAGE: Final = 2000


class _Hit(NamedTuple):
    record_id: str
    moved: datetime


class SalesforceCandidates:
    """The port `Candidates` over an org's leads and contacts.

    Args:
        client: closed with this.
        objects: which of our objects leads come from.
        call_timeout: total deadline in seconds of one request.
        pauses, patience: as for `Patience`.
        page: rows of one query, at most 2000.
    """

    def __init__(
        self,
        client: SalesforceClient,
        *,
        objects: Sequence[TargetObject],
        call_timeout: float,
        pauses: Sequence[float] = PAUSES,
        patience: float = PATIENCE,
        page: int = PAGE,
    ) -> None:
        self._client = client
        self._objects = tuple(objects)
        self._call_timeout = call_timeout
        self._patience = Patience("Salesforce", pauses=pauses, patience=patience)
        self._page = page

    def account(self) -> str:
        """The id of the org that lets us in."""

        def once() -> Heard[str] | NotHeard:
            session = self._client.session(Deadline(self._call_timeout))
            return _not_sent(session) if isinstance(session, Answer) else Heard(session.organization_id)

        return self._patience.hear(once)

    def changed_since(self, since: datetime) -> Iterator[str]:
        """Ids of the records that were made or changed, object by object, by the time of their last change."""
        for target_object in self._objects:
            yield from self._changed(OBJECTS[target_object], since)

    def read(self, record_id: str, properties: Sequence[str]) -> Candidate | None:
        """When one record was made and changed, and by whom; `None` where it is deleted or merged away.

        Args:
            properties: not looked at. A notification says that a record was saved and not which field.
        """
        name = next((OBJECTS[each] for each, prefix in PREFIXES.items() if record_id.startswith(prefix)), None)
        if name is None:
            return None
        columns = "Id, CreatedDate, CreatedById, LastModifiedDate, LastModifiedById, SystemModstamp"
        soql = format_soql(f"SELECT {columns} FROM {name} WHERE Id = {{}} AND IsDeleted = false", record_id)  # noqa: S608
        found, _ = self._select(soql, _candidate)
        return found[0] if found else None

    def close(self) -> None:
        """Close the idle connections; whoever waits for Salesforce waits no longer."""
        self._patience.end()
        self._client.close()

    def _changed(self, name: str, since: datetime) -> Iterator[str]:
        seen: set[str] = set()
        beyond = f"SystemModstamp >= {_literal(since)}"
        more = True
        while more:
            soql = (
                f"SELECT Id, SystemModstamp FROM {name} WHERE IsDeleted = false AND {beyond} "  # noqa: S608
                f"ORDER BY SystemModstamp, Id LIMIT {self._page}"
            )
            hits, done = self._select(soql, _hit)
            for hit in hits:
                if hit.record_id not in seen:
                    seen.add(hit.record_id)
                    yield hit.record_id
            # Salesforce may also cut an answer short of what was asked for, and says so
            more = bool(hits) and (len(hits) >= self._page or not done)
            if more:
                moved = _literal(hits[-1].moved)
                behind = format_soql("Id > {}", hits[-1].record_id)
                beyond = f"(SystemModstamp > {moved} OR (SystemModstamp = {moved} AND {behind}))"

    def _select(self, soql: str, read: Callable[[Any], T]) -> tuple[list[T], bool]:
        """Rows, and whether they are all that there are."""

        def rows(body: Any) -> tuple[list[T], bool]:
            return [read(row) for row in body["records"]], bool(body["done"])

        def once() -> Heard[tuple[list[T], bool]] | NotHeard:
            return _heard(self._client.query(soql, Deadline(self._call_timeout)), rows)

        return self._patience.hear(once)


def _heard(asked: Exchange[Any] | Answer, read: Callable[[Any], T]) -> Heard[T] | NotHeard:
    """What one answer says.

    Raises:
        ConfigurationRefused: asking again would not help.
    """
    response = answered(asked)
    if isinstance(response, Answer):
        return _not_sent(response)
    if 200 <= response.status < 300:
        try:
            return Heard(read(body_of(response)))
        except Exception as error:  # a body that is not what it should be can be anything
            return NotHeard(f"what Salesforce answered could not be used ({type(error).__name__})")
    refusal = salesforce_refusal.of_response(response)
    return refused("Salesforce", response, refusal.codes, refusal.meaning(response.status))


def _not_sent(said: Answer) -> NotHeard:
    """What stands in the place of an answer.

    Raises:
        ConfigurationRefused: Salesforce refuses us.
    """
    if said.outcome is AnswerClass.REFUSES_US:
        raise ConfigurationRefused(f"Salesforce refuses us: {said.code}: {said.detail}")
    if said.code is not None:  # it answered the sign-in, or its calls are spaced
        return NotHeard(f"Salesforce cannot be asked now ({said.detail})", wait=said.retry_after_seconds)
    return NotHeard(f"Salesforce cannot be reached: {said.detail}", answered=False)


def _hit(row: Any) -> _Hit:
    return _Hit(salesforce_id(row["Id"]), _moment(row["SystemModstamp"]))


def _candidate(row: Any) -> Candidate:
    return Candidate(
        record_id=salesforce_id(row["Id"]),
        created=Version(value=None, at=_moment(row["CreatedDate"]), source_id=str(row["CreatedById"])),
        changed=Version(value=None, at=_moment(row["LastModifiedDate"]), source_id=str(row["LastModifiedById"])),
        touched=_moment(row["SystemModstamp"]),
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _literal(moment: datetime) -> str:
    """A time in a query, with its milliseconds, which the client library's own literals leave out."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
