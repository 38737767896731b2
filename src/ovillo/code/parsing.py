"""One file of source code: bytes to facts.

Owns decoding, the guards (binary, minified, too large, too slow) and notebooks; what syntax means is in ``languages``.
Never raises for a file's content: what cannot be read says why.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import time
from dataclasses import dataclass

from ovillo.code.languages import Language, language_named
from ovillo.model.code import CodeFile

#: Files above this are programs' own output; reading 9 MB of JavaScript takes 4 s and 345 MB.
MAX_FILE_BYTES = 4 * 1024 * 1024
#: For one file, parsing and walking together (seconds).
MAX_FILE_S = 5.0
#: Lines this long on average are minified or tables.
_MINIFIED_AVERAGE = 300
#: Bytes handed to the parser at once: between two it may be stopped.
_CHUNK = 65_536
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e"})
_TEST_NAME = re.compile(
    r"^(?:test_.*|conftest)\.pyi?$|_test\.(?:py|go|rb|rs|cc|cpp|c|php|js|ts)$|\.(?:test|spec|e2e|cy)\.[cm]?[jt]sx?$|"
    r"(?:Test|Tests|IT|Spec)\.(?:java|kt|kts|cs|php)$|^Test\w*\.java$|_spec\.rb$|^test_.*\.(?:rb|c|cc|cpp|js|ts)$"
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file has no code to look at."""

    reason: str


def digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=12).digest()


def is_test_path(path: str) -> bool:
    """Whether a path (relative, with ``/``) is where tests are kept."""
    *folders, name = path.split("/")
    return bool(_TEST_NAME.search(name)) or not _TEST_FOLDERS.isdisjoint(part.lower() for part in folders)


def source_of(path: str, data: bytes, *, is_python: bool = False) -> str | Unreadable:
    """The text of a file as its language counts its lines; of a notebook, its code cells one after another."""
    if len(data) > MAX_FILE_BYTES:
        return Unreadable(f"larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
    said = _decoded(data, is_python=is_python)
    if said is None:
        return Unreadable("binary")
    if path.lower().endswith(".ipynb"):
        return _notebook(said)
    said = said.replace("\r\n", "\n").replace("\r", "\n")
    if _is_minified(said):
        return Unreadable("minified or generated: very long lines")
    return said


def parse_file(path: str, data: bytes, language: Language, *, mtime_ns: int = 0) -> CodeFile:
    """What stands in the file. A file that is skipped comes back with the reason and without symbols."""
    stamp = (len(data), mtime_ns, digest_of(data))
    said = source_of(path, data, is_python=language.name == "python")
    if isinstance(said, Unreadable):
        return CodeFile(path, language.name, *stamp, skipped=said.reason)
    source = said.encode("utf-8", "replace")
    is_test = is_test_path(path)
    lines = said.count("\n") + (not said.endswith("\n") and bool(said))
    if language.name == "c" and path.endswith(".h") and _looks_like_cpp(source):
        language = language_named("cpp")
    if language.name == "javascript" and b"@flow" in source[:2_000]:
        # Types of Flow are written as those of TypeScript, for all that matters here.
        language = language_named("tsx")
    grammar, walker_class = language.load()
    from tree_sitter import Parser  # start-up cost, as the grammars

    deadline = time.monotonic() + MAX_FILE_S
    try:
        tree = Parser(grammar).parse(
            lambda offset, _: source[offset : offset + _CHUNK],
            progress_callback=lambda *_: time.monotonic() > deadline,
        )
    except ValueError:  # how the parser says that it was stopped
        return CodeFile(path, language.name, *stamp, lines, is_test=is_test, skipped="time limit of parsing reached")
    walker = walker_class(path, source, is_test_file=is_test, deadline=deadline)
    walker.walk(tree.root_node)
    error = walker.error or ("syntax errors: some definitions may be missing" if tree.root_node.has_error else None)
    return CodeFile(
        path,
        language.name,
        *stamp,
        lines,
        tuple(walker.symbols),
        tuple(walker.calls),
        tuple(walker.imports),
        tuple(walker.exports),
        tuple(walker.tickets),
        is_test,
        error,
    )


def _decoded(data: bytes, *, is_python: bool) -> str | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data:
        return None
    if is_python and (declared := _declared(data)):
        return data.decode(declared, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # Every byte is a character of it: names in ASCII are right, and names in old western files usually, too.
        return data.decode("cp1252", "replace")


def _declared(data: bytes) -> str | None:
    """The encoding that the first two lines name (PEP 263), when Python knows it as one of text."""
    for line in data.split(b"\n", 2)[:2]:
        if found := _CODING.match(line):
            name = found[1].decode("ascii", "replace")
            try:
                "".encode(name)
                return name if isinstance(b"".decode(name), str) else None
            except (LookupError, UnicodeError):
                return None
    return None


def _is_minified(said: str) -> bool:
    if len(said) < 5_000:
        return False
    newlines = said.count("\n") + 1
    if len(said) / newlines > _MINIFIED_AVERAGE:
        return True
    return len(said) > 200_000 and max(map(len, said.split("\n"))) > len(said) / 2 and newlines < 50


def _looks_like_cpp(source: bytes) -> bool:
    return (
        re.search(rb"^\s*(?:class\s+\w+|namespace\b|template\s*<|public:|private:|using\s)", source, re.MULTILINE)
        is not None
    )


def _notebook(said: str) -> str | Unreadable:
    try:
        cells = json.loads(said)["cells"]
        parts = []
        for cell in cells:
            if cell.get("cell_type") == "code":
                source = cell.get("source") or ""
                parts.append("".join(source) if isinstance(source, list) else str(source))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unreadable("not a notebook")
    lines = "\n".join(parts).split("\n")
    # Magics and shell commands are no Python; their lines stay, so that the others keep their numbers.
    return "\n".join("#" + line if line.lstrip()[:1] in ("%", "!") else line for line in lines)
