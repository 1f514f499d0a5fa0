"""The words of the policies under which effects were planned, for showing their values to people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.field_catalog import CATALOG, specs_for
from leadproof.domain.fields import FieldSpec, FieldType

if TYPE_CHECKING:
    from leadproof.domain.mutation import Mutation
    from leadproof.ports import Ledger

_FIXED_CHOICE: Final = frozenset({FieldType.OWNER, FieldType.PICKLIST, FieldType.MULTI_PICKLIST, FieldType.BOOLEAN})


class _Words(NamedTuple):
    specs: Mapping[str, FieldSpec]
    owners: Mapping[str, str]


class Vocabulary:
    """Per target, the words of the newest policy.

    Args:
        effects: the newest first.
    """

    def __init__(self, ledger: Ledger, effects: Iterable[Mutation]) -> None:
        self._words: dict[str, _Words] = {}
        for effect in effects:
            if effect.target_system not in self._words:
                self._words[effect.target_system] = _words(ledger, effect)

    def has_fixed_choice(self, system: str, field: str) -> bool:
        """Whether a field's values are chosen from a list, so that none of them can be what a lead wrote."""
        spec = self._words[system].specs.get(field) if system in self._words else None
        return spec is not None and spec.type in _FIXED_CHOICE

    def spoken(self, system: str, field: str, value: Any) -> str:
        """A value for people: an owner with the policy's name of it, and nothing as `(empty)`."""
        return "(empty)" if value is None else str(self.named(system, field, value))

    def named(self, system: str, field: str, value: Any) -> Any:
        """An owner with the policy's name of it; any other value as it is."""
        words = self._words.get(system)
        spec = words.specs.get(field) if words is not None else None
        if words is None or spec is None or spec.type is not FieldType.OWNER or value not in words.owners:
            return value
        return f"{value} ({words.owners[value]})"


def _words(ledger: Ledger, effect: Mutation) -> _Words:
    from leadproof.domain.policy_text import reread_policy
    from leadproof.rulebook import Rulebook

    system = effect.target_system
    try:
        policy = Rulebook(ledger, reread_policy).policy(effect.policy_version)
    except PolicyRefused:  # not kept, or written for rules that have become stricter: values are shown as they are
        return _Words(CATALOG, {})
    return _Words(specs_for(policy, system), policy.owner_names(system))
