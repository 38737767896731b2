"""The code index against other eyes, on any folder of source code: ``python -m bench.code --root DIR``.

Definitions, line ranges, signatures, documentation and calls are compared with Python's ``ast`` and with the TypeScript
compiler, definitions of the other languages with ctags; which definition a call means with the compiler's checker and,
for Python, with pyright (``--typescript`` and ``--pyright`` are the folders of their npm packages; without them they are
looked for in ``node_modules`` here and above the root). Then the whole index is made in a process of its own: speed,
memory, size, a second look, one edit.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.code_edges import python_edges, score, typescript_edges
from bench.code_truths import Definition, Seen, Truth, ctags_seen, kinds_beside, python_truth, typescript_truth
from bench.processes import run
from bench.tables import keep, table
from ovillo.app import open_services
from ovillo.code.languages import language_of
from ovillo.code.parsing import parse_file
from ovillo.code.scanning import Choice, look
from ovillo.model.code import CodeFile, SymbolKind
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.settings import Settings

_ECMA = frozenset({"javascript", "typescript", "tsx"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="folder of source code, an installed package say")
    parser.add_argument("--typescript", type=Path, help="folder of the npm package")
    parser.add_argument("--pyright", type=Path, help="folder of the npm package")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    compiler = arguments.typescript or _package("typescript", root)
    pyright = arguments.pyright or _package("pyright", root)
    files, seconds = _parsed(root, [entry.path for entry in look(root, Choice()).files])
    read = {path: file for path, file in files.items() if file.skipped is None}
    size = sum(file.size for file in read.values()) / 1e6
    accuracy: list[list[Any]] = []
    speed: list[list[Any]] = [["ovillo (parse and walk)", len(read), seconds, len(read) / seconds, size / seconds]]
    left: dict[str, int] = {}
    for language, paths, truth in _truths(root, read, compiler):
        accuracy += [[language, *row] for row in _compared(truth, read)]
        left[truth.name] = truth.left_out
        tags = ctags_seen(root, paths)
        if tags is not None:
            accuracy += [[language, *row] for row in _ctags_rows(truth, tags)]
        megabytes = sum(read[path].size for path in paths) / 1e6
        for other in (truth, tags):
            if other is not None:
                took = max(other.seconds, 1e-3)
                speed.append([f"{other.name}, {language}", len(paths), took, len(paths) / took, megabytes / took])
    agreement = _agreement(root, read)
    edges = _edges(root, read, compiler, pyright)
    whole = _whole(root)
    name = root.name
    print(table(f"{name}: accuracy", ["language", "who", "what", "truth", "found", "precision", "recall"], accuracy))
    if agreement:
        print(table(f"\n{name}: definitions beside ctags", _BESIDE, agreement))
    if edges:
        print(table(f"\n{name}: what calls mean", _EDGES, edges))
    print(table(f"\n{name}: speed", ["who", "files", "s", "files/s", "MB/s"], speed))
    print(table(f"\n{name}: the whole index", ["what", "value"], [[k, v] for k, v in whole.items()]))
    reasons = Counter(file.skipped or file.error for file in files.values() if file.skipped or file.error)
    for reason, count in reasons.most_common():
        print(f"{count} files: {reason}")
    print(f"Files that the truth could not read, left out of the comparison: {left}")
    keep(
        f"code-{name}",
        {
            "accuracy": accuracy,
            "beside ctags": agreement,
            "edges": edges,
            "speed": speed,
            "whole": whole,
            "left_out": left,
        },
        arguments.results,
    )
    return 0


def _parsed(root: Path, paths: Sequence[str]) -> tuple[dict[str, CodeFile], float]:
    files: dict[str, CodeFile] = {}
    seconds = 0.0
    for path in paths:
        language = language_of(path)
        assert language is not None
        language.load()
        data = (root / path).read_bytes()
        began = time.monotonic()
        files[path] = parse_file(path, data, language)
        seconds += time.monotonic() - began
    return files, seconds


def _truths(root: Path, read: dict[str, CodeFile], compiler: Path) -> Iterable[tuple[str, list[str], Truth]]:
    python = [path for path, file in read.items() if file.language == "python" and path.endswith((".py", ".pyi"))]
    if python:
        yield "python", python, python_truth(root, python)
    ecma = [path for path, file in read.items() if file.language in _ECMA]
    made = typescript_truth(root, ecma, compiler)
    if made is not None:
        yield "js/ts", ecma, made
    elif ecma:
        print("JavaScript and TypeScript are not compared: that needs node and --typescript DIR.")


def _package(name: str, root: Path) -> Path:
    """The npm package nearest to here or to the root; a path that does not exist where there is none."""
    around = [Path.cwd(), *Path.cwd().parents, root, *root.parents]
    found = (folder / "node_modules" / name for folder in around)
    return next((path for path in found if path.exists()), Path("node_modules") / name)


_BESIDE = ["language", "files", "ctags", "ovillo", "same", "of ctags", "of ovillo"]


def _agreement(root: Path, read: dict[str, CodeFile]) -> list[list[Any]]:
    """For languages without a better truth: definitions by name and first line, of which ctags has nearly all kinds.
    A line apart is the same: ctags begins at the name, we at what modifies it."""
    rows: list[list[Any]] = []
    for language in sorted({file.language for file in read.values()} - _ECMA - {"python"}):
        paths = [path for path, file in read.items() if file.language == language]
        tags = ctags_seen(root, paths, kinds_beside(language))
        if tags is None:
            continue
        theirs = {(p, x.name): set[int]() for p in paths for x in tags.files[p].definitions}
        for path in paths:
            for x in tags.files[path].definitions:
                theirs[path, x.name].add(x.start)
        count = sum(map(len, theirs.values()))
        symbols = [(p, s) for p in paths for s in read[p].symbols if s.kind is not SymbolKind.TEST]
        met: set[tuple[str, str, int]] = set()
        same = 0
        for path, symbol in symbols:
            lines = [x for x in theirs.get((path, symbol.name), ()) if symbol.start_line <= x <= symbol.start_line + 12]
            lines = [x for x in lines if (path, symbol.name, x) not in met]
            if lines:
                met.add((path, symbol.name, min(lines)))
                same += 1
        rows.append(
            [language, len(paths), count, len(symbols), same, same / max(count, 1), same / max(len(symbols), 1)]
        )
    return rows


_EDGES = ["truth", "calls", "known", "here", "stated", "precision", "recall", "with guesses"]


def _edges(root: Path, read: dict[str, CodeFile], compiler: Path, pyright: Path) -> list[list[Any]]:
    """Calls by what they mean: ``here`` are those of definitions of the folder, ``stated`` those resolved for certain."""
    python = [path for path, file in read.items() if file.language == "python" and path.endswith((".py", ".pyi"))]
    ecma = [path for path, file in read.items() if file.language in _ECMA]
    asked = [("pyright", python_edges(root, python, pyright)), ("TypeScript", typescript_edges(root, ecma, compiler))]
    truths = [(name, edges) for name, edges in asked if edges]
    if python and asked[0][1] is None:
        print("What calls of Python mean is not compared: that needs node and --pyright DIR (npm install pyright).")
    if not truths:
        return []
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        services = open_services(Settings(data_dir=Path(folder), home=Path(folder), embedder="none"))
        services.code.index(NS, root)
        for name, edges in truths:
            found = score(services.store, root, edges)
            known = sum(map(bool, edges.values()))
            figures = (found.sites, found.stated, found.precision, found.recall, found.recall_with_guesses)
            rows.append([name, len(edges), known, *figures])
        services.close()
    return rows


def _compared(truth: Truth, files: dict[str, CodeFile]) -> list[list[Any]]:
    """Rows of precision and recall over the files that the truth could read."""
    theirs: dict[str, list[Hashable]] = {"definitions": [], "calls": []}
    ours: dict[str, list[Hashable]] = {"definitions": [], "calls": []}
    tally = _Tally()
    for path, seen in truth.files.items():
        symbols = [s for s in files[path].symbols if s.kind is not SymbolKind.TEST]
        mine = {(s.name, s.start_line): s for s in symbols}
        theirs["definitions"] += [(path, x.name, x.start) for x in seen.definitions]
        ours["definitions"] += [(path, s.name, s.start_line) for s in symbols]
        theirs["calls"] += [(path, *call) for call in seen.calls]
        ours["calls"] += [(path, call.name, call.line) for call in files[path].calls]
        for definition in seen.definitions:
            symbol = mine.get((definition.name, definition.start))
            if symbol is not None:
                same = _same_python if truth.name == "ast" else _same_script
                tally.add(definition, symbol.end_line, same(definition, symbol.signature), symbol.doc)
    rows = [["ovillo", f"{what} v {truth.name}", *_score(theirs[what], ours[what])] for what in theirs]
    return rows + [["ovillo", f"{what}, of matched", *figures] for what, figures in tally.rows()]


class _Tally:
    """Facts of definitions that both sides have."""

    def __init__(self) -> None:
        self._ranges = self._matched = self._signatures = self._with = self._docs = self._said = self._right = 0

    def add(self, truth: Definition, end: int, same_signature: bool, doc: str) -> None:
        self._matched += 1
        self._ranges += truth.end == end
        if truth.parameters is not None:
            self._with += 1
            self._signatures += same_signature
        if truth.doc is not None and truth.doc.strip():
            # Comments that the other side does not count as documentation are no mistakes of either.
            self._docs += 1
            self._said += bool(doc)
            self._right += bool(doc) and _plain(truth.doc).startswith(_plain(doc.removesuffix("…")))

    def rows(self) -> Iterable[tuple[str, list[Any]]]:
        yield "line range", [self._matched, self._matched, self._ranges / max(self._matched, 1), None]
        yield "signature", [self._with, self._with, self._signatures / max(self._with, 1), None]
        yield (
            "doc summary",
            [self._docs, self._said, self._right / max(self._said, 1), self._right / max(self._docs, 1)],
        )


def _ctags_rows(truth: Truth, tags: Truth) -> list[list[Any]]:
    theirs = [(path, x.name, x.start) for path, seen in truth.files.items() for x in seen.definitions]
    found = [(path, x.name, x.start) for path in truth.files for x in tags.files.get(path, Seen()).definitions]
    return [["ctags", f"definitions v {truth.name}", *_score(theirs, found)]]


def _score(truth: Sequence[Hashable], found: Sequence[Hashable]) -> list[Any]:
    """Sizes, precision and recall; what comes several times counts several times."""
    both = sum((Counter(truth) & Counter(found)).values())
    return [len(truth), len(found), both / max(len(found), 1), both / max(len(truth), 1)]


def _same_python(truth: Definition, signature: str) -> bool:
    if truth.parameters is None:
        return True
    try:
        ours = ast.parse(f"def {signature}: ...").body[0]
        theirs = ast.parse(f"def {truth.name}{truth.parameters}: ...").body[0]
    except SyntaxError:
        return False
    return ast.dump(ours) == ast.dump(theirs)


def _same_script(truth: Definition, signature: str) -> bool:
    """Parameters as they are written, without space."""
    return truth.parameters is None or _bare(truth.parameters) in _bare(signature)


def _bare(written: str) -> str:
    return "".join(written.split()).replace(",)", ")")


def _plain(doc: str) -> str:
    """Letters and digits only: marks and links are told in different ways."""
    return "".join(letter for letter in doc.lower() if letter.isalnum())


def _whole(root: Path) -> dict[str, Any]:
    """A whole index of a copy in a new process, a second look, one edit, lookups."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "code" / root.name
        shutil.copytree(root, copy, symlinks=True, ignore_dangling_symlinks=True)
        script = Path(folder) / "whole.py"
        script.write_text(_SCRIPT, encoding="utf-8")
        done = run([sys.executable, str(script), str(copy), str(Path(folder) / "data")], os.environ)
        if done.code:
            raise RuntimeError(done.err)
        facts: dict[str, str] = dict(line.split("\t", 1) for line in done.out.splitlines())
        return {name: float(value) for name, value in facts.items()} | {"peak MB": done.peak_mb}


