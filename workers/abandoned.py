"""Work in Temporal's core that may never end: it is waited for until a deadline, and then left behind.

Where the core panics, whoever waits for it is not told, and cancelling waits for the core as well. Only what the core
writes to the standard error says that nothing will come.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import IO, Final, TypeVar

from leadproof.domain.errors import ConfigurationRefused

T = TypeVar("T")

_PANICKED: Final = b"panicked at"  # how Rust begins the message of a panic
_LOOK_SECONDS: Final = 0.02
_SETTLED_SECONDS: Final = 0.2
_STDERR: Final = 2
_BACKTRACE: Final = "RUST_BACKTRACE"


async def finished(work: Callable[[], T], *, seconds: float, what: str) -> T:
    """What work brings that runs in a thread of its own; the standard error is caught meanwhile and forgotten.

    A thread that is left behind ends with the process, so this is for commands that end soon.

    Args:
        seconds: how long it may take.
        what: what is said not to have come to an end, or not to be possible.

    Raises:
        ConfigurationRefused: the core panicked, or the time is over.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # a panic that comes through is no `Exception`
            future.set_exception(error)

    with _standard_error_caught() as caught:
        threading.Thread(target=run, daemon=True).start()
        deadline = time.monotonic() + seconds
        while not future.done():
            if _PANICKED in _written(caught):
                await _silence(caught)
                raise ConfigurationRefused(f"{what} is not possible: Temporal's core cannot read this history")
            if time.monotonic() > deadline:
                raise ConfigurationRefused(f"{what} did not come to an end within {seconds:g} s")
            await asyncio.sleep(_LOOK_SECONDS)
    return future.result()


async def _silence(caught: IO[bytes]) -> None:
    """Wait until a panic has been written to its end."""
    before, now = b"", _written(caught)
    while before != now:
        await asyncio.sleep(_SETTLED_SECONDS)
        before, now = now, _written(caught)


def _written(caught: IO[bytes]) -> bytes:
    return os.pread(caught.fileno(), os.fstat(caught.fileno()).st_size, 0)


@contextmanager
def _standard_error_caught() -> Iterator[IO[bytes]]:
    """The core writes to the file descriptor, past `sys.stderr`."""
    with tempfile.TemporaryFile() as caught, _no_backtrace():
        if sys.stderr is None:  # it was closed, so that its number can be anybody's
            yield caught
            return
        kept = os.dup(_STDERR)
        os.dup2(caught.fileno(), _STDERR)
        try:
            yield caught
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)


@contextmanager
def _no_backtrace() -> Iterator[None]:
    """Nobody sees the backtrace, and a busy machine takes longer to find its names than is waited here."""
    kept = os.environ.get(_BACKTRACE)
    os.environ[_BACKTRACE] = "0"
    try:
        yield
    finally:
        os.environ.pop(_BACKTRACE)
        if kept is not None:
            os.environ[_BACKTRACE] = kept
