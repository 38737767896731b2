"""The wheel: everything is in it, and it works where nothing of this checkout is."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo import __version__
from ovillo.model.extras import EXTRAS
from tests.packages.stranger import Stranger

ROOT = Path(__file__).parents[2]
#: Set by continuous integration: there has to be a package index.
_INSTALLS = "OVILLO_REQUIRE_INSTALLS"
#: Other Pythons that are not on the path, with colons.
_PYTHONS = "OVILLO_PYTHONS"

#: ``make installers``, else those on the path.
_PATH = f"{ROOT / '.venv-installers' / 'bin'}:{os.environ['PATH']}"

installs = pytest.mark.skipif(_INSTALLS not in os.environ, reason=f"installs from a package index: set {_INSTALLS}=1")


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = [each for each in packed.namelist() if each.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(packed.read(name))


@pytest.mark.requirement("PACK-8")
def test_the_wheel_carries_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    """Also data that is added tomorrow: what lies in the folder is what is compared."""
    source = ROOT / "src" / "ovillo"
    there = {
        path.relative_to(source.parent).as_posix(): path.read_bytes()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as packed:
        carried = {name: packed.read(name) for name in packed.namelist() if ".dist-info/" not in name}
    assert sorted(there.keys() ^ carried.keys()) == []
    assert [name for name in there if there[name] != carried[name]] == []
    kinds = {Path(name).suffix for name in carried}
    assert {".sql", ".html", ".css", ".tsv"} - kinds == set(), "the sample itself has become thin"


@pytest.mark.requirement("PACK-8")
def test_the_wheel_says_its_version_licence_and_extras(wheel: Path) -> None:
    told = metadata(wheel)
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("ovillo", __version__, "Apache-2.0")
    assert sorted(told.get_all("License-File", [])) == ["LICENSE", "NOTICE"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(told.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    assert {extra.name for extra in EXTRAS} <= set(told.get_all("Provides-Extra", []))
    assert "<!-- mcp-name: " in str(told.get_payload()), "the MCP registry reads there whose the package is"


@pytest.mark.requirement("PACK-9")
def test_the_wheel_works_in_an_environment_where_nothing_of_the_checkout_is(
    wheel: Path, fixtures: Path, tmp_path: Path
) -> None:
    """Its dependencies are lent by the environment of the tests, so that nobody is asked for anything."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            str(wheel),
        ],
        check=True,
    )
    (packages,) = (environment / "lib").glob("python*/site-packages")
    lent = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "lent.pth").write_text(lent + "\n")
    home = tmp_path / "home"
    home.mkdir()
    stranger = Stranger([str(environment / "bin" / "ovillo")], home, {"OVILLO_EMBEDDER": "none"})
    checks = stranger.tries_everything(fixtures)
    assert f"{environment}" in checks["Python"]["detail"]
    assert checks["installation"]["detail"] == f"ovillo {__version__}, with pip"
    assert [name for name, check in checks.items() if check["status"] == "fail"] == []


# --- from a package index ---------------------------------------------------------------------------------------


def pythons() -> Iterator[str]:
    named = [path for path in os.environ.get(_PYTHONS, "").split(":") if path]
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 15)]
    seen = set()
    for path in (sys.executable, *named, *found):
        if path is None:
            continue
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        told = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False)
        if told.returncode == 0 and told.stdout not in seen:
            seen.add(told.stdout)
            yield path


@installs
@pytest.mark.timeout(900)
@pytest.mark.requirement("PACK-9")
@pytest.mark.parametrize("python", list(pythons()) if _INSTALLS in os.environ else [sys.executable])
def test_pip_installs_the_wheel_with_all_it_needs(python: str, wheel: Path, fixtures: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, str(wheel)], check=True)
    (tmp_path / "home").mkdir()
    stranger = Stranger([str(environment / "bin" / "ovillo")], tmp_path / "home")
    checks = stranger.tries_everything(fixtures)
    assert [name for name, check in checks.items() if check["status"] == "fail"] == []
    assert "extras" in checks
    assert checks["extras"]["detail"].split(";")[0] in {"none", "jwt"}


@installs
@pytest.mark.timeout(900)
@pytest.mark.requirement("PACK-10")
def test_pip_installs_every_extra_and_then_it_is_there(wheel: Path, fixtures: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    names = ",".join(extra.name for extra in EXTRAS)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"{wheel}[{names}]"], check=True)
    (tmp_path / "home").mkdir()
    stranger = Stranger([str(environment / "bin" / "ovillo")], tmp_path / "home")
    checks = stranger.tries_everything(fixtures)
    assert checks["extras"]["detail"] == ", ".join(extra.name for extra in EXTRAS)


@installs
@pytest.mark.timeout(900)
@pytest.mark.requirement("PACK-9")
@pytest.mark.parametrize(
    ("installer", "install", "start", "how"),
    [
        ("pipx", ["pipx", "install", "{wheel}"], ["{home}/.local/bin/ovillo"], "with pipx"),
        ("uv", ["uv", "tool", "install", "{wheel}"], ["{home}/.local/bin/ovillo"], "with uv tool"),
        ("uvx", None, ["uvx", "--from", "{wheel}", "ovillo"], "by uvx, which keeps it in a cache"),
    ],
)
def test_what_installs_programs_installs_the_wheel(
    installer: str, install: list[str] | None, start: list[str], how: str, wheel: Path, fixtures: Path, tmp_path: Path
) -> None:
    if shutil.which(installer, path=_PATH) is None:
        pytest.skip(f"{installer} is not here")
    home = tmp_path / "home"
    home.mkdir()
    passed = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    # They download no Python of their own.
    variables = {**passed, "PATH": _PATH, "PIPX_DEFAULT_PYTHON": sys.executable, "UV_PYTHON": sys.executable}

    def meant(line: list[str]) -> list[str]:
        words = [word.replace("{wheel}", str(wheel)).replace("{home}", str(home)) for word in line]
        return [shutil.which(words[0], path=_PATH) or words[0], *words[1:]]

    if install is not None:
        subprocess.run(meant(install), env={"HOME": str(home), **variables}, check=True)
    stranger = Stranger(meant(start), home, variables)
    # By uvx clients would start what the package index has under our name.
    checks = stranger.tries_everything(fixtures, attaches=install is not None)
    assert checks["installation"]["detail"] == f"ovillo {__version__}, {how}"
    assert [name for name, check in checks.items() if check["status"] == "fail"] == []
