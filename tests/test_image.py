"""The Dockerfile, held against the project that it packs."""

import re
import tomllib

from tests.support.composed import ROOT, dockerfile


def test_the_image_holds_every_package_and_the_ignored_rest_stays_out() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {pattern.rstrip("*") for pattern in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    copied = {source.rstrip("/") for line in dockerfile() if line.word == "COPY" for source in line.copied[0]}
    assert packages < copied
    assert copied - packages == {"requirements.lock", "pyproject.toml", "README.md", "deploy/image"}
    assert all((ROOT / source).exists() for source in copied)
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert patterns[0] == "*"
    assert {pattern[1:] for pattern in patterns if pattern.startswith("!")} == copied
    assert patterns[-1] == "**/__pycache__"


def test_the_image_is_made_of_the_lock_and_leaves_the_tools_behind() -> None:
    lines = dockerfile()
    (builder, final) = ([line for line in lines if line.stage == stage] for stage in (0, 1))
    installed = [
        part for line in builder if line.word == "RUN" for part in line.rest.split(" && ") if " install " in part
    ]
    assert "--require-hashes" in installed[0]
    assert installed[0].endswith("-r requirements.lock")
    assert all("--require-hashes" in part or "--no-deps --no-build-isolation" in part for part in installed)
    words = {line.word: line.rest for line in final}
    assert "COPY" in words
    assert not any(tool in words["RUN"] for tool in (" install ", "apt", "curl", "gcc"))
    assert "pip uninstall" in words["RUN"]
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", words["USER"])
    assert words["ENTRYPOINT"] == '["leadproof"]'
    assert {line.rest.split()[0] for line in lines if line.word == "FROM"} == {"python:3.11-slim-bookworm"}
