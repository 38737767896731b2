"""Which definition a call means: the index's answer beside a compiler's. Truth and score for ``bench.code``.

JavaScript and TypeScript are asked of the TypeScript compiler's checker (the symbol and the resolved signature of every
call), Python of pyright's language server (go to definition at the called name, of a sample of calls that is the same
every time). A site is a file, a line and a called name; what it means is a place: the file and the line of a name.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ovillo.code.calls import CallGraph, Resolved
from ovillo.model.code import SymbolRow
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.store.protocol import Store

#: File, line of the call, called name.
Site = tuple[str, int, str]
#: File, line and name of the definition; the file is absolute where it lies outside of the root.
Place = tuple[str, int, str]
Edges = Mapping[Site, frozenset[Place]]

_SAMPLE = 6_000
_SEED = 20
_CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})


@dataclass(frozen=True, slots=True)
class EdgeScore:
    """``sites`` are calls that the truth sees as calls of definitions of the folder, ``stated`` those of all known
    sites for which the index names a definition without a doubt."""

    sites: int
    stated: int
    precision: float
    recall: float
    #: Of the sites: a definition was named, or was among several that were given as possible.
    recall_with_guesses: float
    #: Possible definitions given at a guess, on average.
    candidates: float
    rules: Mapping[str, tuple[int, int]]


def typescript_edges(root: Path, paths: Sequence[str], compiler: Path) -> Edges | None:
    """``None`` where node or the compiler is missing."""
    node = shutil.which("node")
    if node is None or not compiler.exists() or not paths:
        return None
    script = Path(__file__).with_name("code_edges.js")
    given = "\n".join(str(root / path) for path in paths)
    done = subprocess.run(
        [node, "--stack-size=4000", "--max-old-space-size=3000", str(script), str(compiler.resolve())],
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    edges: dict[Site, frozenset[Place]] = {}
    for line in done.stdout.splitlines():
        file, at, name, targets = json.loads(line)
        places = frozenset((_relative(root, target), row, said) for target, row, said in targets)
        site = (_relative(root, file), at, name)
        edges[site] = edges.get(site, frozenset()) | places
    return edges


def python_edges(root: Path, paths: Sequence[str], pyright: Path) -> Edges | None:
    """Of a sample of calls; ``None`` where node or pyright is missing."""
    node, server = shutil.which("node"), pyright / "langserver.index.js"
    if node is None or not server.exists() or not paths:
        return None
    sites = [(path, *site) for path in paths for site in _python_sites(root / path)]
    chosen = sorted(random.Random(_SEED).sample(sites, min(_SAMPLE, len(sites))))
    asked: dict[str, list[tuple[int, str, int, int]]] = {}
    for path, line, name, row, column in chosen:
        asked.setdefault(path, []).append((line, name, row, column))
    edges: dict[Site, frozenset[Place]] = {}
    names = _NamesAt(root)
    with _LanguageServer([node, str(server), "--stdio"], root) as client:
        for path, places in asked.items():
            found = client.definitions(root / path, [(row, column) for *_, row, column in places])
            for (line, name, *_), targets in zip(places, found, strict=True):
                known = frozenset(
                    (_relative(root, file), row, names.at(file, row, column)) for file, row, column in targets
                )
                edges[path, line, name] = edges.get((path, line, name), frozenset()) | known
    return edges


def score(store: Store, root: Path, edges: Edges) -> EdgeScore:
    """Of the index of ``root`` in ``store``."""
    graph = CallGraph(store.code, NS, str(root))
    defined: dict[str, list[SymbolRow]] = {}
    for row in store.code.symbols(NS, str(root)):
        defined.setdefault(row.file, []).append(row)
    answers: dict[Site, list[Resolved]] = {}
    for path in sorted({site[0] for site in edges}):
        for call, resolved in graph.calls_of_file(path):
            answers.setdefault((path, call.line, call.name), []).append(resolved)
    sites = stated = right = found = possible = guesses = candidates = 0
    rules: Counter[tuple[str, bool]] = Counter()
    for site, places in edges.items():
        truth = {row.id for place in places for row in _at(defined, place)}
        said = [x for x in answers.get(site, ()) if x.targets]
        sure = {target.id for x in said if x.rule != "name" for target in x.targets}
        unsure = {target.id for x in said if x.rule == "name" for target in x.targets}
        sites += bool(truth)
        found += bool(truth & sure)
        possible += bool(truth & (sure | unsure))
        if unsure:
            guesses, candidates = guesses + 1, candidates + len(unsure)
        if sure and places:
            stated += 1
            right += bool(truth & sure)
            rules.update((x.rule, bool(truth & sure)) for x in said if x.rule != "name")
    told = {rule: (rules[rule, True], rules[rule, False]) for rule in sorted({rule for rule, _ in rules})}
    return EdgeScore(
        sites,
        stated,
        right / max(stated, 1),
        found / max(sites, 1),
        possible / max(sites, 1),
        candidates / max(guesses, 1),
        told,
    )


def _at(defined: Mapping[str, list[SymbolRow]], place: Place) -> list[SymbolRow]:
    """The definition whose name stands at a place (decorators, types and modifiers may stand on lines before it). Who
    makes an object calls its class and its constructor: both are right."""
    file, line, name = place
    rows = defined.get(file, ())
    around = [row for row in rows if row.start_line <= line <= row.end_line and row.name in (name, "default")]
    found = sorted(around, key=lambda row: -row.start_line)[:1]
    is_made = [row for row in found if row.name in _CONSTRUCTORS]
    return found + [row for one in is_made for row in rows if row.qualified_name == one.parent]


class _NamesAt:
    """Words of Python files by place."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[str]] = {}

    def at(self, file: str, line: int, column: int) -> str:
        """The word that begins there; empty for files outside of the root."""
        path = Path(file)
        if not path.is_relative_to(self._root):
            return ""
        if file not in self._lines:
            self._lines[file] = path.read_text(encoding="utf-8", errors="replace").split("\n")
        found = re.match(r"\w*", self._lines[file][line - 1][column:])
        return found[0] if found else ""


