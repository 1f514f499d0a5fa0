"""Work that never ends is left behind, and nothing that it wrote to the standard error is seen."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from leadproof.domain.errors import ConfigurationRefused
from workers.abandoned import finished

PANIC = b"thread 'tokio-rt-worker' (7) panicked at src/replay.rs:172:22:\n"


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_what_work_brings_and_raises_comes_through(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        os.write(2, b"a word of the core\n")
        return 5

    def fails() -> int:
        raise KeyError("x")

    assert await finished(work, seconds=30, what="the work") == 5
    with pytest.raises(KeyError):
        await finished(fails, seconds=30, what="the work")
    os.write(2, b"ours\n")
    assert capfd.readouterr().err == "ours\n"


async def test_work_that_never_ends_is_left_behind(never: threading.Event) -> None:
    with pytest.raises(ConfigurationRefused, match=r"^the work did not come to an end within 0\.05 s$"):
        await finished(never.wait, seconds=0.05, what="the work")


async def test_a_panic_is_not_waited_for_and_not_seen(
    never: threading.Event, capfd: pytest.CaptureFixture[str]
) -> None:
    def panics() -> None:
        os.write(2, PANIC)
        never.wait(0.05)
        os.write(2, b"stack backtrace:\n")
        never.wait()

    with pytest.raises(ConfigurationRefused, match=r"^the work is not possible: Temporal's core cannot read"):
        await finished(panics, seconds=30, what="the work")
    assert capfd.readouterr().err == ""
