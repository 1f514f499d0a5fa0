import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from console.child import Child
from console.process_identity import identity
from tests.console.commands import environment


def child(tmp_path: Path, code: str, grace: float = 5) -> Child:
    return Child("worker", [sys.executable, "-u", "-c", code], environment(), tmp_path / "worker.log", grace)


def wait_until_said(one: Child, line: str) -> None:
    deadline = time.monotonic() + 10
    while not one.says(line):
        assert time.monotonic() < deadline, one.last_words()
        time.sleep(0.01)


def test_it_is_told_to_stop_and_stops(tmp_path: Path) -> None:
    one = child(
        tmp_path, "import signal; signal.signal(signal.SIGTERM, lambda *_: exit(0)); print('up'); signal.pause()"
    )
    one.start()
    wait_until_said(one, "up")
    assert one.stop()
    assert one.status == 0


def test_it_is_killed_where_it_does_not_stop(tmp_path: Path) -> None:
    one = child(
        tmp_path,
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); signal.sigwait({signal.SIGUSR1})",
        grace=0.2,
    )
    one.start()
    wait_until_said(one, "up")
    assert not one.stop()
    assert one.status == -signal.SIGKILL


def test_its_last_words_are_those_of_this_start(tmp_path: Path) -> None:
    one = child(tmp_path, "import os; print('leadproof: first' if not os.path.exists('x') else 'other'); exit(2)")
    one.start()
    assert one._started().wait(10) == 2
    assert one.last_words() == "first"
    again = Child("worker", [sys.executable, "-c", ""], environment(), one.log, 5)
    again.start()
    assert again._started().wait(10) == 0
    assert again.last_words().startswith("it printed nothing")


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("signal.raise_signal(signal.SIGKILL)", "was ended by signal 9 (its log: {log})"),
        ("exit(0)", "ended with status 0 (its log: {log})"),
        ("exit('leadproof: the port is taken')", "ended with status 1: the port is taken"),
    ],
)
def test_its_last_words_are_quoted_where_it_failed_by_itself(tmp_path: Path, end: str, says: str) -> None:
    one = child(tmp_path, f"import signal; print('PlannerFailed: of another matter'); {end}")
    one.start()
    one._started().wait(10)
    assert one.how_it_ended() == says.format(log=one.log)


def test_pauses_double_until_it_has_run_steadily(tmp_path: Path) -> None:
    one = child(tmp_path, "")
    one.start()
    pauses = [one.next_pause(first=1, longest=3, steady=60) for _ in range(3)]
    assert pauses == [1, 2, 3]
    assert one.next_pause(first=1, longest=3, steady=0) == 1
    one.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next start ends what is left")
def test_it_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = """
import os, signal, sys, time
from pathlib import Path
from console.child import Child
command = [sys.executable, "-u", "-c", "import signal; print('up'); signal.pause()"]
one = Child("worker", command, os.environ, Path("log"), 5)
one.start()
while not one.says("up"):
    time.sleep(0.01)
print(one.pid, flush=True)
signal.pause()
"""
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    known = identity(pid)
    assert known is not None
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(5)
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while identity(pid) == known:
        assert time.monotonic() < deadline, "it outlived its parent"
        time.sleep(0.01)
