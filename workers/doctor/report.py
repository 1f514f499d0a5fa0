"""What an examination found: one line per check, and what could be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from leadproof.domain.errors import LeadproofError


class State(StrEnum):
    """*skipped*: not looked at, because something that it stands on is not right."""

    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check.

    Attributes:
        says: what was found, in one sentence without a full stop.
        do: what to do about it, in one sentence without a full stop.
    """

    check: str
    state: State
    says: str
    do: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that is missing and that we can make.

    Attributes:
        what: names it for a person.
        make: makes it, and returns when it can be seen; raises a `LeadproofError` where it could not be made.
    """

    check: str
    what: str
    make: Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Report:
    """Findings in the order of the checks."""

    findings: list[Finding] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Nothing is wrong; what was skipped stands on something that is."""
        return all(finding.state is not State.WRONG for finding in self.findings)

    def ok(self, check: str, says: str) -> None:
        self.findings.append(Finding(check, State.OK, says))

    def warn(self, check: str, says: str, do: str) -> None:
        self.findings.append(Finding(check, State.WARN, says, do))

    def wrong(self, check: str, says: str, do: str | None = None) -> None:
        self.findings.append(Finding(check, State.WRONG, says, do))

    def skip(self, why: str, *checks: str) -> None:
        self.findings.extend(Finding(check, State.SKIPPED, why) for check in checks)

    def offer(self, check: str, what: str, make: Callable[[], Awaitable[None]]) -> None:
        self.offers.append(Offer(check, what, make))

    @contextmanager
    def guarded(self, check: str, do: str | None = None) -> Iterator[None]:
        """A check that never ends in a stack trace.

        Args:
            do: what to do where the check raises one of our own errors and the error does not say it.
        """
        try:
            yield
        except LeadproofError as error:
            self.wrong(check, str(error), do)
        except Exception as error:  # one check that fails must not hide what the others find
            self.wrong(
                check, f"the check itself failed ({type(error).__name__})", "report it, with this line: it is our fault"
            )
