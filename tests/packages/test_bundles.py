"""What ``make dist`` packs beside the wheel: a plugin, an extension, an MCP bundle, the entry of the MCP registry."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import msgspec
import pytest

from ovillo import __version__
from ovillo.attach.folders import WHAT
from ovillo.interfaces.tools.registry import all_tools
from tests.packages.shapes import Manifest, ServerEntry
from tests.packages.stranger import Stranger

ROOT = Path(__file__).parents[2]
_NODE = Path(os.environ.get("OVILLO_CLIENTS", ROOT / ".clients")) / "node_modules"
#: Programs that judge bundles, where they are installed.
_CLAUDE = _NODE / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
_GEMINI, _MCPB = (_NODE / ".bin" / name for name in ("gemini", "mcpb"))


@pytest.fixture
def plugin(dist: Path, tmp_path: Path) -> Path:
    return unpacked(dist / f"ovillo-claude-plugin-{__version__}.zip", tmp_path / "plugin")


@pytest.fixture
def extension(dist: Path, tmp_path: Path) -> Path:
    return unpacked(dist / f"ovillo-gemini-extension-{__version__}.zip", tmp_path / "extension")


@pytest.fixture
def bundle(dist: Path, tmp_path: Path) -> Path:
    return unpacked(dist / f"ovillo-{__version__}.mcpb", tmp_path / "bundle")


def unpacked(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = Path(packed.extract(entry, folder))
            path.chmod(entry.external_attr >> 16 & 0o777)
    return folder


def ovillo(home: Path, *arguments: str) -> None:
    environment = {"HOME": str(home), "PATH": os.defpath}
    subprocess.run([sys.executable, "-m", "ovillo", *arguments], env=environment, capture_output=True, check=True)


@pytest.mark.requirement("PACK-11")
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_bundle_has_the_files_that_install_writes_and_differs_only_in_what_is_started(
    client: str, plugin: Path, extension: Path, tmp_path: Path
) -> None:
    bundled, place = {
        "claude": (plugin, ".claude/skills/ovillo"),
        "gemini": (extension, ".gemini/extensions/ovillo"),
    }[client]
    home = tmp_path / "home"
    home.mkdir()
    ovillo(home, "install", client, "--yes")
    installed = {str(path.relative_to(home / place)) for path in (home / place).rglob("*") if path.is_file()}
    given = {str(path.relative_to(bundled)) for path in bundled.rglob("*") if path.is_file()}
    assert given - installed <= {"bin/ovillo-hook", ".claude-plugin/marketplace.json"}
    assert installed - given == set()
    root = {"claude": "${CLAUDE_PLUGIN_ROOT}", "gemini": "${extensionPath}"}[client]
    hook = home / ".local/share/ovillo/bin/ovillo-hook"
    for name in installed:
        here = (home / place / name).read_text(encoding="utf-8")
        there = (bundled / name).read_text(encoding="utf-8").replace(f'\\"{root}/bin/ovillo-hook\\"', str(hook))
        if name in {".mcp.json", "gemini-extension.json"}:
            started = json.loads(there)["mcpServers"]["ovillo"]
            assert (started["command"], started["args"]) == ("uvx", ["ovillo", "mcp"])
            program = json.dumps(str(Path(sys.executable).with_name("ovillo")))
            there = (
                there.replace('"uvx"', program).replace('"ovillo",\n        ', "").replace('"ovillo",\n          ', "")
            )
            assert json.loads(there) == json.loads(here), name
        else:
            assert there == here, name


@pytest.mark.requirement("PACK-11")
def test_a_bundled_hook_ends_with_0_whatever_is_installed(plugin: Path, tmp_path: Path) -> None:
    hooks = json.loads((plugin / "hooks/hooks.json").read_text(encoding="utf-8"))["hooks"]
    lines = [hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert len(lines) == 4
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "timeout"):
        (programs / name).symlink_to(shutil.which(name) or name)
    environment = {"PATH": str(programs), "HOME": str(tmp_path), "CLAUDE_PLUGIN_ROOT": str(plugin)}
    for line in lines:
        for command in (line, line.replace("${CLAUDE_PLUGIN_ROOT}", str(plugin))):
            done = subprocess.run(
                [shutil.which("sh") or "sh", "-c", command],
                env=environment,
                input=b"{}",
                capture_output=True,
                check=False,
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    called = tmp_path / "called"
    (programs / "uvx").write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(called))}\nexit 2\n')
    (programs / "uvx").chmod(0o755)
    subprocess.run([shutil.which("sh") or "sh", "-c", lines[0]], env=environment, input=b"{}", check=True)
    assert called.read_text() == "--offline ovillo hook session-start --client claude_code\n"


@pytest.mark.requirement("PACK-11")
def test_the_entry_of_the_mcp_registry_keeps_to_its_schema(dist: Path) -> None:
    entry = msgspec.json.decode((dist / "server.json").read_bytes(), type=ServerEntry)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (entry.version, entry.packages[0].version, entry.packages[0].identifier) == (
        __version__,
        __version__,
        project["name"],
    )
    assert entry.schema.split("/")[-2] == "2025-12-11"
    assert f"<!-- mcp-name: {entry.name} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    namespace, _, name = entry.name.partition("/")
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", label) for label in namespace.split("."))
    assert name == "ovillo"


@pytest.mark.requirement("PACK-11")
def test_the_mcp_bundle_keeps_to_its_schema_and_names_the_tools_that_are_there(bundle: Path) -> None:
    manifest = msgspec.json.decode((bundle / "manifest.json").read_bytes(), type=Manifest)
    assert (manifest.version, manifest.description) == (__version__, WHAT)
    assert (bundle / manifest.server.entry_point).is_file()
    assert isinstance(manifest.tools, list)
    assert [tool.name for tool in manifest.tools] == [tool.name for tool in all_tools(("history", "context"))]
    asked = tomllib.loads((bundle / "pyproject.toml").read_text(encoding="utf-8"))
    assert asked["project"]["dependencies"] == [f"ovillo=={__version__}"]
    assert (bundle / asked["tool"]["uv"]["sources"]["ovillo"]["path"]).is_file()
    pinned = asked["tool"]["uv"]["constraint-dependencies"]
    assert len(pinned) > 50
    assert [each for each in pinned if "==" not in each] == []


@pytest.mark.requirement("PACK-11")
def test_the_server_of_the_mcp_bundle_answers_the_official_client(bundle: Path, fixtures: Path, tmp_path: Path) -> None:
    """Started as a host does, by the manifest; uv is a program that runs what it is told with the Python of the tests."""
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    started = manifest["server"]["mcp_config"]
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "run --project" ] || exit 1\nshift 3\nexec {shlex.quote(sys.executable)} "$@"\n'
    )
    uv.chmod(0o755)
    words = [started["command"], *started["args"]]
    command = [word.replace("${__dirname}", str(bundle)) for word in words]
    assert command.pop() == "mcp"
    home = tmp_path / "home"
    home.mkdir()
    stranger = Stranger(command, home, {"PATH": f"{uv.parent}:{os.defpath}"})
    assert sorted(stranger.tools()) == sorted(tool["name"] for tool in manifest["tools"])


@pytest.mark.requirement("PACK-11")
def test_the_list_of_digests_names_every_file(dist: Path) -> None:
    lines = (dist / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    made = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.is_file()}
    made.pop("SHA256SUMS")
    assert told == made


def test_the_package_and_its_bundles_say_the_same_of_ovillo() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["description"] == WHAT


@pytest.mark.requirement("PACK-11")
@pytest.mark.parametrize(
    ("program", "arguments", "name", "said"),
    [
        (_CLAUDE, ["plugin", "validate", "--strict"], "plugin", "Validation passed"),
        (_GEMINI, ["extensions", "validate"], "extension", "successfully validated"),
        (_MCPB, ["validate"], "bundle", "validation passes"),
    ],
    ids=["claude", "gemini", "mcpb"],
)
def test_the_real_program_finds_nothing_wrong(
    program: Path, arguments: list[str], name: str, said: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not program.exists():
        pytest.skip(f"{program.name} is not installed: make clients")
    folder: Path = request.getfixturevalue(name)
    (tmp_path / "home").mkdir()
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "NO_COLOR": "1"}
    target = folder / "manifest.json" if name == "bundle" else folder
    done = subprocess.run(
        [str(program), *arguments, str(target)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, said in done.stdout + done.stderr) == (0, True), done.stdout + done.stderr
