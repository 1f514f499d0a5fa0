"""What the name of an environment says: a deployment in shadow mode, and all of its rows, are known by it."""

from __future__ import annotations

SHADOW = "shadow"


def is_shadow(environment: str) -> bool:
    """Whether an environment is one of shadow mode, in which nothing is ever written.

    The name is part of every key and stands in every row, so that no row can change sides: a shadow row stays one
    whoever reads it.
    """
    return SHADOW in environment
