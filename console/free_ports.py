"""Ports of this machine: which are free, and a sentence where one is not."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import Final

from leadproof.domain.errors import ConfigurationRefused

_FROM, _TO = 15_000, 30_000
"""Below the ports that systems give to outgoing connections, which could take a free one before its process does."""

HOST = "127.0.0.1"

_HELD: Final[dict[int, int]] = {}
"""Ports that this process has given away, with the descriptors of their locks; they are closed when it ends."""


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a closed connection that lingers takes nothing
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _hold(port: int) -> bool:
    """Keep other stacks of this machine from the port: between its choice and its use lie seconds."""
    folder = Path(tempfile.gettempdir()) / f"leadproof-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(folder / str(port), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    _HELD[port] = lock
    return True


def any_free(taken: set[int]) -> int:
    """A port that is free now and not in `taken`, to which it is added."""
    for port in random.sample(range(_FROM, _TO), 200):
        if port not in taken and _hold(port) and is_free(port):
            taken.add(port)
            return port
    raise ConfigurationRefused(f"no free port between {_FROM} and {_TO} was found on {HOST}")


def claim(port: int, *, what: str, option: str, taken: set[int], any_port: bool = False) -> int:
    """The wanted port, or any free one for 0.

    Args:
        port: the wanted port.
        what: who would listen on it.
        option: the option that chooses another.
        taken: ports already given away; the answer is added.
        any_port: take any free one instead of a taken one.

    Raises:
        ConfigurationRefused: something else listens there, or another stack of this machine is about to.
    """
    if port == 0:
        return any_free(taken)
    if port in taken or not (port in _HELD or _hold(port)) or not is_free(port):
        if any_port:
            return any_free(taken)
        raise ConfigurationRefused(
            f"port {port}, where {what} would listen, is taken; stop what listens there or choose another with "
            f"{option} (0 takes any free port)"
        )
    taken.add(port)
    return port
