"""What summaries without a model save: tokens before and after, by session, and how long one takes.

    python -m bench.summaries [--input DIR] [--max-tokens 500] [--show] [--results DIR]

DIR is a home folder with agents' histories (default: the demo history, made here). Each session is summarised whole.
``--show`` prints the summaries. Bar (SPEC-015 section 1): at least 50 % fewer tokens, measured by o200k; tokens of
reasoning and of text the client put in are not counted as saved.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table, verdict
from ovillo.app import open_services
from ovillo.demo import unpack
from ovillo.model.records import DEFAULT_NAMESPACE, Message, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.sessions.languages import identify
from ovillo.sessions.summaries import message_tokens, summary_budget
from ovillo.sessions.summarizers import SummaryRequest
from ovillo.sessions.summarizers.extractive import Extractive
from ovillo.sessions.tokens import count_tokens
from ovillo.settings import Settings
from ovillo.store.protocol import Store

_PAGE = 200
_NOVEMBER_2026 = 1_795_262_400_000
_BAR = 0.5


def _messages(store: Store, session_id: SessionId) -> list[Message]:
    found: list[Message] = []
    while page := store.sessions.messages(
        DEFAULT_NAMESPACE, session_id, after_seq=found[-1].seq if found else None, limit=_PAGE
    ):
        found += page
    return found


def measure(store: Store, max_tokens: int, *, show: bool = False) -> list[dict[str, Any]]:
    """One row a session with something said in it, the longest first."""
    rows = []
    for found in store.sessions.find(DEFAULT_NAMESPACE, SessionFilter(), 10_000):
        messages = _messages(store, found.session.id)
        before = sum(map(message_tokens, messages))
        started = time.process_time()
        text = Extractive().summarize(SummaryRequest(messages, "", summary_budget(before, max_tokens)))
        spent = (time.process_time() - started) * 1_000
        if not text:
            continue
        after = count_tokens(text)
        rows.append(
            {
                "session": str(found.session.id)[:24],
                "source": found.session.source,
                "language": identify([text]).code,
                "messages": len(messages),
                "before": before,
                "after": after,
                "saved": 1 - after / before if before else 0.0,
                "cpu_ms": spent,
            }
        )
        if show:
            print(f"\n--- {found.session.source} {found.session.id}: {before} -> {after} tokens\n{text}")
    return sorted(rows, key=lambda row: -row["before"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--input", type=Path, help="a home folder with agents' histories; the demo history if not given"
    )
    parser.add_argument("--max-tokens", type=int, default=500)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--results", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.input or unpack(Path(folder) / "demo", _NOVEMBER_2026)
        settings = Settings(Path(folder) / "data", home, environment={"HOME": str(home)}, embedder="none", watch=False)
        services = open_services(settings)
        services.ingest.scan()
        rows = measure(services.store, arguments.max_tokens, show=arguments.show)
        services.close()
    if not rows:
        print(f"No session with anything said in it below {home}.")
        return 1
    before, after = sum(row["before"] for row in rows), sum(row["after"] for row in rows)
    saved = 1 - after / before
    print(table("Summaries without a model", list(rows[0]), [list(row.values()) for row in rows[:40]]))
    print(
        f"\n{len(rows)} sessions: {before:,} tokens before, {after:,} after, {saved:.1%} saved (bar {_BAR:.0%}:"
        f" {verdict(saved, _BAR, at_least=True)}); sessions under the bar:"
        f" {sum(row['saved'] < _BAR for row in rows)}; cpu p50 {percentile([r['cpu_ms'] for r in rows], 0.5):.1f} ms,"
        f" p95 {percentile([r['cpu_ms'] for r in rows], 0.95):.1f} ms"
    )
    if arguments.results:
        keep("summaries", {"sessions": rows, "before": before, "after": after, "saved": saved}, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
