"""Percentiles, and how far a ratio of two of them can be trusted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import median

_RESAMPLES = 2000


def percentile(samples: Sequence[float], share: float) -> float:
    """The value that `share` of the samples do not exceed; between two samples by proportion."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def ratio(ours: Sequence[float], theirs: Sequence[float], share: float) -> float:
    return percentile(ours, share) / percentile(theirs, share)


def ratio_range(ours: Sequence[float], theirs: Sequence[float], share: float) -> tuple[float, float]:
    """Where the ratio of two percentiles lies in 90 of 100 cases, by drawing both samples again and again."""
    chance = random.Random(0)  # noqa: S311
    drawn = sorted(
        ratio(chance.choices(ours, k=len(ours)), chance.choices(theirs, k=len(theirs)), share)
        for _ in range(_RESAMPLES)
    )
    return percentile(drawn, 0.05), percentile(drawn, 0.95)


def median_of(samples: Sequence[float]) -> float:
    return float(median(samples))
