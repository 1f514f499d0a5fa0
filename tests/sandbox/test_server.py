"""The sandbox as a process of its own."""

import signal
import subprocess
import sys

import httpx


def test_process_prints_its_address_and_stops() -> None:
    command = [sys.executable, "-m", "sandbox", "--port", "0", "--portal-id", "77"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            with httpx.Client(base_url=address, trust_env=False) as client:
                assert client.get("/_sandbox/health").status_code == 200
                account = client.get("/hubspot/account-info/v3/details", headers={"authorization": "Bearer any"})
                assert account.json()["portalId"] == 77
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(10) in {0, -signal.SIGTERM}
        assert process.stdout.read() == ""
