"""The pinned policy of a run: read from the ledger once per version, since a version's text never changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.policy import Policy
from leadproof.looking import Rules
from leadproof.ports import Ledger

_LONG_ENOUGH = timedelta(minutes=15)


class Rulebook:
    """Policies by version.

    Args:
        parse: reads a policy's text.
        shadow_after: of the settings; how long after the plan a record is looked at in shadow mode.
        now: the policy that holds now, for what has to be told or asked under a version that can no longer be read.
    """

    def __init__(
        self,
        ledger: Ledger,
        parse: Callable[[str], Policy],
        shadow_after: timedelta = timedelta(0),
        *,
        now: Policy | None = None,
    ) -> None:
        self._ledger = ledger
        self._parse = parse
        self._shadow_after = shadow_after
        self._now = now
        self._known: dict[str, Policy] = {}

    def policy(self, version: str) -> Policy:
        """The policy of a version.

        Raises:
            PolicyRefused: the ledger does not hold this version, or its text can no longer be read.
        """
        known = self._known.get(version)
        if known is None:
            text = self._ledger.policy_text(version)
            if text is None:
                raise PolicyRefused(f"version {version!r} is not in the ledger")
            try:
                known = self._known[version] = self._parse(text)
            except PolicyRefused as error:
                raise PolicyRefused(f"version {version!r} in the ledger can no longer be read: {error.why}") from None
        return known

    def asking(self, version: str) -> Policy:
        """The policy by whose queues people are asked: of the version, or where that can't be read, the one of now.

        Raises:
            PolicyRefused: there is neither.
        """
        try:
            return self.policy(version)
        except PolicyRefused:
            if self._now is None:
                raise
            return self._now

    def readable(self, version: str) -> bool:
        try:
            self.policy(version)
        except PolicyRefused:
            return False
        return True

    def quiescence(self, version: str, target_system: str) -> timedelta:
        """How long a request of ours can still change a target, as the version says; where that can't be read, as the
        policy of now says, and at least a quarter of an hour."""
        if self.readable(version):
            return self.rules(version, target_system).target.quiescence
        target = self._now.targets.get(target_system) if self._now is not None else None
        return max(_LONG_ENOUGH, target.quiescence if target is not None else _LONG_ENOUGH)

    def rules(self, version: str, target_system: str) -> Rules:
        """What the boundary needs of a version for one target."""
        policy = self.policy(version)
        return Rules(
            policy=policy,
            target=policy.targets[target_system],
            specs=specs_for(policy, target_system),
            shadow_after=self._shadow_after,
        )
