"""What a decider is shown, as a digest that a decision can name."""

from __future__ import annotations

from leadproof.domain import keys
from leadproof.domain.mutation import Mutation
from leadproof.domain.review import ReviewItem

_SHOWN = ("base_state", "intended_state", "observed_state", "differences")


def shown_digest(item: ReviewItem, mutation: Mutation | None) -> str:
    """Digest of the question and of the states that it is about; another one means that what was shown has moved."""
    states = mutation.model_dump(mode="json", include=set(_SHOWN)) if mutation is not None else {}
    shown = {name: states.get(name) for name in _SHOWN}
    return keys.digest(["shown/1", item.review_id, str(item.version), shown])
