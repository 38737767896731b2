"""How fast secrets are looked for, by kind of text: source code, recorded sessions, prose.

    python -m bench.masking [--megabytes 4] [--corpus DIR] [--beside OTHER/.venv/bin/python]

A rule whose hint stands in ordinary text slows every text, and no test of what is masked shows it: of each kind, the same
texts are masked in turns with another build, in a process of its own each, and processor time counts. Source code is what
the packages of this environment hold; prose is their documentation and this project's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.tables import keep, table

_TURNS = 3
#: Larger files are made by programs.
_LARGEST_BYTES = 300_000
_DOCS = Path(__file__).resolve().parent.parent / "docs"
_MASK = """
import json, sys, time
from ovillo.security.redaction import Redactor
texts = json.load(open(sys.argv[1], encoding="utf-8"))
redactor = Redactor(bytes(range(32)))
redactor.redact("password=hunter2-and-more")
start = time.process_time()
found = sum(sum(redactor.redact(text)[1].values()) for text in texts)
print(json.dumps([time.process_time() - start, found]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=4, help="of each kind of text")
    parser.add_argument("--corpus", type=Path, help="recorded sessions: DIR/.claude/projects")
    parser.add_argument("--beside", help="the Python of another build's environment")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    packages = Path(sysconfig.get_paths()["purelib"])
    kinds = {
        "source code": packages.rglob("*.py"),
        "scripts and data": (path for form in ("*.js", "*.json", "*.toml") for path in packages.rglob(form)),
        "prose": (
            path for root in (_DOCS, packages) for form in ("*.md", "*.rst", "METADATA") for path in root.rglob(form)
        ),
    }
    if arguments.corpus:
        kinds["recorded sessions"] = arguments.corpus.rglob("*.jsonl")
    builds = {"now": sys.executable, **({"beside": arguments.beside} if arguments.beside else {})}
    rows, result = [], {}
    for kind, paths in kinds.items():
        texts = _texts(paths, int(arguments.megabytes * 1e6))
        size = sum(len(text.encode()) for text in texts) / 1e6
        measured = _in_turns(builds, texts)
        result[kind] = {"megabytes": size, **measured}
        for build, (seconds, found) in measured.items():
            rows.append([kind, build, len(texts), size, size / seconds, 1000 * seconds / size, found])
    columns = ["text", "build", "texts", "MB", "MB/s", "ms a MB", "masked"]
    print(table(f"Masking, processor time, best of {_TURNS} turns", columns, rows))
    keep("masking", {"kinds": result}, arguments.results)


def _texts(paths: Iterable[Path], most_bytes: int) -> list[str]:
    """Whole files, evenly drawn so that no one package is most of them."""
    readable = sorted(path for path in paths if path.is_file() and path.stat().st_size > 0)
    texts: list[str] = []
    size = 0
    for path in readable[:: max(1, len(readable) // 400)]:
        text = path.read_bytes()[:_LARGEST_BYTES].decode("utf-8", "replace")
        texts.append(text)
        size += len(text.encode())
        if size >= most_bytes:
            break
    return texts


def _in_turns(builds: dict[str, str], texts: list[str]) -> dict[str, tuple[float, int]]:
    """build -> (seconds of its best turn, secrets found)."""
    best: dict[str, tuple[float, int]] = {}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(texts, file)
        file.flush()
        for _ in range(_TURNS):
            for build, python in builds.items():
                done = subprocess.run([python, "-c", _MASK, file.name], capture_output=True, check=True)
                seconds, found = json.loads(done.stdout)
                best[build] = min(best.get(build, (seconds, found)), (seconds, found))
    return best


if __name__ == "__main__":
    main()
