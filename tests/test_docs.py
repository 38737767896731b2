"""The pages keep up with the program: what exists is documented, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import click
import msgspec
import pytest

from ovillo.interfaces.cli.main import cli
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.tools.registry import all_tools
from ovillo.model import errors
from ovillo.readers import all_readers
from ovillo.settings import load_settings
from ovillo.settings.display import shown_settings

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def _page(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _commands(command: click.Command, path: str) -> list[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
        return [item for name, sub in found if sub for item in _commands(sub, f"{path} {name}")]
    return [(path, command)]


def test_the_floors_that_contributors_read_are_those_that_imports_are_held_to() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    floors = re.findall(
        r"^\|[^|]*\| `(\w+)(?:\.py|/)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert ["__main__", *floors] == contracts[0]["layers"]


@pytest.mark.requirement("PROJ-2")
def test_every_setting_is_in_the_reference_with_its_variable(tmp_path: Path) -> None:
    page = _page("settings.md")
    rows = shown_settings(load_settings({"HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path)}))
    missing = [row.name for row in rows if f"`{row.name}`" not in page or f"`OVILLO_{row.name.upper()}`" not in page]
    assert missing == []


@pytest.mark.requirement("PROJ-2")
def test_every_tool_is_in_the_reference_with_its_parameters() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", _page("tools.md"), re.MULTILINE | re.DOTALL))
    missing = [
        f"{tool.name}.{field.encode_name}"
        for tool in all_tools()
        for field in msgspec.structs.fields(tool.input)
        if f"`{field.encode_name}`" not in sections.get(tool.name, "")
    ]
    assert missing == []


@pytest.mark.requirement("PROJ-2")
def test_every_command_is_in_the_reference_with_its_options() -> None:
    page = _page("commands.md")
    sections = dict(re.findall(r"^### `([^`]+)`.*?\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    known = {
        " ".join(word for word in title.split() if word.islower() and not word.startswith("[")): text
        for title, text in sections.items()
    }
    missing = []
    for path, command in _commands(cli, "ovillo"):
        if command.hidden:
            continue
        if path not in known:
            missing.append(path)
            continue
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                missing += [
                    f"{path} {name}"
                    for name in parameter.opts
                    if name.startswith("--") and f"`{name}" not in known[path]
                ]
    assert missing == []


@pytest.mark.requirement("PROJ-2")
def test_every_rest_operation_is_in_the_reference_with_what_it_takes() -> None:
    rows = dict(re.findall(r"^\| `([A-Z]+ /[^`]*)` \| (.*)$", _page("rest.md"), re.MULTILINE))
    real = {f"{endpoint.method} {endpoint.path}": endpoint for endpoint in ENDPOINTS}
    missing = [
        f"{name} {field.encode_name}"
        for name, endpoint in real.items()
        for taken in (endpoint.query, endpoint.body)
        if isinstance(taken, type) and issubclass(taken, msgspec.Struct)
        for field in msgspec.structs.fields(taken)
        if f"`{field.encode_name}`" not in rows.get(name, "")
    ]
    scopes = [name for name, endpoint in real.items() if f"`{endpoint.scope}`" not in rows.get(name, "")]
    assert (missing, scopes, sorted(set(rows) ^ set(real))) == ([], [], [])


@pytest.mark.requirement("PROJ-2")
def test_the_reference_names_no_setting_tool_or_command_that_is_not_there(tmp_path: Path) -> None:
    rows = shown_settings(load_settings({"HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path)}))
    settings = set(re.findall(r"^\| `(\w+)` \| `OVILLO_", _page("settings.md"), re.MULTILINE))
    tools = set(re.findall(r"^## ([a-z]+_\w+)$", _page("tools.md"), re.MULTILINE))
    titles = re.findall(r"^### `ovillo ([^`]+)`", _page("commands.md"), re.MULTILINE)
    documented = {" ".join(w for w in title.split() if w.islower() and not w.startswith("[")) for title in titles}
    commands = {path.removeprefix("ovillo ") for path, _ in _commands(cli, "ovillo")}
    assert settings - {row.name for row in rows} == set()
    assert tools - {tool.name for tool in all_tools()} == set()
    assert documented - commands == set()


@pytest.mark.requirement("PROJ-8")
def test_code_cites_nothing_that_is_not_on_the_page_of_evidence() -> None:
    page = _page("evidence.md")
    headings = set(re.findall(r"^## (.+)$", page, re.MULTILINE))
    elsewhere = re.compile(
        r"DESIGN section|formats page|reference page|retrieval study|\(study|[\w-]+-references\.md|platform\.md|et al\b"
    )
    wrong = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        wrong += [(path.name, cited) for cited in re.findall(r'evidence\.md, "([^"]+)"', text) if cited not in headings]
        wrong += [(path.name, cited) for cited in elsewhere.findall(text)]
    assert wrong == []
    assert {
        name for name in ("SPEC-015", "mcp-v6-roadmap", "Continuity Protocol", "MCP-HUB v5") if name not in page
    } == set()


@pytest.mark.requirement("PROJ-2")
def test_every_page_is_reached_from_the_first_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert [page for page in pages if page.split("/")[0] not in {"README.md", "adr", "dev"} and page not in index] == []


@pytest.mark.requirement("PROJ-2")
def test_every_reader_and_every_error_is_in_the_reference() -> None:
    sources, codes = _page("sources.md"), _page("errors.md")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OvilloError)]
    missing = [reader.name for reader in all_readers() if f"`{reader.name}`" not in sources]
    missing += [
        kind.code
        for kind in kinds
        if not re.search(rf"`{kind.code}` \| {kind.exit_code} \| {kind.http_status} ", codes)
    ]
    assert missing == []


@pytest.mark.requirement("PROJ-2")
def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "bench" / "README.md"]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.requirement("PROJ-4")
def test_the_readme_is_short_and_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 200
    assert "make run" in readme
    assert "make test" in readme


@pytest.mark.requirement("PROJ-4")
def test_no_source_file_has_outgrown_its_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert _script("check_file_sizes").main() == 0, capsys.readouterr().out


@pytest.mark.requirement("PROJ-3")
def test_the_first_run_calls_the_demo_a_demo_and_names_the_variable_that_chooses_it(tmp_path: Path) -> None:
    demo = {"OVILLO_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path / "home")}
    text = _script("first_run").next_steps(7, demo, True, "127.0.0.1", 8765)
    assert "DEMO" in text
    assert "invented" in text
    assert f"export OVILLO_DATA_DIR={demo['OVILLO_DATA_DIR']} " in text


@pytest.mark.requirement("PROJ-3")
def test_the_first_run_on_real_history_says_where_to_connect_and_what_to_type() -> None:
    text = _script("first_run").next_steps(12, {}, False, "127.0.0.1", 8765)
    assert "12 sessions" in text
    assert "http://127.0.0.1:8765/mcp" in text
    assert "ovillo search" in text
    assert "DEMO" not in text
