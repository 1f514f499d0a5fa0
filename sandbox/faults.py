"""Faults that wait for their request, and which of them a request meets."""

from collections.abc import Callable, Set
from dataclasses import asdict, dataclass, field
from typing import Any

from sandbox import fault_args

ANSWER_KINDS = (
    "drop_before_apply",
    "drop_after_apply",
    "delay",
    "apply_later",
    "trickle",
    "status",
    "status_after_apply",
    "garbage_after_apply",
    "rate_limit",
    "lock",
    "reject_auth",
)
COMPANION_KINDS = ("stale_read", "human_edit", "rewrite", "partial_batch")
KINDS = ANSWER_KINDS + COMPANION_KINDS

READS = frozenset({"read", "search"})
WRITES = frozenset({"write", "archive", "merge"})


@dataclass(slots=True)
class Fault:
    """One armed fault. The first `after` matching requests pass it by, the next `times` meet it."""

    provider: str
    operation: str
    kind: str
    times: int = 1
    after: int = 0
    match: str | None = None
    args: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is none of {', '.join(KINDS)}")
        if not (isinstance(self.times, int) and self.times > 0 and isinstance(self.after, int)):
            raise ValueError("times and after are whole numbers, times at least 1")
        fault_args.check(self.args)
        verb = self.operation.partition(".")[2]
        if self.kind == "stale_read" and verb not in READS:
            raise ValueError("stale_read is for reads and searches")
        if self.kind in {"rewrite", "partial_batch"} and verb != "write":
            raise ValueError(f"{self.kind} is for writes")
        if self.kind == "human_edit":
            if verb not in WRITES:
                raise ValueError("human_edit is for writes, archives and merges")
            if self.args.get("moment", "before_write") not in {"before_write", "after_write"}:
                raise ValueError("moment is before_write or after_write")
        if self.kind in {"human_edit", "rewrite"} and not isinstance(self.args.get("fields"), dict):
            raise ValueError(f"{self.kind} needs args.fields")
        if self.kind in {"status", "status_after_apply"} and "status" not in self.args:
            raise ValueError(f"{self.kind} needs args.status")
        self.args.setdefault("seconds", 1)
        if self.match is not None:
            self.match = str(self.match)

    @property
    def seconds(self) -> float:
        return float(self.args["seconds"])

    def meets(self, words: Set[str]) -> bool:
        return self.match is None or self.match in words or self.match.lower() in words


@dataclass(slots=True)
class Met:
    """The faults that one request meets: one that decides its answer, and one of each companion kind."""

    answer: Fault | None = None
    companions: dict[str, Fault] = field(default_factory=dict)


NOTHING = Met()


class Faults:
    def __init__(self) -> None:
        self._armed: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._armed.append(fault)

    def clear(self) -> None:
        self._armed.clear()

    def armed(self) -> list[dict[str, Any]]:
        return [asdict(fault) for fault in self._armed]

    def take(
        self, provider: str, operation: str | None, words: Callable[[], Set[str]], *, token: str, batch: bool
    ) -> Met:
        """The faults that this request meets, counted down.

        Args:
            provider: the provider that was called.
            operation: what the request does.
            words: every id and value that the request names, asked for only if a fault wants to know.
            token: the request's access token.
            batch: whether the request carries a batch.
        """
        if not self._armed:
            return NOTHING
        met = Met()
        named: Set[str] | None = None
        for fault in tuple(self._armed):
            if (fault.provider, fault.operation) != (provider, operation):
                continue
            if fault.args.get("token", token) != token or (fault.kind == "partial_batch" and not batch):
                continue
            if fault.match is not None:
                named = words() if named is None else named
                if not fault.meets(named):
                    continue
            if fault.after > 0:
                fault.after -= 1
            elif self._joins(met, fault):
                self._count_down(fault)
        return met

    def _joins(self, met: Met, fault: Fault) -> bool:
        if fault.kind in COMPANION_KINDS:
            return met.companions.setdefault(fault.kind, fault) is fault
        if met.answer is None:
            met.answer = fault
        return met.answer is fault

    def _count_down(self, fault: Fault) -> None:
        fault.times -= 1
        if fault.times <= 0:
            self._armed.remove(fault)
