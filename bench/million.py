"""One store with a million messages: whether what is asked every day stays bounded when a history of years is behind it.

    python -m bench.million [--messages 1000000] [--data DIR] [--results DIR]

Transcripts of Claude Code are made here (5,000 sessions of all lengths, one of 20,000 messages, text of this interpreter's standard
library), scanned once, and asked by command, over MCP and over REST. ``--data DIR`` keeps home and store, and goes on with those that
stand there. A million messages take some 800 MB of transcripts and, with what the store makes of them, 3 GB of disk.

Bars: a search at most 15 ms of processor time at the 95th percentile (DESIGN section 17); pages, lists, status and start-up as on a small store,
which a second, small store in the same run stands for.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.contestants import environment_of
from bench.corpus import source_lines
from bench.processes import run
from bench.servers import OvilloServer
from bench.stdio_client import StdioClient
from bench.tables import keep, percentile, table

_SESSIONS = 5_000
_LONGEST = 20_000
_SMALL = 10_000
_ROUNDS = 12
_BEGUN = datetime(2023, 1, 2, tzinfo=UTC)
_QUERIES = (
    "connection refused by the socket",
    "pickle protocol version",
    "def _parse_args",
    "unicode decode error",
    "lock timeout",
    "the",
    "tarfile header checksum",
    '"end of file"',
    "import*",
    "zzqqx nothing like it",
)


def make(home: Path, messages: int, *, seed: int = 7) -> str:
    """Transcripts with so many messages below ``home``; the id of the longest session."""
    rng = random.Random(seed)
    lines = source_lines()
    longest = min(_LONGEST, messages // 10)
    sessions = max(2, _SESSIONS * messages // 1_000_000)
    weights = [rng.paretovariate(1.2) for _ in range(sessions - 1)]
    share = (messages - longest) / sum(weights)
    sizes = [longest, *(max(2, round(weight * share)) for weight in weights)]
    first = ""
    for number, size in enumerate(sizes):
        session = str(UUID(int=rng.getrandbits(128), version=4))
        first = first or session
        directory = f"/home/dev/src/{rng.choice(('web', 'api', 'jobs', 'docs'))}-{number % 40}"
        folder = home / ".claude" / "projects" / directory.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        begun = _BEGUN + timedelta(hours=6 * number * 1_000_000 // max(messages, 1) % 30_000)
        with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
            _write(file, session, directory, begun, size, rng, lines)
    return first


def _write(
    file: Any, session: str, directory: str, now: datetime, size: int, rng: random.Random, lines: list[str]
) -> None:
    parent: str | None = None
    for number in range(size):
        now += timedelta(seconds=rng.randrange(2, 90))
        own = str(UUID(int=rng.getrandbits(128), version=4))
        at = rng.randrange(len(lines) - 12)
        text = "\n".join(lines[at : at + rng.randrange(1, 12)])
        if number % 2:
            usage = {"input_tokens": rng.randrange(2, 40), "output_tokens": rng.randrange(20, 400)}
            message = {
                "id": f"msg_{rng.getrandbits(80):020x}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-5",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": usage,
            }
        else:
            message = {"role": "user", "content": text}
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": message["role"],
            "message": message,
            "uuid": own,
            "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "cwd": directory,
            "sessionId": session,
            "version": "2.1.197",
            "gitBranch": "main",
        }
        parent = own
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


