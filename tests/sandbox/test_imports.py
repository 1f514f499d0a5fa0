"""The sandbox knows nothing of the project it is a witness for."""

import subprocess
import sys

OURS = {"leadproof", "activities", "workflows", "workers", "starter", "console", "bench"}
WITNESS = """
import pkgutil, sys
import sandbox
for module in pkgutil.walk_packages(sandbox.__path__, "sandbox."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_nothing_of_ours_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", WITNESS], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "sandbox" in loaded
    assert loaded & OURS == set()
    assert loaded & {"hubspot", "anthropic"} == set()
