"""What a parser makes of one event of a delivery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadproof.domain.events import SourceEvent


@dataclass(frozen=True, slots=True)
class Usable:
    """A lead event; whether this deployment handles its kind is the policy's question."""

    body: Any
    event: SourceEvent


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that is no event of a lead record: deliberately acknowledged and left alone."""

    body: Any
    kind: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """An event that is none: kept in quarantine with its reason while its neighbours proceed."""

    body: Any
    why: str


Reading = Usable | Ignored | Unusable
Readings = Sequence[Reading]
"""In the order of the delivery; `body` is the event as it came."""
