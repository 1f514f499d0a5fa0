import random
import socket
import subprocess
import sys

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


def test_a_port_that_another_stack_has_chosen_is_not_given_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens there yet, so that only the lock can tell."""
    first, second, *_ = (port for port in random.sample(range(15_000, 30_000), 200) if free_ports.is_free(port))
    monkeypatch.setattr(random, "sample", lambda *_: [first, second])
    code = f"from console import free_ports; free_ports.random.sample = lambda *_: [{first}]; "
    code += "print(free_ports.any_free(set()), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert int(other.stdout.readline()) == first
        assert free_ports.any_free(set()) == second
        other.communicate(b"\n")


def test_a_port_that_was_wanted_and_is_free_is_kept_from_other_stacks_as_well() -> None:
    """The starter listens seconds after its port was chosen; until then another stack would find it free."""
    code = (
        "import random; from console.free_ports import claim, is_free; "
        "port = next(one for one in random.sample(range(15_000, 30_000), 200) if is_free(one)); "
        "print(claim(port, what='', option='', taken=set()), flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        assert free_ports.claim(port, what="", option="", taken=set(), any_port=True) != port
        with pytest.raises(ConfigurationRefused, match=f"port {port}"):
            free_ports.claim(port, what="the starter", option="--starter-port", taken=set())
        other.communicate(b"\n")
    assert free_ports.claim(port, what="", option="", taken=set()) == port
