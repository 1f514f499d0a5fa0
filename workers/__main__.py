"""`python -m workers`: one worker with the settings of the environment."""

from __future__ import annotations

import asyncio

from leadproof import settings
from workers import lifecycle

if __name__ == "__main__":
    asyncio.run(lifecycle.run(settings.load()))
