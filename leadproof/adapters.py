"""The CRMs of a worker, each speaking the language of the policy that a mutation is pinned to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from leadproof.domain.policy import Policy
from leadproof.ports import Crm

Make = Callable[[str, Policy], Crm]
"""Makes the adapter of a system for a policy that names it as a target."""


class Adapters:
    """Adapters by system and policy.

    Which property a field is written to, and how long a call may take, the policy says that the plan was made under. A
    worker runs with one policy and meets mutations of older ones: an approval can come after the next was loaded.

    Args:
        current: the adapters of the worker's own policy.
        policy: that policy.
        make: makes an adapter for another one; without it, or without a policy, there are only the current ones.
    """

    def __init__(self, current: Mapping[str, Crm], policy: Policy | None = None, make: Make | None = None) -> None:
        self._current = current
        self._policy = policy
        self._make = make
        self._lock = threading.Lock()
        self._others: dict[tuple[str, str], Crm] = {}

    def of(self, system: str, policy: Policy) -> Crm | None:
        """The adapter of a system for a policy; `None` where there is none for it.

        Raises:
            PolicyRefused: an older policy names a system that this worker cannot open any more.
        """
        wanted = _language(policy, system)
        if self._make is None or wanted is None or (self._policy and wanted == _language(self._policy, system)):
            return self._current.get(system)
        with self._lock:
            made = self._others.get((system, wanted))
            if made is None:
                made = self._others[system, wanted] = self._make(system, policy)
        return made


def _language(policy: Policy, system: str) -> str | None:
    """What of a policy an adapter is made of; `None` where the system is none of its targets."""
    target = policy.targets.get(system)
    parts = {"fields", "connect_timeout_seconds", "call_timeout_seconds"}
    return target.model_dump_json(include=parts) if target is not None else None
