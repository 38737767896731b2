"""Prints all tables: ``make bench``, or ``python -m bench [--corpus DIR] [--only scan,warm_search]``.

Each benchmark is a module of its own that runs alone, too (``python -m bench.scan --help``). One that fails or lacks
its data is named, and the others run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.corpus import generate

#: name -> arguments; ``{corpus}``, ``{locomo}`` and ``{results}`` are put in.
BENCHMARKS: dict[str, list[str]] = {
    "scan": ["--corpus", "{corpus}", "--results", "{results}"],
    "warm_search": ["--corpus", "{corpus}", "--results", "{results}"],
    "needles": ["--input", "{corpus}", "--output", "{results}/needles.jsonl"],
    "long_session": ["--results", "{results}"],
    "summaries": ["--results", "{results}"],
    "startup": [],
    "code": ["--root", "src", "--results", "{results}"],
    "references": [
        *("--input", "tests/references/dialogues/held_out.jsonl"),
        *("--output", "{results}/references.jsonl", "--results", "{results}"),
    ],
    "symbols": ["--results", "{results}"],
    "knowledge": [
        *("--input", "tests/fixtures/knowledge"),
        *("--output", "{results}/knowledge.jsonl", "--results", "{results}"),
    ],
    "append": ["--results", "{results}"],
    "sync": ["--results", "{results}"],
    "snapshots": ["--results", "{results}"],
    "transfer": ["--results", "{results}"],
    "memory": ["--results", "{results}"],
    "masking": ["--corpus", "{corpus}", "--results", "{results}"],
    "locomo": ["--input", "{locomo}", "--output", "{results}/locomo.jsonl"],
    "usage": ["--corpus", "{corpus}", "--results", "{results}"],
    "peers": ["--corpus", "{corpus}", "--results", "{results}"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", type=Path, help="a folder with .claude/ and needles.json; a small one is made when not given"
    )
    parser.add_argument(
        "--locomo", type=Path, help="a folder with LoCoMo data (not part of the project); left out when not given"
    )
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    chosen = [name for name in arguments.only.split(",") if name] or list(BENCHMARKS)
    arguments.results.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = arguments.corpus
        if corpus is None:
            corpus = Path(folder) / "corpus"
            generate(corpus, sessions=120, megabytes=12, seed=7)
            print("Corpus: a small one made here (12 MB); figures at full size need --corpus DIR.")
        places = {"corpus": str(corpus), "locomo": str(arguments.locomo), "results": str(arguments.results)}
        for name in chosen:
            if name == "locomo" and arguments.locomo is None:
                print("\n== locomo: left out, it needs --locomo DIR")
                continue
            print(f"\n== {name}", flush=True)
            argv = [part.format(**places) for part in BENCHMARKS.get(name, [])]
            if subprocess.run([sys.executable, "-m", f"bench.{name}", *argv], check=False).returncode:
                failed.append(name)
    if failed:
        print(f"\nDid not finish: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
