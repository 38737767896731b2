"""``make dist``: everything that others install ovillo from, in one folder.

Owns packing: the wheel and the source, an MCP bundle (MCPB), a plugin of Claude Code, an extension of Gemini CLI, the entry of the MCP
registry, and a list of digests. Texts come from where ``ovillo install`` takes them (``ovillo.attach``), name and version from the
package; nothing is written twice. The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ovillo import __version__
from ovillo.attach import bundles
from ovillo.attach.folders import WHAT
from ovillo.interfaces.tools.registry import all_tools

ROOT = Path(__file__).resolve().parent.parent
#: Of files in archives, and what builds read for the same purpose: 2020-01-01.
_EPOCH = 1_577_836_800
_DATE = (2020, 1, 1, 0, 0, 0)
#: What a server shows when nothing else is asked for.
_TOOLSETS = ("history", "context")
_SERVER = '''"""Started by the host of this bundle: ``uv run server.py mcp``."""

from ovillo.app import main

if __name__ == "__main__":
    main()
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    output: Path = parser.parse_args().output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    wheel, source = build(output)
    made = [
        wheel,
        source,
        archive(output / f"ovillo-{__version__}.mcpb", mcpb(wheel)),
        archive(output / f"ovillo-claude-plugin-{__version__}.zip", encoded(bundles.plugin())),
        archive(output / f"ovillo-gemini-extension-{__version__}.zip", encoded(bundles.extension())),
        written(output / "server.json", as_json(registry_entry())),
    ]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    made.append(written(output / "SHA256SUMS", "".join(lines).encode()))
    for path in made:
        print(f"{path.stat().st_size:>10,}  {path.name}")
    return 0


def build(output: Path) -> tuple[Path, Path]:
    """Wheel and source, by the builder that the lock names."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(output), "-t", "wheel", "-t", "sdist"],
        cwd=ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(_EPOCH)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return output / f"ovillo-{__version__}-py3-none-any.whl", output / f"ovillo-{__version__}.tar.gz"


def mcpb(wheel: Path) -> dict[str, bytes]:
    """A bundle whose host brings uv: our wheel, and the versions of everything else that the lock names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [line.removesuffix(" \\") for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    manifest = {
        "manifest_version": "0.4",
        "name": "ovillo",
        "display_name": "ovillo",
        "version": __version__,
        "description": WHAT,
        "author": {"name": "ovillo"},
        "license": project["license"],
        "keywords": ["memory", "sessions", "coding agents"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                # --project, not --directory: the folder that the host works in stays what it is.
                "args": ["run", "--project", "${__dirname}", "${__dirname}/server.py", "mcp"],
            },
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in all_tools(_TOOLSETS)],
        "tools_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
    }
    constraints = "".join(f"    {json.dumps(pin)},\n" for pin in pins)
    asked = f"""[project]
name = "ovillo-bundle"
version = "{__version__}"
requires-python = "{project["requires-python"]}"
dependencies = ["ovillo=={__version__}"]

[tool.uv]
package = false
constraint-dependencies = [
{constraints}]

[tool.uv.sources]
ovillo = {{ path = "{wheel.name}" }}
"""
    return {
        "manifest.json": as_json(manifest),
        "pyproject.toml": asked.encode(),
        "server.py": _SERVER.encode(),
        wheel.name: wheel.read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "NOTICE": (ROOT / "NOTICE").read_bytes(),
    }


def registry_entry() -> dict[str, Any]:
    """``server.json`` of the MCP registry. Its name is the one that README proves to be ours."""
    found = re.search(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("README.md does not name the server for the MCP registry (<!-- mcp-name: ... -->).")
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": found[1],
        "title": "ovillo",
        "description": WHAT,
        "version": __version__,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "ovillo",
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


def encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def archive(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.startswith("bin/") else 0o100644) << 16
            packed.writestr(entry, files[name])
    return path


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def as_json(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(main())
