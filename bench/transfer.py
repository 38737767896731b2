"""Export and import of sessions of 1 MB and 10 MB, each way.

    python -m bench.transfer [--megabytes 1,10] [--runs 5] [--results DIR]

The session is made of a real transcript of the fixtures, repeated until its JSON export has the size. Exports are read to
their end; imports are durable (the answer comes after COMMIT) and include parsing, checks, redaction and the search index,
into a database that holds the session already. The bar is SPEC-015 section 1: under 2 s for a session of 1 MB.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table, verdict
from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.model.live import NATIVE
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Message, MessageId, PartId, Session, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.settings import Settings

_FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures"
_BAR_S = 2.0
_FORMS = ("json", "jsonl", "md", "html")


def prepared(services: Composition, size: int) -> SessionId:
    """A recorded session whose JSON export has about ``size`` bytes."""
    rows = services.store.sessions.find(NS, SessionFilter(), 1_000)
    longest = max(rows, key=lambda row: row.counts.characters)
    said = services.store.sessions.messages(NS, longest.session.id, limit=100_000)
    once = len(_export(services, longest.session.id, "json"))
    session = SessionId(f"ses_bench_{size}")
    messages = [_copy(message, session, turn, len(said)) for turn in range(max(1, size // once)) for message in said]
    about = Session(session, NATIVE, title=f"{size} bytes", created_at=1, updated_at=1)
    services.store.importing.import_session(NS, about, messages, at=1)
    return session


def _copy(message: Message, session: SessionId, turn: int, count: int) -> Message:
    name = MessageId(f"{turn}-{message.id}")
    parts = (replace(part, id=PartId(f"{turn}-{part.id}"), message_id=name) for part in message.parts)
    seq = turn * count + message.seq
    return replace(message, session_id=session, id=name, seq=seq, parts=tuple(parts), inherited_from=None)


def _export(services: Composition, session: SessionId, form: str) -> bytes:
    return b"".join(services.transfer.export(NS, session, form).chunks)


def measure(megabytes: float, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for client in ("claude-code", "opencode-sqlite"):
            shutil.copytree(_FIXTURES / client / "home", home, dirs_exist_ok=True)
        services = open_services(Settings(data_dir=home / "data", home=home, embedder="none", watch=False))
        services.ingest.scan()
        session = prepared(services, int(megabytes * 1_000_000))
        rows = []
        for form in _FORMS:
            out, back = [], []
            for _ in range(runs):
                begun = time.perf_counter()
                data = _export(services, session, form)
                out.append(time.perf_counter() - begun)
                if form in ("json", "jsonl"):
                    begun = time.perf_counter()
                    services.importer.import_session(NS, data)
                    back.append(time.perf_counter() - begun)
            rows.append(
                {
                    "form": form,
                    "bytes": len(data),
                    "export_s": percentile(out, 0.5),
                    "import_s": percentile(back, 0.5) if back else None,
                    "worst_s": max(out + back),
                }
            )
        counts = services.store.sessions.get_many(NS, [session])[session].counts
        services.close()
    return {"megabytes": megabytes, "messages": counts.messages, "parts": counts.parts, "rows": rows}


def report(results: list[dict[str, Any]]) -> str:
    columns = ("session", "messages", "parts", "form", "MB", "export p50 s", "import p50 s", "worst s", "bar 2 s")
    rows = [
        [
            f"{result['megabytes']:g} MB",
            result["messages"],
            result["parts"],
            row["form"],
            row["bytes"] / 1e6,
            row["export_s"],
            row["import_s"],
            row["worst_s"],
            verdict(row["worst_s"], _BAR_S) if result["megabytes"] <= 1 else "",
        ]
        for result in results
        for row in result["rows"]
    ]
    return table("Sessions out and in", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", default="1,10")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    results = [measure(float(size), arguments.runs) for size in arguments.megabytes.split(",")]
    keep("transfer", {"sessions": results}, arguments.results)
    print(report(results))


if __name__ == "__main__":
    main()
