"""`python -m workers`: one worker with the settings of the environment."""

from __future__ import annotations

import asyncio
import sys
import time

from leadproof import settings
from leadproof.domain.errors import LeadproofError
from workers import lifecycle
from workers.refusals import refusal_of

REFUSED = 2

if __name__ == "__main__":
    try:
        asyncio.run(lifecycle.run(settings.load()))
    except Exception as error:
        refusal = error if isinstance(error, LeadproofError) else refusal_of(error)
        if refusal is None:
            raise
        sys.stderr.write(f"leadproof worker: {refusal}\n")
        raise SystemExit(REFUSED) from None
    finally:
        time.sleep(0.05)  # the SDK's threads: a process that leaves at once can abort (temporalio/sdk-python#300)
