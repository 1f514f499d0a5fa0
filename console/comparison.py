"""What was intended beside what stands, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.vocabulary import Vocabulary
    from leadproof.domain.mutation import Mutation

_VALUES = ("stood", "intended", "observed")


def say_fields(mutations: Sequence[Mutation], words: Vocabulary) -> None:
    """Print the intended fields of effects beside what was last seen; nothing where there are none."""
    from console.moments import in_seconds
    from console.tables import say, say_table
    from leadproof.domain.agreement import beside

    rows = [
        (
            mutation.mutation_key[:12],
            row.field,
            *(words.named(mutation.target_system, row.field, getattr(row, column)) for column in _VALUES),
            row.changed_by,
            in_seconds(row.changed_at),
        )
        for mutation in mutations
        for row in beside(mutation)
    ]
    if rows:
        say()
        columns = ("effect", "field", *_VALUES, "changed_by", "changed_at")
        say_table(columns, rows, title="Fields: before, as intended, and as last seen")
