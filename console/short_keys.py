"""Keys as people copy them: whole, or their first digits."""

from __future__ import annotations

import re
from collections.abc import Callable

from console.leaving import CommandRefused

KEY_DIGITS = 64
SHOWN_DIGITS = 12
"""So many digits of a key stand in a list."""

_BEGINNING = re.compile(r"[0-9a-f]{6,63}")
_TOO_SHORT = re.compile(r"[0-9a-f]{1,5}")


def short(key: str | None) -> str | None:
    """A key as lists show it."""
    return key[:SHOWN_DIGITS] if key is not None else None


def whole(key: str, keys_like: Callable[[str], tuple[str, ...]]) -> str:
    """The key that begins like this; what is no beginning of a known key is answered as it is.

    Args:
        keys_like: the ledger's; at most two keys that begin like this.

    Raises:
        CommandRefused: several keys begin like this, or too few digits are given.
    """
    if _TOO_SHORT.fullmatch(key) is not None:
        raise CommandRefused(f"{key} is too short for a key; give six digits at least")
    if _BEGINNING.fullmatch(key) is None:
        return key
    found = keys_like(key)
    if len(found) > 1:
        raise CommandRefused(f"several keys begin with {key}; give more of its 64 digits")
    return found[0] if found else key
