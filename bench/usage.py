"""Sums of tokens, cost and time of ``ovillo usage``, beside what is known of the corpus and beside ccusage.

    python -m bench.usage --corpus DIR [--ccusage PROGRAM] [--data DATA_DIR]

``DIR`` is a home folder with the clients' own folders in it; ``DIR/manifest.json`` of the corpus maker gives the true sums. ``--data`` is
a data folder that was filled from it before. ccusage comes with ``npm install ccusage`` and is asked with its own prices (``--offline``).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.contestants import environment_of
from bench.processes import Run, run
from bench.tables import keep, table

_KINDS = ("input", "output", "cache read", "cache write")
_MANIFEST = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CCUSAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")


@dataclass(frozen=True, slots=True)
class Sums:
    """Output holds the reasoning: neither the manifest nor ccusage tells it apart."""

    name: str
    tokens: tuple[int, ...]
    cost: float | None = None
    ran: Run | None = None

    def row(self) -> list[object]:
        times = (self.ran.wall_s, self.ran.cpu_s) if self.ran else (None, None)
        return [self.name, *self.tokens, sum(self.tokens), None if self.cost is None else round(self.cost, 4), *times]


def of_manifest(corpus: Path) -> Sums | None:
    path = corpus / "manifest.json"
    if not path.exists():
        return None
    true = json.loads(path.read_text(encoding="utf-8"))["true_usage"]
    return Sums("manifest", tuple(true[name] for name in _MANIFEST))


def of_ovillo(corpus: Path, data: Path) -> Sums:
    environment = {**environment_of(corpus), "OVILLO_DATA_DIR": str(data), "OVILLO_EMBEDDER": "none"}
    ovillo = [sys.executable, "-m", "ovillo"]
    _checked(run([*ovillo, "scan"], environment, timeout=900))
    done = _checked(run([*ovillo, "usage", "--json"], environment, timeout=120))
    total = json.loads(done.out)["total"]
    used = total["usage"]
    tokens = (used["input"], used["output"] + used["reasoning"], used["cache_read"], used["cache_write"])
    return Sums("ovillo", tokens, total["cost"], done)


def of_ccusage(corpus: Path, program: Path) -> Sums:
    done = _checked(run([str(program), "daily", "--json", "--offline"], environment_of(corpus), timeout=120))
    totals = json.loads(done.out)["totals"]
    return Sums("ccusage", tuple(totals[name] for name in _CCUSAGE), totals["totalCost"], done)


def _checked(done: Run) -> Run:
    if done.code:
        raise SystemExit(done.err or done.out)
    return done


def main() -> int:
    """1 where a sum differs from the manifest's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--ccusage", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    corpus = arguments.corpus.resolve()
    with tempfile.TemporaryDirectory() as folder:
        found = [of_ovillo(corpus, (arguments.data or Path(folder)).resolve())]
    if arguments.ccusage:
        found.append(of_ccusage(corpus, arguments.ccusage.resolve()))
    true = of_manifest(corpus)
    rows = [each.row() for each in ([true] if true else []) + found]
    columns = ["who", *_KINDS, "all", "cost $", "wall s", "cpu s"]
    print(table(f"Usage of {corpus.name}", columns, rows))
    keep("usage", {"columns": columns, "rows": rows}, arguments.results)
    return int(true is not None and found[0].tokens != true.tokens)


if __name__ == "__main__":
    sys.exit(main())
