"""How the code stands: files, lines, the longest of both, functions, and what its rules count.

    python -m bench.house [SRC ...]

Reads the source below each folder (default: ``src``) and runs nothing of it; several folders stand beside each other.
"""

from __future__ import annotations

import ast
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.tables import percentile, table

_LONG_FILE, _LONG_FUNCTION = 300, 60


@dataclass(slots=True)
class Figures:
    """``functions`` and ``files`` are lengths in lines."""

    files: dict[str, int] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    comments: int = 0
    broad_excepts: int = 0
    any_types: int = 0


def figures_of(source: Path) -> Figures:
    found = Figures()
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(source).as_posix()
        found.files[name] = text.count("\n")
        found.comments += sum(line.lstrip().startswith("#") for line in text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.functions[f"{name}:{node.lineno} {node.name}"] = (
                    (node.end_lineno or node.lineno) - node.lineno + 1
                )
            elif isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                found.broad_excepts += caught in ("", "Exception", "BaseException")
            elif isinstance(node, ast.Name) and node.id == "Any":
                found.any_types += 1
    return found


def rows(found: Figures) -> list[str]:
    functions, files = found.functions, found.files
    lines = sum(files.values())
    longest = max(functions, key=lambda name: functions[name])
    file = max(files, key=lambda name: files[name])
    return [
        f"{len(files):,}",
        f"{lines:,}",
        f"{statistics.median(files.values()):.0f}",
        f"{files[file]} ({file})",
        f"{sum(length > _LONG_FILE for length in files.values())}",
        f"{len(functions):,}",
        f"{statistics.median(functions.values()):.0f} / {percentile([float(x) for x in functions.values()], 0.95):.0f}",
        f"{functions[longest]} ({longest.partition(' ')[2]})",
        f"{sum(length > _LONG_FUNCTION for length in functions.values())}",
        f"{100 * found.comments / lines:.1f} %",
        f"{found.broad_excepts} ({1000 * found.broad_excepts / lines:.2f})",
        f"{found.any_types} ({1000 * found.any_types / lines:.1f})",
    ]


_NAMES = (
    "files",
    "lines",
    "lines of a file, median",
    "longest file",
    f"files over {_LONG_FILE} lines",
    "functions",
    "lines of a function, median / 95 of 100",
    "longest function",
    f"functions over {_LONG_FUNCTION} lines",
    "comment lines",
    "broad excepts (per 1,000 lines)",
    "`Any` in types (per 1,000 lines)",
)


def main() -> None:
    folders = [Path(argument) for argument in sys.argv[1:]] or [Path("src")]
    columns = [rows(figures_of(folder)) for folder in folders]
    print(table("How the code stands", ("", *map(str, folders)), list(zip(_NAMES, *columns, strict=True))))


if __name__ == "__main__":
    main()
