"""What pages name in passing exists: commands with their options, calls of tools with their parameters, routes, variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ovillo.interfaces.cli.main import cli
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.tools.registry import all_tools
from ovillo.readers import all_readers
from ovillo.readers.client import client_of
from ovillo.settings import load_settings
from ovillo.settings.display import shown_settings
from tests.docs.clients import entries_of_configuration, entry_of_command
from tests.docs.not_run import NOT_RUN, STANDS_IN
from tests.docs.pages import PAGES, ROOT, Command, inline_code, steps, texts
from tests.docs.terminals import PROGRAMS, STAND_INS

#: Served beside REST (``docs/reference/http.md``).
_OTHER_ROUTES = {"/mcp", "/mcp/v1/execute", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/open"}
#: Read beside settings (``docs/reference/settings.md``, "Other variables").
_OTHER_VARIABLES = {
    "OVILLO_CONFIG",
    "OVILLO_SESSION_ID",
    "OVILLO_TOKEN",
    "OVILLO_BACKUP_PASSPHRASE",
    *(name for reader in all_readers() for name in client_of(reader).variables),
}
_TOOLS = {tool.name: {str(name) for name in tool.input.__struct_encode_fields__} for tool in all_tools()}
_ROUTES = {(endpoint.method, re.sub(r"\{\w+\}", "{}", endpoint.path)) for endpoint in ENDPOINTS}


def _named() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for line, code in inline_code(page):
            yield f"{page.relative_to(ROOT)}:{line}", code


@pytest.mark.requirement("PROJ-6")
def test_commands_named_in_passing_exist_with_their_options() -> None:
    wrong = [f"{place}: {code}: {why}" for place, code in _named() for why in _wrong_in_command(code)]
    assert wrong == []


def _wrong_in_command(code: str) -> Iterator[str]:
    """What is wrong with each ``ovillo`` command of ``code``."""
    for part in re.split(r" && | \| (?=\w)|; ", code):
        named = re.sub(r"^(?:ssh \w+|[A-Z_]+=\S+) ", "", part)
        words = re.sub(r"\$\([^)]*\)|\"[^\"]*\"|'[^']*'|\\", "X", named).split()
        if len(words) < 2 or Path(words[0]).name != "ovillo":
            continue
        command: click.Command = cli
        rest = words[1:]
        known = {option for parameter in cli.params for option in parameter.opts} | {"-h", "--help", "--json", "--"}
        while isinstance(command, click.Group) and rest and re.fullmatch(r"[a-z][\w-]*", rest[0]):
            below = command.get_command(click.Context(command), rest[0])
            if below is None:
                yield f"no command {rest[0]!r}"
                return
            command, rest = below, rest[1:]
        known |= {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        for word in rest:
            option = word.partition("=")[0]
            if option.startswith("-") and option not in known:
                yield f"no option {option}"


@pytest.mark.requirement("PROJ-6")
def test_calls_of_tools_named_in_passing_take_these_parameters() -> None:
    wrong = []
    for place, code in _named():
        call = re.fullmatch(r"(\w+)\((.*)\)", code)
        if call is None or call[1] not in _TOOLS:
            continue
        told = re.sub(r"\{.*\}|\[.*\]|\"[^\"]*\"", "", call[2])
        names = {name for name in re.findall(r"(\w+)\s*(?:=|,|\?|$)", told) if not name.isdigit()} - {"true", "false"}
        wrong += [f"{place}: {code}: no {name!r}" for name in sorted(names - _TOOLS[call[1]])]
    assert wrong == []


@pytest.mark.requirement("PROJ-6")
def test_lines_for_agents_named_in_passing_start_our_server() -> None:
    lines = [(place, code) for place, code in _named() if re.match(r"(?:claude|codex|gemini) mcp add ", code)]
    entries = [(place, entry_of_command(shlex.split(code), {})) for place, code in lines]
    inline = [(place, code) for place, code in _named() if code.startswith(('{"mcp', "[mcp"))]
    entries += [(place, entry) for place, code in inline for entry in entries_of_configuration("json", code, {})]
    assert len(entries) >= 4, "the table of clients"
    assert [place for place, entry in entries if entry.command != ["ovillo", "mcp"]] == []


@pytest.mark.requirement("PROJ-6")
def test_targets_of_make_named_in_passing_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    wrong = [place for place, code in _named() for name in re.findall(r"^make ([a-z]+)", code) if name not in targets]
    assert wrong == []


@pytest.mark.requirement("PROJ-6")
def test_routes_named_in_passing_are_served() -> None:
    wrong = []
    for place, code in _named():
        route = re.match(r"(GET|POST|PUT|PATCH|DELETE) (/[^\s?]*)", code)
        if route is None or route[2] in _OTHER_ROUTES:
            continue
        if (route[1], re.sub(r"\{\w+\}", "{}", route[2])) not in _ROUTES:
            wrong.append(f"{place}: {code}")
    assert wrong == []


@pytest.mark.requirement("PROJ-6")
def test_variables_on_the_pages_are_read(tmp_path: Path) -> None:
    rows = shown_settings(load_settings({"HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path)}))
    known = {f"OVILLO_{name.upper()}" for name in (row.name for row in rows)} | _OTHER_VARIABLES
    wrong = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in sorted(set(re.findall(r"\bOVILLO_[A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8"))) - known)
    ]
    assert wrong == []


@pytest.mark.requirement("PROJ-5")
def test_no_block_of_text_hides_a_command() -> None:
    command = re.compile(r"(?:\$ )?(?:\S*/)?(?:ovillo|curl|claude|codex|gemini|make|pip|python|export) \S")
    assert [f"{page.name}:{at}: {line}" for page in PAGES for at, line in texts(page) if command.match(line)] == []


@pytest.mark.requirement("PROJ-5")
def test_what_is_not_run_or_replaced_is_still_on_a_page_and_nothing_else_is() -> None:
    """So that the lists tell the truth: no reason for what is gone, and no stand-in that nobody names."""
    typed = [step.text for page in PAGES for step in steps(page) if isinstance(step, Command)]
    gone = [beginning for beginning in NOT_RUN if not any(text.startswith(beginning) for text in typed)]
    gone += [name for name in STANDS_IN if not any(re.search(rf"(?:^|[\s|&(]){name}\b", text) for text in typed)]
    stand_ins = {path.name for path in STAND_INS.iterdir()} - set(PROGRAMS) - {"browser", "systemctl"}
    assert (gone, sorted(stand_ins - set(STANDS_IN))) == ([], [])
