"""The lock files are what a new machine installs: they must cover what the project asks for, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].lower().replace("_", "-") for line in requirements}


def _locked(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_the_locks_hold_every_dependency_with_its_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, development = _locked("requirements.lock"), _locked("requirements-dev.lock")
    assert _names(project["dependencies"]) - _names(runtime) == set()
    assert _names(project["optional-dependencies"]["dev"]) - _names(development) == set()
    assert _names(runtime) - _names(development) == set()
    assert [line for line in (*runtime, *development) if "==" not in line] == []


def test_the_locks_name_no_place_to_install_from() -> None:
    text = "\n".join((*_locked("requirements.lock"), *_locked("requirements-dev.lock")))
    assert re.findall(r"https?://|file:|--index|--find-links|/\w+/\w+/", text) == []
