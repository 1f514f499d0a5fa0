"""What an older event may no longer write: a field that a newer event's effect has set to something else.

The base does not tell it. Where the older event is read after the newer one was carried out, what it would overwrite is
part of what its plan stands on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadproof.domain.comparison import compare, same
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Difference
from leadproof.domain.records import FoundRecord

Specs = Mapping[str, FieldSpec]


def overtaken_in(intended: Mapping[str, Any], newer: Mapping[str, Any], specs: Specs) -> frozenset[str]:
    """The fields of an intent that newer effects of the record have set to another value.

    Args:
        newer: field to value, of newer events' observed effects.
    """
    both = intended.keys() & newer.keys()
    return frozenset(name for name in both if not same(specs.get(name, FieldSpec()), newer[name], intended[name]))


def overtaken(
    intended: Mapping[str, Any], newer: Mapping[str, Any], record: FoundRecord, specs: Specs
) -> tuple[Difference, ...]:
    """The differences in those fields; none where the record stands at the intent all the same."""
    fields = overtaken_in(intended, newer, specs)
    return compare({name: intended[name] for name in fields}, record.fields, specs, record.history)
