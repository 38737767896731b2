"""What an extra brings, on an installation without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ovillo.interfaces.http.access_setup import check_access
from ovillo.model.errors import InvalidInput
from ovillo.model.extras import EXTRAS, LANGUAGES, PDF, TOKENS, Extra
from tests.interfaces.cli_runs import copy_homes
from tests.interfaces.opened import settings_for

SESSION = "0672048c"


def without(extra: Extra, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``ovillo`` as it is where the packages of ``extra`` are not installed."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({extra.modules!r})); from ovillo.app import main;"
        f" sys.argv = ['ovillo', *{arguments!r}]; main()"
    )
    environment = {
        **os.environ,
        "HOME": str(home),
        "OVILLO_DATA_DIR": str(home / "data"),
        "OVILLO_EMBEDDER": "none",
    }
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, fixtures: Path) -> Path:
    home = tmp_path_factory.mktemp("home")
    copy_homes(fixtures, home, ("claude-code",))
    assert without(PDF, home, "scan").returncode == 0
    return home


@pytest.mark.requirement("SUPPLY-5")
def test_a_pdf_without_its_extra_says_what_to_install_and_writes_nothing(home: Path, tmp_path: Path) -> None:
    done = without(PDF, home, "session", "export", SESSION, "-o", str(tmp_path / "it.pdf"))
    assert done.returncode == 2
    assert "pip install 'ovillo[pdf]'" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert without(PDF, home, "session", "export", SESSION, "-o", str(tmp_path / "it.html")).returncode == 0


@pytest.mark.requirement("SUPPLY-5")
def test_a_server_that_would_check_tokens_says_what_to_install_before_it_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In process: the MCP SDK, which the command loads first, brings the same package today.
    monkeypatch.setitem(sys.modules, "jwt", None)
    with pytest.raises(InvalidInput, match="pip install 'ovillo\\[jwt]'"):
        check_access(settings_for(tmp_path, auth="jwt", jwt_secret="s" * 32, jwt_issuer="https://issuer.example"))


@pytest.mark.requirement("SUPPLY-5")
def test_without_exact_counts_budgets_hold_and_figures_are_called_estimates(home: Path) -> None:
    assert without(TOKENS, home, "session", "recover", SESSION).returncode == 0
    done = without(TOKENS, home, "session", "summarize", SESSION)
    assert done.returncode == 0, done.stderr
    assert "about " in done.stderr


@pytest.mark.requirement("SUPPLY-5")
@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.name)
def test_the_doctor_says_what_is_not_installed_and_how_to_get_it(home: Path, extra: Extra) -> None:
    done = without(extra, home, "doctor")
    assert done.returncode == 0
    assert f"pip install 'ovillo[{extra.name}]'" in done.stdout


@pytest.mark.requirement("SUPPLY-6")
def test_a_project_in_a_language_of_an_extra_says_in_one_line_what_to_install_and_is_read_afterwards(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text("def start():\n    pass\n")
    for n in range(20):
        (tmp_path / f"Order{n}.cs").write_text(f"public class Order{n} {{ public void Pay() {{}} }}\n")
    for _ in range(2):
        said = without(LANGUAGES, home, "code", "index", str(tmp_path))
        assert said.returncode == 0, said.stderr
        lines = [line.strip() for line in said.stdout.splitlines() if "Order" in line or "csharp" in line]
        asked = "20 files of csharp not read: the grammar is not installed. Run: pip install 'ovillo[languages]'"
        assert lines == [asked]
    assert "start" in without(LANGUAGES, home, "code", "find", "start").stdout
    assert "Order7.cs" not in without(LANGUAGES, home, "code", "find", "Order7").stdout
    # Without a change of any file: what is installed afterwards is read.
    nothing = Extra("nothing", "Nothing", ("nothing_of_that_name",))
    assert "csharp" not in without(nothing, home, "code", "index", str(tmp_path)).stdout
    assert "Order7.cs" in without(nothing, home, "code", "find", "Order7").stdout
