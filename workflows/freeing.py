"""Which of the mutations that wait for a record may ask for it again: what frees one is not used up by another."""

from __future__ import annotations


class Freeing:
    """Counts the signals that say that a record is free, since none says which."""

    def __init__(self) -> None:
        self._signals = 0
        self._asked_after: dict[str, int] = {}

    def freed(self) -> None:
        """A record was freed."""
        self._signals += 1

    def asks(self, *mutation_keys: str) -> None:
        """Mutations ask for their records; what was freed until now is no reason to ask again."""
        self._asked_after.update(dict.fromkeys(mutation_keys, self._signals))

    def since(self, mutation_key: str) -> bool:
        """Whether a record was freed since a mutation asked for its own."""
        return self._signals > self._asked_after.get(mutation_key, 0)
