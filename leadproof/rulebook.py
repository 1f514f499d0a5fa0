"""The pinned policy of a run: read from the ledger once per version, since a version's text never changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.policy import Policy
from leadproof.looking import Rules
from leadproof.ports import Ledger


class Rulebook:
    """Policies by version.

    Args:
        parse: reads a policy's text.
        shadow_after: of the settings; how long after the plan a record is looked at in shadow mode.
    """

    def __init__(self, ledger: Ledger, parse: Callable[[str], Policy], shadow_after: timedelta = timedelta(0)) -> None:
        self._ledger = ledger
        self._parse = parse
        self._shadow_after = shadow_after
        self._known: dict[str, Policy] = {}

    def policy(self, version: str) -> Policy:
        """The policy of a version.

        Raises:
            PolicyRefused: the ledger does not hold this version.
        """
        known = self._known.get(version)
        if known is None:
            text = self._ledger.policy_text(version)
            if text is None:
                raise PolicyRefused(f"version {version!r} is not in the ledger")
            known = self._known[version] = self._parse(text)
        return known

    def rules(self, version: str, target_system: str) -> Rules:
        """What the boundary needs of a version for one target."""
        policy = self.policy(version)
        return Rules(
            policy=policy,
            target=policy.targets[target_system],
            specs=specs_for(policy, target_system),
            shadow_after=self._shadow_after,
        )
