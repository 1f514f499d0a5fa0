"""Which accounts may be written to: only those that are named, for this one run."""

from __future__ import annotations

from typing import Final

from leadproof.domain.errors import ConfigurationRefused, MalformedValue
from leadproof.domain.salesforce_ids import salesforce_id

VARIABLE: Final = "LEADPROOF_LIVE"
_EXAMPLE: Final = f"{VARIABLE}=hubspot:PORTAL_ID,salesforce:ORGANIZATION_ID"


def named_accounts(text: str, known: tuple[str, ...]) -> dict[str, str]:
    """System to the account that may be written to.

    Args:
        text: `SYSTEM:ACCOUNT`, comma-separated.

    Raises:
        ConfigurationRefused: in one sentence, what is wrong with it.
    """
    accounts: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, separator, account = (part.strip() for part in entry.partition(":"))
        if not separator or not account:
            raise ConfigurationRefused(f"{VARIABLE} has to name the account that may be written to: {_EXAMPLE}")
        if name not in known:
            raise ConfigurationRefused(f"{VARIABLE} names {name!r}, and there are only {', '.join(known)}")
        if name in accounts:
            raise ConfigurationRefused(f"{VARIABLE} names {name} twice")
        accounts[name] = _whole(name, account)
    return accounts


def _whole(name: str, account: str) -> str:
    if name != "salesforce":
        return account
    try:
        return salesforce_id(account, prefix="00D")
    except MalformedValue:
        raise ConfigurationRefused(f"{VARIABLE} names no organization of Salesforce: its id begins with 00D") from None


def check_account(title: str, named: str, opened: str) -> None:
    """Refuse to go on where the credentials open another account than the one that was named.

    Raises:
        ConfigurationRefused: naming both.
    """
    if named != opened:
        raise ConfigurationRefused(
            f"{VARIABLE} names {title} account {named} and the credentials open {opened}; nothing was written"
        )
