"""How a command ends: a sentence for what was refused, and the pause that Temporal's client needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from console.tables import warn
from leadproof.domain.errors import (
    ConfigurationRefused,
    LeadproofError,
    LedgerOutdated,
    LedgerUnavailable,
    MalformedDecision,
    MalformedDelivery,
    NotFound,
    PolicyRefused,
)
from workers.refusals import refusal_of

REFUSED = 1
CONFIGURATION = 2

_PAUSE_SECONDS = 0.05


class CommandRefused(LeadproofError):
    """What was asked for was refused, or conflicts with what stands."""


_CONFIGURATION = (ConfigurationRefused, PolicyRefused, LedgerOutdated, LedgerUnavailable)
_REFUSED = (CommandRefused, NotFound, MalformedDecision, MalformedDelivery)


@contextmanager
def leaving() -> Iterator[None]:
    """The one way out of every command.

    What people can set right becomes one sentence and an exit status, also where a library says it in its own words;
    anything else is a fault of ours and keeps its traceback.
    """
    try:
        yield
    except _CONFIGURATION as error:
        _leave(error, CONFIGURATION)
    except _REFUSED as error:
        _leave(error, REFUSED)
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise
        _leave(refusal, CONFIGURATION)
    finally:
        if "temporalio.client" in sys.modules:
            # A process that ends right after its last call aborts in a fifth of the cases (temporalio/sdk-python#300)
            time.sleep(_PAUSE_SECONDS)


def _leave(error: LeadproofError, status: int) -> None:
    warn(f"leadproof: {error}")
    raise SystemExit(status) from None
