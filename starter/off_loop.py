"""The ledger's calls block; they run in threads of their own and are waited for only so long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from leadproof.domain.errors import LedgerUnavailable

PATIENCE_SECONDS: Final = 2.0
"""HubSpot waits 5 s for a whole batch; past this the starter answers 503 and the source delivers again."""

_THREADS: Final = CapacityLimiter(20)

T = TypeVar("T")


async def off_loop(call: Callable[[], T], *, patience_seconds: float = PATIENCE_SECONDS) -> T:
    """Run a blocking ledger call in a thread.

    A call that is given up may still be committed; every call of the starter can be made again.

    Raises:
        LedgerUnavailable: no answer in time.
    """
    try:
        with anyio.fail_after(patience_seconds):
            return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=_THREADS)
    except TimeoutError:
        raise LedgerUnavailable(f"the ledger did not answer within {patience_seconds:g} s") from None
