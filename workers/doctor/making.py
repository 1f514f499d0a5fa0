"""Making a field that a target lacks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final

from leadproof.domain.diagnosis import FieldPresence, OurField, WantedField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.ports import CrmDiagnosis

_SEEN_WITHIN_SECONDS: Final = 60.0
"""A property that was made can be read after less than a second, others report; nobody promises it."""


async def make(examined: Callable[[], CrmDiagnosis], title: str, name: str, field: OurField | WantedField) -> None:
    """Make a field and wait until it is seen.

    Args:
        examined: opens the target.
        title: the target's name for people.
        name: the target's own name of the field.

    Raises:
        ConfigurationRefused: it was not made, or cannot be seen yet.
    """
    await asyncio.to_thread(_make, examined, title, name, field)


def _make(examined: Callable[[], CrmDiagnosis], title: str, name: str, field: OurField | WantedField) -> None:
    with closing(examined()) as diagnosis:
        diagnosis.create_field(field)
        deadline, pause = time.monotonic() + _SEEN_WITHIN_SECONDS, 0.25
        while diagnosis.presence_of(name) is not FieldPresence.LIVE:
            if time.monotonic() + pause > deadline:
                raise ConfigurationRefused(f"{title} made it and does not show it yet: look again in a minute")
            time.sleep(pause)  # what was made is seen a little later: ask again, bounded by the deadline
            pause = min(pause * 2, 5.0)
