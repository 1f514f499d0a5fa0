"""The one-time link that a terminal prints."""

from __future__ import annotations

import json

from console.leaving import CommandRefused
from tests.console.test_reviews import asked
from tests.console.test_starter_api import Starter, url

__all__ = ["url"]

LINK = "https://leads.example.com/review/sign-in?link=" + "x" * 160
MADE = {"url": LINK, "expires_at": "2026-11-30T08:10:00+00:00"}


def test_the_link_stands_on_a_line_of_its_own_however_long_it_is(url: str) -> None:
    Starter.answer = (200, MADE)
    first, second = asked(url, "open").output.splitlines()
    assert first == LINK
    assert second == "Whoever signs in with it first is in; it is over at 2026-11-30 08:10:00+00:00."
    assert json.loads(asked(url, "open", "--json").stdout) == MADE


def test_a_starter_without_a_key_says_what_to_set(url: str) -> None:
    Starter.answer = (
        409,
        {"title": "Nobody can sign in by a link", "detail": "this starter has no LEADPROOF_REVIEW_KEY"},
    )
    ended = asked(url, "open")
    assert isinstance(ended.exception, CommandRefused)
    assert str(ended.exception) == "this starter has no LEADPROOF_REVIEW_KEY"
