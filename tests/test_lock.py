"""The lock files are what a new machine installs: they must cover what the project asks for, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ovillo.model.extras import ADAPTERS, EXTRAS

ROOT = Path(__file__).resolve().parent.parent


def _names(requirements: list[str]) -> set[str]:
    names = (re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in requirements)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}


def _locked(name: str) -> list[str]:
    return [line.removesuffix(" \\") for line in _blocks(name)]


def _blocks(name: str) -> dict[str, list[str]]:
    """Requirements of a lock file with the digests below each."""
    blocks: dict[str, list[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("    --hash="):
            blocks[next(reversed(blocks))].append(line.strip().removesuffix(" \\"))
        elif line.strip() and not line.startswith("#"):
            blocks[line] = []
    return blocks


LOCKS = (
    "requirements.lock",
    "requirements-extras.lock",
    "requirements-dev.lock",
    "requirements-build.lock",
    "requirements-adapters.lock",
    "requirements-installers.lock",
)
#: Extras that bring an SDK: they are tested in an environment of their own.
SDKS = {extra.name for extra in ADAPTERS}


def test_the_locks_hold_every_dependency_with_its_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, extras, development = (_locked(name) for name in LOCKS[:3])
    assert _names(project["dependencies"]) - _names(runtime) == set()
    optional = project["optional-dependencies"]
    assert (
        _names([line for name in optional.keys() - SDKS - {"dev"} for line in optional[name]]) - _names(extras) == set()
    )
    assert _names(optional["dev"]) - _names(development) == set()
    assert set(runtime) <= set(extras) <= set(development)
    assert [line for line in development if "==" not in line] == []
    beside = _locked("requirements-adapters.lock")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    asked = [*(line for name in SDKS for line in optional[name]), *groups["adapters"], *project["dependencies"]]
    assert _names(asked) - _names(beside) == set()


@pytest.mark.requirement("SUPPLY-5")
def test_what_the_code_calls_an_extra_is_one_of_the_package_and_is_not_installed_by_default() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra.name for extra in (*EXTRAS, *ADAPTERS)} == project["optional-dependencies"].keys() - {"dev"}
    by_default = _names(_locked("requirements.lock"))
    # The MCP SDK requires what jwt asks for.
    asked = [
        line
        for extra in (*EXTRAS, *ADAPTERS)
        if extra.name != "jwt"
        for line in project["optional-dependencies"][extra.name]
    ]
    assert _names(asked) & by_default == set()


def test_the_locks_name_no_place_to_install_from() -> None:
    text = "\n".join(line for name in LOCKS for line in _locked(name))
    assert re.findall(r"https?://|file:|--index|--find-links|/\w+/\w+/", text) == []


@pytest.mark.requirement("SUPPLY-1")
@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_digests(name: str) -> None:
    bare = [line for line, digests in _blocks(name).items() if not digests]
    assert bare == []
    assert {digest[:14] for digests in _blocks(name).values() for digest in digests} == {"--hash=sha256:"}


def test_setting_up_checks_the_digests_and_builds_with_nothing_else() -> None:
    installs = [
        line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "$(PIP) install" in line
    ]
    unchecked = [line for line in installs if "--require-hashes" not in line]
    assert len(installs) == 4
    assert ["--no-deps" in line and "--no-build-isolation" in line for line in unchecked] == [True]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert _names(project["build-system"]["requires"]) - _names(_locked("requirements-build.lock")) == set()


@pytest.mark.parametrize(
    "place", ["Makefile", "README.md", "Dockerfile", "docs/reference/dependencies.md", "docs/reference/extras.md"]
)
def test_a_lock_is_installed_as_it_stands_whatever_is_released_later(place: str) -> None:
    """pip 23 looks up what a locked package wants with an extra (``coverage[toml]``) once more, and refuses the newest release it finds."""
    text = (ROOT / place).read_text(encoding="utf-8")
    installs = re.findall(r"install [^\n`&]*--require-hashes[^\n`&]*", text)
    assert installs
    assert [line for line in installs if "--no-deps" not in line] == []


@pytest.mark.requirement("SUPPLY-2")
def test_every_dependency_ends_below_a_release_that_may_break_us() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(line for extra in project["project"]["optional-dependencies"].values() for line in extra),
        *(line for group in project["dependency-groups"].values() for line in group),
    ]
    assert [line for line in asked if "==" not in line and "<" not in line] == []


@pytest.mark.requirement("SUPPLY-3")
def test_the_page_of_dependencies_names_every_locked_package_with_publisher_and_licence() -> None:
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")
    rows = {
        row[1].strip().strip("`"): row[2:-1] for row in (line.split("|") for line in page.splitlines() if "| `" in line)
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sdks = _names([line for name in SDKS for line in project["optional-dependencies"][name]])
    assert set(rows) == _names(_locked("requirements-extras.lock")) | sdks
    assert [name for name, cells in rows.items() if not all(cell.strip() for cell in cells)] == []
