"""Symbol search: questions in four languages about the definitions of installed packages.

    python -m bench.symbols --input FILE --output predictions.jsonl

FILE holds one question a line: ``id``, ``lang``, ``package`` (``name==version``), ``query``, ``expected`` (any of these
symbols is right; a symbol is its module's path, a dot and its qualified name). Each package is installed by pip, without
what it needs, into a folder of the cache, indexed as code, and asked. ``expected`` is looked at afterwards only, to print
how good the answers are. Output: one line a question, ``{"id": ..., "results": [symbol, ...]}``, best first.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table, verdict
from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.model.code import SymbolRow
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.settings import Settings

#: The project's own questions, on which search was fitted.
OWN = Path(__file__).parents[1] / "tests" / "fixtures" / "symbol-queries.jsonl"
_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+")
_RESULTS = 10
_BAR = 0.80


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, default=OWN)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "ovillo-bench-packages")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    parser.add_argument("--embedder", default="minilm", help="none: by words alone")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in arguments.input.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as data:
        services = open_services(Settings(data_dir=Path(data), home=Path(data), embedder=arguments.embedder))
        try:
            return _measure(services, questions, arguments)
        finally:
            services.close()


def _measure(services: Composition, questions: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> int:
    roots = {name: _indexed(services, name, arguments.cache) for name in sorted({q["package"] for q in questions})}
    builds = {name: _first(services, root) for name, root in roots.items()}
    began = time.monotonic()
    embedded = services.symbols.vectors.embed_all(DEFAULT_NAMESPACE)
    print(f"{embedded:,} definitions embedded in {time.monotonic() - began:.0f} s")
    answers: dict[str, list[str]] = {}
    taken: list[float] = []
    for question in questions:
        began = time.perf_counter()
        found = services.symbols.find(
            DEFAULT_NAMESPACE, question["query"], root=roots[question["package"]], limit=_RESULTS
        )
        taken.append((time.perf_counter() - began) * 1000)
        answers[question["id"]] = [symbol_id(one.symbol) for one in found.symbols]
    if arguments.output is not None:
        lines = [json.dumps({"id": id_, "results": found}, ensure_ascii=False) for id_, found in answers.items()]
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = list(_scores(services, roots, questions, answers))
    if rows:
        print(table("Symbol search", ["asked for", "n", "R@1", "R@5", "R@10", "MRR"], rows))
        print(f"R@5 {rows[0][3]:.3f}, bar {_BAR}: {verdict(rows[0][3], _BAR, at_least=True)}")
    latency = {"p50 ms": percentile(taken, 0.5), "p95 ms": percentile(taken, 0.95)}
    print(table("\nA question", ["what", "value"], [[k, v] for k, v in latency.items()]))
    print(
        table("\nFirst question about a folder", ["package", "definitions", "s"], [[k, *v] for k, v in builds.items()])
    )
    keep("symbols", {"scores": rows, "latency": latency, "first": builds}, arguments.results)
    return 0


def symbol_id(row: SymbolRow) -> str:
    """``django/db/models/base.py`` and ``Model.save`` -> ``django.db.models.base.Model.save``."""
    return f"{module_path(row.file)}.{row.qualified_name}"


def module_path(file: str) -> str:
    return file.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")


def _indexed(services: Composition, package: str, cache: Path) -> str:
    return services.code.index(DEFAULT_NAMESPACE, _installed(package, cache)).root


def _installed(package: str, cache: Path) -> Path:
    if not _PINNED.fullmatch(package):
        raise SystemExit(f"{package!r} is no pinned package: name==version.")
    folder = cache / package
    done = folder.with_name(folder.name + ".done")
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--upgrade"]
        subprocess.run([*argv, "--target", str(folder), package], check=True)
        done.touch()
    return folder


def _first(services: Composition, root: str) -> tuple[int, float]:
    """Definitions of a folder, and the seconds of the first question about it."""
    services.symbols.find(DEFAULT_NAMESPACE, "x", root="nowhere")
    began = time.monotonic()
    services.symbols.find(DEFAULT_NAMESPACE, "open a file", root=root)
    took = time.monotonic() - began
    return next(one.symbols for one in services.code.roots(DEFAULT_NAMESPACE) if one.path == root), took


def _scores(
    services: Composition, roots: dict[str, str], questions: Sequence[dict[str, Any]], answers: dict[str, list[str]]
) -> Iterator[list[Any]]:
    """Rows of recall and mean reciprocal rank: all, by language, by kind of the first right symbol, by package."""
    kinds = {
        (package, symbol_id(row)): row.kind.value
        for package, root in roots.items()
        for row in services.store.code.symbols(DEFAULT_NAMESPACE, root)
    }
    ranks: dict[str, list[int | None]] = defaultdict(list)
    for question in questions:
        right = question.get("expected")
        if not right:
            continue
        rank = next((i for i, one in enumerate(answers[question["id"]], 1) if one in right), None)
        kind = next((kinds[question["package"], one] for one in right if (question["package"], one) in kinds), "other")
        for group in ("all", f"language {question['lang']}", f"kind {kind}", question["package"]):
            ranks[group].append(rank)
    for group in sorted(ranks, key=lambda name: (name != "all", name)):
        yield [group, len(ranks[group]), *_recalls(ranks[group])]


def _recalls(ranks: Sequence[int | None]) -> list[float]:
    found = [rank for rank in ranks if rank is not None]
    return [
        *(sum(rank <= k for rank in found) / len(ranks) for k in (1, 5, 10)),
        sum(1 / r for r in found) / len(ranks),
    ]


if __name__ == "__main__":
    sys.exit(main())
