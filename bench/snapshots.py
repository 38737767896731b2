"""Twenty versions of a real session as it grew, at each compression level: what they take and how long they take.

    python -m bench.snapshots [--session FILE.jsonl] [--versions 20] [--results DIR]

Every version holds all lines of the transcript up to its stage, parsed, in one JSON object. ``full`` stores each version
by itself, ``delta`` is what ``session_save`` does. Encoding and decoding are timed by themselves; ``save`` and ``restore``
go through the service into a real database and are durable. No bar in DESIGN section 17; the figure to beat is platform.md
section 6 (a delta 16 to 41 times smaller than a full zstd-3 snapshot of a 628 kB session).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table
from ovillo.app import open_services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Session, SessionId
from ovillo.model.sessions import Snapshot
from ovillo.sessions.snapshot_encoding import LEVELS, Base, decode, encode, plain_text
from ovillo.settings import Settings
from ovillo.store.protocol.snapshots import MAX_DELTAS, EncodedSnapshot

_FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "claude-code"


def stages(transcript: Path, versions: int) -> list[dict[str, Any]]:
    """The states to save, oldest first."""
    lines = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [{"session": transcript.stem, "lines": lines[: len(lines) * n // versions]} for n in range(1, versions + 1)]


def encoding(plains: list[bytes], level: int, *, deltas: bool) -> dict[str, Any]:
    """Bytes and milliseconds of encoding each version, and of decoding the whole chain of the last one."""
    encoded: list[EncodedSnapshot] = []
    spent = []
    base: Base | None = None
    for plain in plains:
        begun = time.perf_counter()
        made = encode(plain, level, base if deltas and len(_chain(encoded)) <= MAX_DELTAS else None)
        spent.append((time.perf_counter() - begun) * 1000)
        encoded.append(made)
        base = Base(len(encoded), plain, made.checksum)
    begun = time.perf_counter()
    text: bytes | None = None
    for number in _chain(encoded):
        one = encoded[number - 1]
        row = Snapshot(number, 0, one.level, one.base, one.plain_bytes, len(one.data), one.checksum)
        text = decode(row, one.data, text)
    unpacking = (time.perf_counter() - begun) * 1000
    assert text == plains[-1]
    sizes = [len(one.data) for one in encoded]
    rested = [len(one.data) for one in encoded if one.base is not None]
    return {
        "stored": sum(sizes),
        "delta_p50": percentile(rested, 0.5) if rested else None,
        "encode_ms": percentile(spent, 0.5),
        "decode_ms": unpacking,
    }


def _chain(encoded: list[EncodedSnapshot]) -> list[int]:
    """Versions on which the last one rests, keyframe first."""
    chain: list[int] = []
    at: int | None = len(encoded) or None
    while at is not None:
        chain.append(at)
        at = encoded[at - 1].base
    return chain[::-1]


def durable(states: list[dict[str, Any]], level: int) -> dict[str, float]:
    """Milliseconds of ``save`` and ``restore`` through the service."""
    with tempfile.TemporaryDirectory() as folder:
        services = open_services(Settings(data_dir=Path(folder), home=Path(folder), embedder="none", watch=False))
        session = SessionId("ses_bench")
        services.store.recording.create(NS, Session(id=session, source="ovillo", created_at=1, updated_at=1))
        services.snapshots.save(NS, session, {"rules": "compiled"}, 0)
        saving, restoring = [], []
        for state in states:
            begun = time.perf_counter()
            services.snapshots.save(NS, session, state, level)
            saving.append((time.perf_counter() - begun) * 1000)
        for number in range(2, len(states) + 2):
            begun = time.perf_counter()
            services.snapshots.restore(NS, session, number)
            restoring.append((time.perf_counter() - begun) * 1000)
        services.close()
    return {"save_ms": percentile(saving, 0.5), "restore_ms": percentile(restoring, 0.95)}


def measure(transcript: Path, versions: int) -> dict[str, Any]:
    states = stages(transcript, versions)
    plains = [plain_text(state) for state in states]
    rows = []
    for level in LEVELS:
        for deltas in (False, True) if level else (False,):
            row: dict[str, Any] = {"level": level, "way": "delta" if deltas else "full"}
            row |= encoding(plains, level, deltas=deltas)
            row |= durable(states, level) if deltas or not level else {"save_ms": None, "restore_ms": None}
            rows.append(row)
    return {
        "session": transcript.stem,
        "versions": versions,
        "plain": sum(map(len, plains)),
        "last": len(plains[-1]),
        "rows": rows,
    }


def report(result: dict[str, Any]) -> str:
    columns = (
        "level",
        "way",
        "stored kB",
        "ratio",
        "delta p50 B",
        "encode p50 ms",
        "decode chain ms",
        "save p50 ms",
        "restore p95 ms",
    )
    rows = [
        [
            row["level"],
            row["way"],
            row["stored"] / 1000,
            result["plain"] / row["stored"],
            row["delta_p50"],
            row["encode_ms"],
            row["decode_ms"],
            row["save_ms"],
            row["restore_ms"],
        ]
        for row in result["rows"]
    ]
    title = (
        f"{result['versions']} versions of session {result['session'][:8]}, {result['plain'] / 1000:,.0f} kB in all, "
        f"the last one {result['last'] / 1000:,.0f} kB"
    )
    return table(title, columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--session", type=Path, help="a transcript as JSON lines; the longest fixture when not given")
    parser.add_argument("--versions", type=int, default=20)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    transcript = arguments.session or max(_FIXTURES.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    result = measure(transcript, arguments.versions)
    keep("snapshots", result, arguments.results)
    print(report(result))


if __name__ == "__main__":
    main()
