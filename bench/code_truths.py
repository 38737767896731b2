"""What others see in source files: Python's ``ast``, the TypeScript compiler, ctags. Truth for ``bench.code``.

Owns asking them; comparing is the benchmark's.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_KINDS = "function method member class interface enum alias namespace generator getter setter constructor struct trait"
_CTAGS_KINDS = frozenset(_KINDS.split())
#: Its kinds for definitions in languages that have no better truth.
_BESIDE_KINDS = "function method class interface enum namespace struct union trait func methodSpec type object"
_BESIDE = frozenset([*_BESIDE_KINDS.split(), "singletonMethod", "annotation"])
_BESIDE_MORE = {
    "rust": frozenset({"typedef", "macro", "module"}),
    "ruby": frozenset({"module"}),
    "kotlin": frozenset({"typealias"}),
}


@dataclass(frozen=True, slots=True)
class Definition:
    """``parameters`` and ``doc`` are ``None`` where the kind has none to compare."""

    name: str
    start: int
    end: int
    parameters: str | None
    doc: str | None


@dataclass(slots=True)
class Seen:
    """One file. ``calls`` are (name, line)."""

    definitions: list[Definition] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Truth:
    name: str
    files: dict[str, Seen]
    seconds: float
    left_out: int = 0


def python_truth(root: Path, paths: Sequence[str]) -> Truth:
    files: dict[str, Seen] = {}
    left_out = 0
    began = time.monotonic()
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse((root / path).read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            left_out += 1
            continue
        files[path] = _python(tree)
    return Truth("ast", files, time.monotonic() - began, left_out)


def _python(tree: ast.AST) -> Seen:
    seen = Seen()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parameters = None
            if not isinstance(node, ast.ClassDef):
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                parameters = f"({ast.unparse(node.args)}){returns}"
            doc = ast.get_docstring(node) or ""
            seen.definitions.append(Definition(node.name, node.lineno, node.end_lineno or 0, parameters, doc))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                seen.calls.append((node.func.id, node.lineno))
            elif isinstance(node.func, ast.Attribute):
                seen.calls.append((node.func.attr, node.lineno))
    return seen


def typescript_truth(root: Path, paths: Sequence[str], compiler: Path) -> Truth | None:
    """``None`` where node or the compiler is missing."""
    node = shutil.which("node")
    if node is None or not compiler.exists() or not paths:
        return None
    script = Path(__file__).with_name("code_truth.js")
    given = "\n".join(str(root / path) for path in paths)
    done = subprocess.run(
        [node, "--stack-size=4000", str(script), str(compiler.resolve())],
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    files: dict[str, Seen] = {}
    left_out = 0
    for line in done.stdout.splitlines():
        found = json.loads(line)
        if found.get("failed") or found["broken"]:
            left_out += 1
            continue
        path = Path(found["path"]).relative_to(root).as_posix()
        definitions = [Definition(name, a, b, parameters, doc) for name, a, b, parameters, doc in found["defs"]]
        files[path] = Seen(definitions, [(name, line) for name, line in found["calls"]])
    return Truth("TypeScript", files, float(done.stderr or 0), left_out)


def kinds_beside(language: str) -> frozenset[str]:
    """Kinds of ctags that are definitions to us too."""
    return _BESIDE | _BESIDE_MORE.get(language, frozenset())


def ctags_seen(root: Path, paths: Sequence[str], kinds: frozenset[str] = _CTAGS_KINDS) -> Truth | None:
    """What Universal Ctags finds of functions, classes and their like; ``None`` where it is not installed."""
    ctags = shutil.which("ctags")
    if ctags is None or not paths:
        return None
    began = time.monotonic()
    done = subprocess.run(
        [ctags, "--output-format=json", "--fields=+ne", "--extras=-F", "-L", "-", "-f", "-"],
        input="\n".join(str(root / path) for path in paths),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    took = time.monotonic() - began
    if done.returncode:
        return None
    files: dict[str, Seen] = {path: Seen() for path in paths}
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("_type") != "tag" or tag.get("kind") not in kinds or tag["name"].startswith("__anon"):
            continue
        path = Path(tag["path"]).relative_to(root).as_posix()
        found = Definition(tag["name"], tag["line"], tag.get("end", 0), None, None)
        files[path].definitions.append(found)
    return Truth("ctags", files, took)
