"""Questions that are worth waiting for: asked again after a lost answer, and when a source asks us to wait.

Reading twice does no harm, and behind a command stands no workflow that would ask again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from leadproof.crm.answers import Meaning, retry_after
from leadproof.deadline import Response
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import AnswerClass

T = TypeVar("T")

PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds before a lost answer is asked for again; after the last one it is given up."""

PATIENCE: Final = 120.0

_LEAST_WAIT: Final = 0.1


class Gone(Exception):
    """The source says that the record is not there."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[T]):
    """An answer that can be used."""

    value: T


@dataclass(frozen=True, slots=True)
class NotHeard:
    """No answer that can be used, and asking again may help.

    Attributes:
        why: one sentence without a full stop.
        answered: somebody answered something.
        wait: seconds that we are asked to wait; `None`: as for a lost answer.
    """

    why: str
    answered: bool = True
    wait: float | None = None


def refused(source: str, response: Response, codes: Sequence[str], meaning: Meaning) -> NotHeard:
    """What an answer that is no success leaves to do, and how long the source asks us to wait.

    Args:
        source: its name for people.
        codes: the source's own codes in the answer, most telling first.
        meaning: of the answer, by the source's table.

    Raises:
        ConfigurationRefused: asking again would not help.
    """
    said = f"{response.status} {codes[0] if codes else 'without a reason'}"
    match meaning.outcome:
        case AnswerClass.NOT_APPLIED:
            told = retry_after(response.headers)
            return NotHeard(f"{source} answered {said}", wait=(meaning.wait or 0.0) if told is None else told)
        case AnswerClass.REFUSES_US:
            raise ConfigurationRefused(f"{source} refuses us: {said}")
        case AnswerClass.REFUSES_THIS:
            raise ConfigurationRefused(f"{source} could not be asked: {said}")
    return NotHeard(f"{source} answered {said}")


class Patience:
    """Asks, waits and asks again. For one caller at a time.

    Args:
        source: its name for people.
        pauses: seconds before each further try after a lost answer.
        patience: seconds that may be waited for one answer because the source asks us to wait.
    """

    def __init__(self, source: str, *, pauses: Sequence[float] = PAUSES, patience: float = PATIENCE) -> None:
        self._source = source
        self._pauses = tuple(pauses)
        self._patience = patience
        self._reached = False
        self._ended = threading.Event()

    def hear(self, ask: Callable[[], Heard[T] | NotHeard]) -> T:
        """Ask until there is an answer.

        Args:
            ask: asks once; what it raises ends this too.

        Raises:
            ConfigurationRefused: there was none within the bounds, or nobody ever answered.
        """
        pauses, waited = iter(self._pauses), 0.0
        while True:
            heard = ask()
            if isinstance(heard, Heard):
                self._reached = True
                return heard.value
            self._reached |= heard.answered
            if not self._reached:  # what never answered is not waited for
                raise ConfigurationRefused(heard.why)
            if heard.wait is None:
                pause = next(pauses, None)
                if pause is None:
                    raise ConfigurationRefused(heard.why)
            else:
                pause = max(heard.wait, _LEAST_WAIT)
                waited += pause
                if waited > self._patience:
                    raise ConfigurationRefused(f"{heard.why} and asks to wait {pause:g} s; run this again later")
            self.wait(pause)

    def wait(self, seconds: float) -> None:
        """Let time pass.

        Raises:
            ConfigurationRefused: it was ended.
        """
        if self._ended.wait(max(seconds, 0.0)):
            raise ConfigurationRefused(f"{self._source} was no longer waited for")

    def end(self) -> None:
        """End every wait."""
        self._ended.set()
