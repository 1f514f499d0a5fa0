"""Policy versions: their text is kept, and a key never moves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import RowMapping, insert, select, update

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_conditions import Fault
from leadproof.domain.policy_text import in_order, reread_policy
from leadproof.domain.scopes import moved_keys
from leadproof.ledger.tables import POLICY
from leadproof.ledger.transaction import Store, Transaction


class Policies(Store):
    """Every policy version that was ever loaded."""

    def load_policy(self, policy: Policy) -> None:
        """Keep a policy version's text.

        An older version that is loaded again is compared with the latest like any other: going back can move keys too.

        Raises:
            PolicyRefused: the same version stands with another text, or the scope history moves a key.
        """
        self._write(lambda tx: self._load(tx, policy))

    def policy_text(self, version: str) -> str | None:
        """The text of a version, byte for byte as it was loaded."""
        text: str | None = self._read(lambda tx: tx.value(select(POLICY.c.body).where(POLICY.c.version == version)))
        return text

    def policy_faults(self, policy: Policy) -> tuple[PolicyRefused, ...]:
        """Everything for which `load_policy` would refuse a policy; nothing is kept."""
        try:
            return self._read(lambda tx: _faults(policy, *self._standing(tx, policy), tx.now))
        except PolicyRefused as unreadable:
            return (unreadable,)

    def policy_versions(self, limit: int = 100) -> tuple[str, ...]:
        """The versions that were loaded, the latest first."""
        latest = select(POLICY.c.version).order_by(POLICY.c.loaded_at.desc(), POLICY.c.version.desc()).limit(limit)
        return self._read(lambda tx: tuple(row["version"] for row in tx.rows(latest)))

    def _load(self, tx: Transaction, policy: Policy) -> None:
        if tx.dialect == "postgresql":  # two that load at once would each compare with a policy that is past
            tx.connection.exec_driver_sql("LOCK TABLE policy IN SHARE ROW EXCLUSIVE MODE")
        known, latest = self._standing(tx, policy)
        for fault in _faults(policy, known, latest, tx.now):
            raise fault
        if latest is None or latest.version != policy.version:
            _keep(tx, policy, known=known is not None)

    def _standing(self, tx: Transaction, policy: Policy) -> tuple[str | None, Policy | None]:
        """The text that stands under the version, and the policy that was loaded last."""
        latest = tx.row(select(POLICY).order_by(POLICY.c.loaded_at.desc(), POLICY.c.version.desc()).limit(1))
        known = tx.value(select(POLICY.c.body).where(POLICY.c.version == policy.version))
        if latest is None or latest["body"] == policy.text:
            return known, policy if latest is not None else None
        return known, self._parsed(latest)

    def _parsed(self, row: RowMapping) -> Policy:
        parse = self._parse or reread_policy
        try:
            return parse(row["body"])
        except PolicyRefused as error:
            raise PolicyRefused(
                f"version {row['version']} in the ledger can no longer be read ({error.why}), so that its scopes cannot"
                " be compared"
            ) from None


def stored_policy(tx: Transaction, version: str, parse: Callable[[str], Policy]) -> Policy | None:
    """The policy of a version; `None` where it is not kept, or its text can no longer be read."""
    text = tx.value(select(POLICY.c.body).where(POLICY.c.version == version))
    try:
        return parse(text) if text is not None else None
    except PolicyRefused:
        return None


def _faults(policy: Policy, known: str | None, latest: Policy | None, now: datetime) -> tuple[PolicyRefused, ...]:
    found = [*moved_keys(latest.events, policy.events, now)] if latest is not None else []
    if known is not None and known != policy.text:
        why = f"version {policy.version} stands in the ledger with another text: a changed policy needs a new version"
        found.insert(0, Fault(("version",), why))
    return in_order(found, policy.text)


def _keep(tx: Transaction, policy: Policy, *, known: bool) -> None:
    if known:
        tx.run(update(POLICY).where(POLICY.c.version == policy.version).values(loaded_at=tx.now))
        return
    values = {"version": policy.version, "digest": policy.digest, "body": policy.text, "loaded_at": tx.now}
    tx.run(insert(POLICY), values)
