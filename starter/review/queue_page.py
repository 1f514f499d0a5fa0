"""The queue as a page: open questions, due first, narrowed by what the address says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response

from leadproof.domain import keys
from leadproof.domain.queue import PAGE_SIZE, QueueGroup, QueuePage, QueueQuery, QueueRow
from leadproof.domain.wording import event_in_words, lasting, lead_in_words, plain, reason_in_words
from leadproof.ports import Clock, Ledger
from starter import problems
from starter.off_loop import off_loop
from starter.review.rendering import Pages, due_in_words, ends_in_words
from starter.review.retries import retry_offer
from starter.review.viewer import Viewer

AGES: Final[Mapping[str, timedelta]] = {
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
    "1d": timedelta(days=1),
    "3d": timedelta(days=3),
    "7d": timedelta(days=7),
}
_CHOICES: Final = ("queue", "source", "target", "reason")
_MOST_TEXT: Final = 200
_MOST_PAGES: Final = 100_000
_MOST_LEAD: Final = 80


class QueuePages:
    """Answers with the queue, and with what is new of it."""

    def __init__(self, *, ledger: Ledger, clock: Clock, pages: Pages) -> None:
        self._ledger = ledger
        self._clock = clock
        self._pages = pages

    async def whole(self, request: Request, viewer: Viewer) -> Response:
        """The page."""
        now = self._clock.now()
        asked = _asked(request, viewer, now)
        found = await off_loop(lambda: self._ledger.queue_page(asked))
        chosen = _chosen(request)
        shown = _shown(found, asked, _Addresses(self._pages.root, chosen), now)
        retry = retry_offer(found.groups, chosen, viewer)
        return self._pages.page("queue.html", viewer=viewer, **shown, retry=retry, news=None)

    async def live(self, request: Request, viewer: Viewer) -> Response:
        """The part of the page that moves: 204 where it shows what it would show now."""
        now = self._clock.now()
        since = _moment(request.query_params.get("since"))
        asked = _asked(request, viewer, now).model_copy(update={"since": since})
        mark = _mark(await off_loop(lambda: self._ledger.queue_mark(asked)), now)
        if mark == request.query_params.get("mark"):
            return Response(status_code=204)
        found = await off_loop(lambda: self._ledger.queue_page(asked))
        new = sum(one.new for one in found.groups if asked.takes(one))
        shown = _shown(found, asked, _Addresses(self._pages.root, _chosen(request)), now)
        return self._pages.page("queue_live.html", viewer=viewer, **shown, news=_news(new))


def _mark(mark: str, now: datetime) -> str:
    """A mark that also moves with the minute: ages are told in words."""
    return keys.digest(["queue-page/1", mark, int(now.timestamp() // 60)])


def _news(new: int) -> str | None:
    if not new:
        return None
    return "1 new question" if new == 1 else f"{new} new questions"


def _chosen(request: Request) -> dict[str, str]:
    """What the address says, as it stands there; only what narrows the queue."""
    given = request.query_params
    return {name: given[name] for name in (*_CHOICES, "age") if given.get(name)}


def _asked(request: Request, viewer: Viewer, now: datetime) -> QueueQuery:
    given = request.query_params
    for name in _CHOICES:
        text = given.get(name, "")
        if len(text) > _MOST_TEXT or "\x00" in text or not text.isprintable():
            raise problems.malformed(f"{name} is none that a question could have")
    age = given.get("age") or None
    if age is not None and age not in AGES:
        raise problems.malformed(f"age is none of {', '.join(AGES)}")
    number = given.get("page") or "1"
    if not (number.isascii() and number.isdigit() and len(number) < 7 and 0 < int(number) <= _MOST_PAGES):
        raise problems.malformed("page is no number of a page")
    return QueueQuery(
        queues=viewer.queues,
        **{name: given.get(name) or None for name in _CHOICES},
        opened_before=now - AGES[age] if age is not None else None,
        page=int(number),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        read = datetime.fromisoformat(text or "")
        return read.astimezone(UTC) if read.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


class _Addresses:
    """Addresses of the queue that keep what it is narrowed to."""

    def __init__(self, root: str, chosen: Mapping[str, str]) -> None:
        self._root = root
        self.chosen = chosen

    def queue(self, **more: str) -> str:
        return _address(self._root, {**self.chosen, **more})

    def live(self, **more: str) -> str:
        return _address(f"{self._root}/live", {**self.chosen, **more})

    def anywhere_else(self, name: str, value: str) -> str:
        """The queue narrowed by another value of one filter."""
        return _address(self._root, {**{one: kept for one, kept in self.chosen.items() if one != name}, name: value})


def _address(path: str, values: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(values)}" if values else path


def _shown(found: QueuePage, asked: QueueQuery, addresses: _Addresses, now: datetime) -> dict[str, Any]:
    taken = [one for one in found.groups if asked.takes(one)]
    matching = sum(one.old for one in taken)
    chosen = addresses.chosen
    return {
        "rows": [_row(one, now) for one in found.rows],
        "now": now,
        "total": sum(one.number for one in found.groups),
        "matching": matching,
        "overdue": sum(one.overdue for one in taken),
        "narrowed": bool(chosen),
        "queues": _queues(found.groups, addresses),
        "choices": [_choice(name, found.groups, chosen.get(name)) for name in _CHOICES],
        "ages": [{"value": name, "text": f"older than {lasting(age)}"} for name, age in AGES.items()],
        "age": chosen.get("age", ""),
        "paging": _paging(asked.page, matching, len(found.rows), addresses),
        "live": addresses.live(page=str(asked.page), mark=_mark(found.mark, now), since=now.isoformat()),
        "here": addresses.queue(page=str(asked.page)) if asked.page > 1 else addresses.queue(),
    }


def _paging(number: int, matching: int, shown: int, addresses: _Addresses) -> dict[str, Any]:
    """Which page it is of how many, and where the ones beside it are."""
    last = max(1, -(-matching // PAGE_SIZE))
    first = (number - 1) * PAGE_SIZE + 1
    before = min(number - 1, last)
    return {
        "number": number,
        "pages": last,
        "first": first,
        "last": first + shown - 1,
        "previous": addresses.queue(page=str(before)) if before >= 1 else None,
        "following": addresses.queue(page=str(number + 1)) if number < last else None,
    }


def _queues(groups: Iterable[QueueGroup], addresses: _Addresses) -> list[dict[str, Any]]:
    """Every queue that has open questions, with their number and where they are listed."""
    numbers: dict[str, int] = {}
    for one in groups:
        numbers[one.queue] = numbers.get(one.queue, 0) + one.number
    return [
        {
            "name": name,
            "number": number,
            "address": addresses.anywhere_else("queue", name),
            "chosen": addresses.chosen.get("queue") == name,
        }
        for name, number in numbers.items()
    ]


def _choice(name: str, groups: Iterable[QueueGroup], chosen: str | None) -> dict[str, Any]:
    """A filter with all that there is to choose, and what is chosen even where nothing is left of it."""
    there = {getattr(one, name) for one in groups} - {None}
    values = sorted(there | ({chosen} if chosen else set()))
    told = reason_in_words if name == "reason" else str
    return {
        "name": name,
        "label": name.capitalize(),
        "options": [{"value": value, "text": told(value), "chosen": value == chosen} for value in values],
    }


def _row(row: QueueRow, now: datetime) -> dict[str, Any]:
    item = row.item
    lead = lead_in_words(row.lead) or f"{row.source_system} {row.source_record_id}"
    target = " ".join(filter(None, (row.target_system, row.target_object, row.record)))
    return {
        "review_id": item.review_id,
        "lead": lead if len(lead) <= _MOST_LEAD else f"{lead[: _MOST_LEAD - 1]}…",
        "source": f"{row.source_system} {row.source_record_id}",
        "event": event_in_words(row.event_kind, row.changed_field),
        "reason": reason_in_words(item.reason),
        "why": row.why,
        "queue": item.queue,
        "would": plain(row.action_kind) if row.action_kind is not None else None,
        "target": target or None,
        "differing": ", ".join(plain(name) for name in row.differing) or None,
        "due": due_in_words(item.due_at, now),
        "due_at": item.due_at,
        "overdue": item.due_at < now,
        "ends": ends_in_words(item, now),
        "age": lasting(now - item.opened_at),
        "opened_at": item.opened_at,
    }
