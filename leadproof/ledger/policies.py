"""Policy versions: their text is kept, and a key never moves."""

from __future__ import annotations

from sqlalchemy import RowMapping, insert, select, update

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.scopes import check_scopes
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

    def _load(self, tx: Transaction, policy: Policy) -> None:
        if tx.dialect == "postgresql":  # two that load at once would each compare with a policy that is past
            tx.connection.exec_driver_sql("LOCK TABLE policy IN SHARE ROW EXCLUSIVE MODE")
        latest = tx.row(select(POLICY).order_by(POLICY.c.loaded_at.desc(), POLICY.c.version.desc()).limit(1))
        standing = tx.value(select(POLICY.c.body).where(POLICY.c.version == policy.version))
        if standing is not None and standing != policy.text:
            raise PolicyRefused(
                f"version {policy.version} stands in the ledger with another text: a changed policy needs a new version"
            )
        if latest is None or latest["version"] != policy.version:
            if latest is not None:
                check_scopes(self._parsed(latest).events, policy.events, tx.now)
            _keep(tx, policy, known=standing is not None)

    def _parsed(self, row: RowMapping) -> Policy:
        parse = self._parse or parse_policy
        try:
            return parse(row["body"])
        except PolicyRefused as error:
            raise PolicyRefused(
                f"version {row['version']} in the ledger can no longer be read ({error.why}), so that its scopes cannot"
                " be compared"
            ) from None


def _keep(tx: Transaction, policy: Policy, *, known: bool) -> None:
    if known:
        tx.run(update(POLICY).where(POLICY.c.version == policy.version).values(loaded_at=tx.now))
        return
    values = {"version": policy.version, "digest": policy.digest, "body": policy.text, "loaded_at": tx.now}
    tx.run(insert(POLICY), values)
