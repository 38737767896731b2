"""What a key costs in ``ovillo browse``: a pseudo-terminal, keys one by one, and when the screen stands still again.

    python -m bench.browse --corpus DIR [--data DATA_DIR] [--fzf PROGRAM]

``DIR`` is a home folder with ``.claude/projects`` in it; ``--data`` is a data folder that was filled from it before. Of each key: from
its being pressed until the last thing that changed before a stretch without any change. fzf (Debian: ``fzf``) looks through
the lines of the same transcripts, each cut to 2,000 characters, and is measured in the same way; ``ovillo search`` once for each query.
Processor time (Linux) is that of all threads of the program, so that a busy machine still tells something.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.contestants import environment_of
from bench.processes import run
from bench.tables import keep, percentile, table

#: Rare words, common ones, little words, a name, a filter; what is planted in the corpus is found.
QUERIES = (
    "glasswing backoff",
    "QUOKKA_LEASE_TTL",
    "retry timeout error",
    "how do I fix the database connection",
    "import os",
    '"the tests pass"',
    "traceback is:error",
    "arregla la función",
)
_STILL_S = 0.35
_LINES, _COLUMNS = 40, 120
_LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Key:
    """Milliseconds until the first and the last change, and of work."""

    first: float
    last: float
    worked: float


class Typist:
    """Somebody at a terminal on which ``command`` runs."""

    def __init__(self, terminal: int, began: float, pid: int) -> None:
        self._terminal = terminal
        self._tasks = Path(f"/proc/{pid}/task")
        self.began = began
        self.seen = b""

    def still(self, since: float, stretch: float = _STILL_S) -> tuple[float | None, float]:
        """Milliseconds from ``since`` to the first and to the last change before nothing changes for a stretch."""
        first: float | None = None
        last = since
        while select.select([self._terminal], [], [], stretch if first is not None else 5.0)[0]:
            self.seen += os.read(self._terminal, 65_536)
            last = time.perf_counter()
            first = first or last
        return (None if first is None else (first - since) * 1000), (last - since) * 1000

    def until(self, words: bytes) -> float:
        """Milliseconds from the start of the program until these stand on the screen."""
        while words not in self.seen and select.select([self._terminal], [], [], 30.0)[0]:
            self.seen += os.read(self._terminal, 65_536)
        return (time.perf_counter() - self.began) * 1000

    def worked(self) -> float:
        """Milliseconds of processor time so far; 0 where that cannot be told."""
        tasks = self._tasks.glob("*/schedstat") if self._tasks.exists() else ()
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def press(self, key: str) -> Key:
        since, before = time.perf_counter(), self.worked()
        os.write(self._terminal, key.encode())
        first, last = self.still(since)
        return Key(first or last, last, self.worked() - before)


@contextmanager
def typing(command: Sequence[str], environment: Mapping[str, str], stdin: Path | None = None) -> Iterator[Typist]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
    given = stdin.open("rb") if stdin is not None else None
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=given if given is not None else theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),  # noqa: PLW1509
    )
    os.close(theirs)
    try:
        yield Typist(ours, began, process.pid)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        if given is not None:
            given.close()


def keys_of(typist: Typist, queries: Sequence[str]) -> dict[str, list[Key]]:
    """Each query letter by letter, then taken away at once, which is not counted."""
    found: dict[str, list[Key]] = {}
    for query in queries:
        found[query] = [typist.press(sign) for sign in query]
        typist.press("\x15")
    return found


def row(name: str, walls: Sequence[float], works: Sequence[float] = ()) -> list[object]:
    def three(values: Sequence[float]) -> list[object]:
        ordered = sorted(values)
        return [statistics.median(ordered), percentile(ordered, 0.95), ordered[-1]] if ordered else [None] * 3

    return [name, len(walls), *three(walls), sum(1 for each in walls if each > 100), *three(works)]


def row_of(name: str, keys: Sequence[Key]) -> list[object]:
    return row(name, [key.last for key in keys], [key.worked for key in keys])


def of_browse(environment: Mapping[str, str], starts: int) -> tuple[list[list[object]], list[list[object]]]:
    command = [sys.executable, "-m", "ovillo", "browse"]
    boxes, lists = [], []
    for _ in range(starts):
        with typing(command, environment) as typist:
            boxes.append((typist.until(b"Enter read"), typist.worked()))
            lists.append((typist.until(b"sessions"), typist.worked()))
    with typing(command, environment) as typist:
        typist.until(b"sessions")
        typist.still(time.perf_counter(), 1.5)
        keys = keys_of(typist, QUERIES)
        moved = [typist.press("\x1b[B") for _ in range(20)]
    every = [each for query in keys.values() for each in query]
    return (
        [
            row("browse: the box, where one can type", *zip(*boxes, strict=True)),
            row("browse: the newest sessions", *zip(*lists, strict=True)),
        ],
        [
            row("browse: the letter stands there", [key.first for key in every]),
            row_of("browse: all that is found, with the preview", every),
            *(row_of(f"  {query}", each) for query, each in keys.items()),
            row_of("browse: one session down, with its preview", moved),
        ],
    )


def of_search(environment: Mapping[str, str]) -> list[object]:
    command = [sys.executable, "-m", "ovillo", "search", "--scope", "everywhere"]
    runs = [run([*command, query], environment, timeout=60) for query in QUERIES]
    return row("ovillo search, whole queries", [x.wall_s * 1000 for x in runs], [x.cpu_s * 1000 for x in runs])


def of_fzf(program: str, corpus: Path, environment: Mapping[str, str]) -> tuple[list[object], list[object]]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", errors="replace") as lines:
        count = 0
        for path in sorted((corpus / ".claude" / "projects").rglob("*.jsonl")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                lines.write(line[:_LINE_CHARS] + "\n")
                count += 1
        lines.flush()
        whole = f"{count}/{count}".encode()
        with typing([program, "--exact", "--no-sort"], environment, Path(lines.name)) as typist:
            read, worked = typist.until(whole), typist.worked()
            typist.still(time.perf_counter(), 1.0)
            keys = keys_of(typist, [query for query in QUERIES if ":" not in query and '"' not in query])
    every = [key for query in keys.values() for key in query]
    return row(f"fzf: {count:,} lines read", [read], [worked]), row_of("fzf: all that is found", every)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--fzf", help="program; left out: not beside fzf")
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    corpus = arguments.corpus.resolve()
    with tempfile.TemporaryDirectory() as folder:
        data = (arguments.data or Path(folder)).resolve()
        environment = {**environment_of(corpus), "OVILLO_DATA_DIR": str(data), "OVILLO_EMBEDDER": "none"}
        done = run([sys.executable, "-m", "ovillo", "scan"], environment, timeout=900)
        if done.code:
            raise SystemExit(done.err)
        first, keys = of_browse(environment, arguments.starts)
        keys.append(of_search(environment))
        if arguments.fzf:
            read, found = of_fzf(arguments.fzf, corpus, environment)
            first.append(read)
            keys.append(found)
    columns = ["ms", "times", "p50", "p95", "max", "over 100", "cpu p50", "cpu p95", "cpu max"]
    print(table(f"First paint of {corpus.name}", columns, first))
    print(table(f"A key over {corpus.name}", columns, keys))
    keep(
        "browse", {"columns": columns, "first": first, "keys": keys, "queries": json.dumps(QUERIES)}, arguments.results
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
