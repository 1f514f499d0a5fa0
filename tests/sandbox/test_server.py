"""The sandbox as a process of its own."""

import signal
import subprocess
import sys
import threading

import httpx
import pytest

from tests.sandbox.control import AUTHORIZED, CONTACTS, eventually

PERSON = {"provider": "hubspot", "object": "contacts", "user": "9002"}


@pytest.mark.stack
def test_process_prints_its_address_and_stops_at_once() -> None:
    command = [sys.executable, "-m", "sandbox", "--port", "0", "--portal-id", "77"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            with httpx.Client(base_url=address, headers=AUTHORIZED, trust_env=False) as client:
                account = client.get("/hubspot/account-info/v3/details")
                assert account.json()["portalId"] == 77
                waiting = _wait_for_an_answer_that_takes_an_hour(client)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(10) in {0, -signal.SIGTERM}
        said, complained = process.communicate()
        assert said == ""
        assert "Traceback" not in complained
        waiting.join()


@pytest.mark.stack
def test_a_new_start_gives_ids_that_no_earlier_one_gave_unless_told_to() -> None:
    (first, second), (third, fourth) = (_ids_of_a_start() for _ in range(2))
    assert (second, fourth) == (first + 1, third + 1)
    assert third > second
    again = first - 1
    assert _ids_of_a_start("--first-id", str(again)) == [again, first]


def _ids_of_a_start(*given: str) -> list[int]:
    command = [sys.executable, "-m", "sandbox", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            with httpx.Client(base_url=process.stdout.readline().strip(), trust_env=False) as client:
                made = [client.put("/_sandbox/records", json=PERSON | {"properties": {}}) for _ in range(2)]
                return [int(answer.json()["id"]) for answer in made]
        finally:
            process.send_signal(signal.SIGTERM)


def _wait_for_an_answer_that_takes_an_hour(client: httpx.Client) -> threading.Thread:
    fault = {"provider": "hubspot", "operation": "contacts.read", "kind": "delay", "args": {"seconds": 3600}}
    assert client.post("/_sandbox/faults", json=fault).status_code == 201
    waiting = threading.Thread(target=_read, args=(str(client.base_url),))
    waiting.start()
    eventually(lambda: len(client.get("/_sandbox/requests").json()) == 2)
    return waiting


def _read(address: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{address}{CONTACTS}", headers=AUTHORIZED, trust_env=False, timeout=30)