_SCRIPT = r"""
import sys, time
from pathlib import Path
from ovillo.app import open_services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.settings import Settings

root, data = Path(sys.argv[1]), Path(sys.argv[2])
services = open_services(Settings(data_dir=data, home=data, embedder="none"))

def timed(name, work):
    began = time.monotonic()
    result = work()
    print(f"{name}\t{time.monotonic() - began:.4f}")
    return result

report = timed("index s", lambda: services.code.index(NS, root))
print(f"files\t{report.files}\ndefinitions\t{report.symbols}")
timed("second look s", lambda: services.code.index(NS, root))
files = sorted(services.store.code.modules(NS, str(root)), key=lambda f: f.size)
middle = root / files[len(files) // 2].path
middle.write_bytes(middle.read_bytes() + b"\n")
timed("one edit, by update s", lambda: services.code.update(NS, [middle]))
middle.write_bytes(middle.read_bytes() + b"\n")
timed("one edit, by index s", lambda: services.code.index(NS, root))
rows = services.store.code.symbols(NS, limit=1000)[::10]
began = time.monotonic()
for row in rows:
    services.code.find(NS, row.qualified_name)
print(f"find ms\t{(time.monotonic() - began) * 1000 / max(len(rows), 1):.3f}")
services.close()
print(f"database MB\t{sum(f.stat().st_size for f in data.glob('ovillo.db*')) / 1e6:.2f}")
"""

if __name__ == "__main__":
    sys.exit(main())
