"""A lead or an effect that this worker's ledger does not know."""

from __future__ import annotations

from temporalio.exceptions import ApplicationError

from activities.names import UNKNOWN_TO_LEDGER


def unknown(what: str) -> ApplicationError:
    """To be raised, and tried again: rows never leave a ledger, so that the run belongs to another one, whose worker
    may get it next; one that was started by hand with a key of nobody's is tried in vain until its time is over."""
    return ApplicationError(
        f"the ledger of this worker knows no such {what}: either its run was started by hand with a wrong key, or it "
        "belongs to another deployment in this Temporal namespace, where each ledger needs a namespace of its own",
        type=UNKNOWN_TO_LEDGER,
    )
