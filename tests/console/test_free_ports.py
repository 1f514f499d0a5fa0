import socket

import pytest

from console import free_ports
from leadproof.domain.errors import ConfigurationRefused


def test_a_taken_port_is_named_with_what_to_do() -> None:
    with socket.create_server((free_ports.HOST, 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigurationRefused, match=rf"port {port}.*the starter.*--starter-port"):
            free_ports.claim(port, what="the starter", option="--starter-port", taken=set())


def test_a_taken_port_gives_way_to_a_free_one_where_any_will_do() -> None:
    with socket.create_server((free_ports.HOST, 0)) as listener:
        port = listener.getsockname()[1]
        assert free_ports.claim(port, what="", option="", taken=set(), any_port=True) != port


def test_two_processes_are_never_given_one_port() -> None:
    taken: set[int] = set()
    given = [free_ports.claim(0, what="", option="", taken=taken) for _ in range(20)]
    assert len(set(given)) == 20
    with pytest.raises(ConfigurationRefused):
        free_ports.claim(given[0], what="the sandbox", option="--sandbox-port", taken=taken)