def _relative(root: Path, file: str) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def _python_sites(path: Path) -> Iterator[tuple[int, str, int, int]]:
    """Line of the call, called name, and where that name stands (from 0, columns in UTF-16)."""
    try:
        data = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        lines = data.decode("utf-8").split("\n")
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name):
            name, row, byte = called.id, called.lineno, called.col_offset
        elif isinstance(called, ast.Attribute):
            name, row = called.attr, called.end_lineno or called.lineno
            byte = (called.end_col_offset or 0) - len(name.encode())
        else:
            continue
        if row <= len(lines) and byte >= 0:
            before = lines[row - 1].encode()[:byte].decode("utf-8", "replace")
            yield node.lineno, name, row - 1, len(before.encode("utf-16-le")) // 2


class _LanguageServer:
    """A language server over its standard input and output, asked for definitions."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._root = root
        self._number = 0

    def __enter__(self) -> _LanguageServer:
        folder = {"uri": self._root.as_uri(), "name": self._root.name}
        able = {"workspace": {"configuration": True}}
        said = {"processId": None, "rootUri": folder["uri"], "capabilities": able, "workspaceFolders": [folder]}
        self._ask("initialize", said)
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def definitions(self, file: Path, places: Sequence[tuple[int, int]]) -> list[list[tuple[str, int, int]]]:
        """Files, lines (from 1) and columns for each place (from 0)."""
        uri = file.as_uri()
        opened = {"uri": uri, "languageId": "python", "version": 1, "text": file.read_text(encoding="utf-8")}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        found = []
        for row, column in places:
            position = {"line": row, "character": column}
            said = self._ask("textDocument/definition", {"textDocument": {"uri": uri}, "position": position})
            listed = said if isinstance(said, list) else [said] if said else []
            found.append([_place(x["uri"], x["range"]["start"]) for x in listed])
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return found

    def _ask(self, method: str, params: object) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                self._answer(message)
            elif message.get("id") == number:
                return message.get("result")

    def _answer(self, message: dict[str, Any]) -> None:
        result: Any = None
        if message["method"] == "workspace/configuration":
            analysis = {
                "diagnosticMode": "openFilesOnly",
                "typeCheckingMode": "off",
                "extraPaths": [str(self._root.parent)],
            }
            sections = {"python.analysis": analysis, "python": {"analysis": analysis}}
            result = [sections.get(item.get("section") or "", {}) for item in message["params"]["items"]]
        self._send({"id": message["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise RuntimeError("pyright's language server ended")
        message: dict[str, Any] = json.loads(stream.read(length))
        return message


def _place(uri: str, start: Mapping[str, int]) -> tuple[str, int, int]:
    return unquote(urlsplit(uri).path), start["line"] + 1, start["character"]
