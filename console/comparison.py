"""What was intended beside what stands, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadproof.domain.mutation import Mutation

_COLUMNS = ("field", "stood", "intended", "observed", "changed_by", "changed_at")


def say_fields(mutations: Sequence[Mutation]) -> None:
    """Print the intended fields of effects beside what was last seen; nothing where there are none."""
    from console.tables import say, say_table
    from leadproof.domain.agreement import beside

    rows = [
        (mutation.mutation_key[:12], *(getattr(row, column) for column in _COLUMNS))
        for mutation in mutations
        for row in beside(mutation)
    ]
    if rows:
        say()
        say_table(("effect", *_COLUMNS), rows, title="Fields: before, as intended, and as last seen")
