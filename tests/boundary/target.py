"""A target that does what it is told, and calls between which a run can stop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from leadproof.domain.mutation import Answer, AnswerClass, RecordRef
from leadproof.domain.records import MARKER, Change, Description, FoundRecord, LookUp, Presence
from leadproof.domain.steps import WriteRequest
from tests.support.ledgers import START, HandClock

FIELDS = ("owner", "lead_status", "email")


class Stop(BaseException):
    """The process is gone at this point."""


class Stops:
    """Counts the points at which a run can stop, and stops it at the chosen one, by its number or its name."""

    def __init__(self) -> None:
        self.at: int | str | None = None
        self.passed: list[str] = []

    def point(self, name: str) -> None:
        self.passed.append(name)
        if self.at in {name, len(self.passed)}:
            self.at = None
            raise Stop(name)


class Stopping:
    """A port of which each call can stop the run before it begins and after it has ended."""

    def __init__(self, port: object, stops: Stops) -> None:
        self._port = port
        self._stops = stops

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._port, name)
        if not callable(inner):
            return inner

        @functools.wraps(inner)
        def call(*args: Any, **more: Any) -> Any:
            self._stops.point(f"before {name}")
            answer = inner(*args, **more)
            self._stops.point(f"after {name}")
            return answer

        return call


class Record(NamedTuple):
    """A record of the target as it stands."""

    record_id: str
    fields: dict[str, Any]
    external_id: str | None = None
    marker: str | None = None
    history: Mapping[str, tuple[Change, ...]] = MappingProxyType({})


class Effect(NamedTuple):
    """One write that the target applied."""

    at: datetime
    marker: str
    fields: dict[str, Any]
    record_id: str


class Sent(NamedTuple):
    at: datetime
    request: WriteRequest


Reply = Callable[["Target", WriteRequest], Answer]
Sight = Callable[["Target", LookUp], LookUp]


def accepts(target: Target, request: WriteRequest) -> Answer:
    record_id = target.apply(request)
    return Answer(outcome=AnswerClass.ACCEPTED, http_status=200, provider_record_id=record_id)


def applies_and_is_not_heard(target: Target, request: WriteRequest) -> Answer:
    target.apply(request)
    return Answer(outcome=AnswerClass.UNCERTAIN, detail="the connection failed")


def is_lost(_: Target, __: WriteRequest) -> Answer:
    return Answer(outcome=AnswerClass.UNCERTAIN, detail="the connection failed")


def late(seconds: float) -> Reply:
    """A reply that is lost, to a request that is applied so many seconds later."""

    def applies_late(target: Target, request: WriteRequest) -> Answer:
        target.pending.append((target.clock.now() + timedelta(seconds=seconds), request))
        return Answer(outcome=AnswerClass.UNCERTAIN, detail="the connection failed")

    return applies_late


def answers(outcome: AnswerClass, **more: Any) -> Reply:
    return lambda _target, _request: Answer(outcome=outcome, **more)


def sees(found: LookUp) -> Sight:
    return lambda _target, _found: found


def held_up(seconds: float, *, after: float) -> Sight:
    """Answers come at once, but for that to a look which begins so long after the test began and before everything sent
    has landed: as true as it was when it was asked, it takes its time."""

    def comes_late(target: Target, found: LookUp) -> LookUp:
        if target.pending and target.clock.now() >= START + timedelta(seconds=after):
            target.clock.forward(seconds)
        return found

    return comes_late


def stale(target: Target) -> Sight:
    """What record 601 is like now, for looks that come later."""
    before = target.read("contact", "601", FIELDS, history=True)
    return sees(before)


UNREADABLE = LookUp(presence=Presence.UNKNOWN, detail="a time-out")
REFUSED = LookUp(presence=Presence.UNKNOWN, detail="401", refuses_us=True)


@dataclass
class Target:
    """A CRM whose records are really there; what it says of them and how it answers can be scripted call by call.

    Attributes:
        replies: how the next writes are answered; then it accepts.
        sights: how the next look-ups are bent; then it shows what stands there.
        always: bends every look-up that no sight is left for.
        on_send: called when a request has left, before anything becomes of it.
        lag: so far behind are the reads.
    """

    clock: HandClock
    stops: Stops
    keeps: bool = True
    records: dict[str, Record] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    merged: dict[str, str] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    always: Sight | None = None
    on_send: list[Callable[[], object]] = field(default_factory=list)
    pending: list[tuple[datetime, WriteRequest]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    lag: timedelta = timedelta(0)
    past: list[tuple[datetime, dict[str, Record]]] = field(default_factory=list)

    system = "hubspot"
    identity = "app:42"

    # -- the port ----------------------------------------------------------------------------------------------------
    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        self.calls.append("read")
        return self._seen(self._shown([self.merged.get(record_id, record_id)], fields, history))

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        self.calls.append("find")
        self.settle()
        wanted = record.unique_fields.get("email")
        ids = [
            one.record_id
            for one in self.records.values()
            if one.external_id == record.external_id or (wanted is not None and one.fields.get("email") == wanted)
        ]
        return self._seen(self._shown(ids, fields, history))

    def write(self, request: WriteRequest) -> Answer:
        self.calls.append("write")
        self.settle()
        self.sent.append(Sent(self.clock.now(), request))
        for act in self.on_send:
            act()
        answer = (self.replies.pop(0) if self.replies else accepts)(self, request)
        self.stops.point("during write")
        return answer

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        return self.keeps

    def describe(self, target_object: str) -> Description:
        raise NotImplementedError

    # -- what stands there -------------------------------------------------------------------------------------------
    def stands(self, record_id: str = "601", *, external_id: str | None = None, **fields: Any) -> Record:
        """A record that somebody made."""
        given = dict.fromkeys(FIELDS) | fields
        self.records[record_id] = Record(record_id, given, external_id)
        self.past.append((datetime.min.replace(tzinfo=UTC), dict(self.records)))
        return self.records[record_id]

    def edit(self, by: str = "person:9", record_id: str = "601", **fields: Any) -> None:
        """A change that somebody else makes."""
        self.settle()
        self._change(record_id, fields, by)

    def settle(self) -> None:
        """Apply what was sent earlier and has now arrived."""
        due = [one for one in self.pending if one[0] <= self.clock.now()]
        self.pending = [one for one in self.pending if one[0] > self.clock.now()]
        for moment, request in due:
            self.apply(request, moment)

    def apply(self, request: WriteRequest, moment: datetime | None = None) -> str:
        """Apply a write: by id, or an upsert by external id; the id of the record."""
        record_id = request.record.provider_record_id
        if request.creates:
            standing = [one for one in self.records.values() if one.external_id == request.record.external_id]
            record_id = standing[0].record_id if standing else f"{700 + len(self.records)}"
            if not standing:
                self.records[record_id] = Record(record_id, dict.fromkeys(FIELDS), request.record.external_id)
        if record_id is None or record_id not in self.records:
            raise AssertionError("a write that may not create needs the record's own id")
        if request.sets_external_id:
            self.records[record_id] = self.records[record_id]._replace(external_id=request.record.external_id)
        self._change(record_id, request.fields, "us", marker=request.marker, moment=moment)
        self.effects.append(Effect(moment or self.clock.now(), request.marker, dict(request.fields), record_id))
        return record_id

    def _change(
        self,
        record_id: str,
        fields: Mapping[str, Any],
        by: str,
        *,
        marker: str | None = None,
        moment: datetime | None = None,
    ) -> None:
        record, at = self.records[record_id], moment or self.clock.now()
        history, stands = dict(record.history), {**record.fields, MARKER: record.marker}
        for name, value in {**fields, **({MARKER: marker} if marker else {})}.items():
            if stands.get(name) == value:
                continue  # an equal value changes nothing, and leaves no version
            history[name] = (Change(value=value, at=at, by=by), *history.get(name, ()))
        self.records[record_id] = record._replace(
            fields={**record.fields, **fields}, marker=marker or record.marker, history=history
        )
        self.past.append((at, dict(self.records)))

    def _shown(self, ids: Sequence[str], fields: Sequence[str], history: bool) -> LookUp:
        self.settle()
        gone = tuple(one for one in ids if one in self.removed)
        seen = self._as_seen()
        live = [seen[one] for one in ids if one in seen and one not in self.removed]
        if len(live) > 1:
            return LookUp(presence=Presence.SEVERAL, record_ids=tuple(one.record_id for one in live))
        if not live:
            return LookUp(presence=Presence.REMOVED if gone else Presence.ABSENT, record_ids=gone)
        (record,) = live
        shown = FoundRecord(
            record_id=record.record_id,
            external_id=record.external_id,
            marker=record.marker,
            fields={name: record.fields.get(name) for name in fields},
            history=dict(record.history) if history and self.keeps else {},
        )
        return LookUp(presence=Presence.ONE, record=shown, record_ids=(record.record_id,))

    def _as_seen(self) -> dict[str, Record]:
        """The records as a read shows them by now."""
        if not self.lag:
            return self.records
        until = self.clock.now() - self.lag
        return next(records for at, records in reversed(self.past) if at <= until)

    def _seen(self, found: LookUp) -> LookUp:
        if self.sights:
            return self.sights.pop(0)(self, found)
        return self.always(self, found) if self.always is not None else found
