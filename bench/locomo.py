"""LoCoMo questions at turn level: which turns hold the evidence, by the search service as it is installed.

    python -m bench.locomo --input DIR --output predictions.jsonl

DIR holds one JSON file a conversation, as published with LoCoMo (CC BY-NC 4.0: measure only, never part of the project):
``conversation.session_N`` is a list of turns (``speaker``, ``dia_id``, ``text``, at times ``blip_caption`` of a shared
picture), ``conversation.session_N_date_time`` its date, ``qa`` a list of questions. Answers and evidence are not read.

Each conversation becomes a store of its own: session_N a session, a turn a message (its text the speaker's name, what was
said and the picture's caption). Everything is embedded, then each question is asked as it stands. Output: one line a
question, ``{"question_id": "<conversation>#<index>", "ranked_evidence_ids": ["D1:3", ...]}``, best first.

``--by context`` asks ``POST /get_context`` of a server instead (``bench.locomo_context``) and prints, by kind of question, how
often the evidence is among the first three places, how often the answer was given with it there, and how often it abstained.
``--roles alternate`` records the second speaker as the assistant; otherwise both are people.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.locomo_context import Asked, as_line, ask_all
from bench.locomo_context import report as report_of_contexts
from bench.tables import percentile, table
from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.records import (
    DEFAULT_NAMESPACE,
    Author,
    Message,
    MessageId,
    Part,
    PartId,
    PartType,
    Role,
    Session,
    SessionDelta,
    SessionId,
)
from ovillo.search.embedders import open_embedder
from ovillo.search.embedding_queue import EmbeddingQueue
from ovillo.search.service import SearchRequest
from ovillo.settings import Settings

_SESSION = re.compile(r"session_(\d+)")
_MOST_SESSIONS, _MOST_HITS = 100, 200


def conversations(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else [folder]:
        loaded = json.loads(path.read_text(encoding="utf-8"))
        yield from (loaded if isinstance(loaded, list) else [loaded])


def deltas(conversation: dict[str, Any]) -> Iterator[SessionDelta]:
    for name, turns in conversation.items():
        if not isinstance(turns, list) or not (found := _SESSION.fullmatch(name)):
            continue
        session_id = SessionId(f"session-{int(found[1]):03}")
        at = _moment(conversation.get(f"{name}_date_time"))
        messages = tuple(_message(session_id, seq, turn, at) for seq, turn in enumerate(turns))
        yield SessionDelta(Session(id=session_id, source="locomo", created_at=at, updated_at=at), messages)


def _message(session_id: SessionId, seq: int, turn: dict[str, Any], at: int | None) -> Message:
    message_id = MessageId(turn["dia_id"])
    part = Part(PartId(f"{message_id}/0"), message_id, 0, PartType.TEXT, _text(turn))
    return Message(session_id, message_id, seq, Role.USER, Author.HUMAN, (part,), created_at=at)


def _text(turn: dict[str, Any]) -> str:
    shared = f"\n[shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{shared}"


def appended(conversation: dict[str, Any], alternate: bool) -> dict[str, list[dict[str, Any]]]:
    """The same turns as a client appends them: messages by session."""
    second = str(conversation.get("speaker_b")) if alternate else ""
    return {
        str(delta.session.id): [
            {
                "id": turn["dia_id"],
                "role": "assistant" if turn["speaker"] == second else "user",
                "content": _text(turn),
                "timestamp": delta.session.created_at,
                "idempotencyKey": turn["dia_id"],
            }
            for turn in conversation[f"session_{int(str(delta.session.id).rpartition('-')[2])}"]
        ]
        for delta in deltas(conversation)
    }


def by_context(folder: Path, output: Path, alternate: bool) -> None:
    everything: list[Asked] = []
    with output.open("w", encoding="utf-8") as out:
        for sample in conversations(folder):
            for asked in ask_all(sample, appended(sample["conversation"], alternate)):
                out.write(as_line(asked) + "\n")
                everything.append(asked)
    print(report_of_contexts(everything))


def _moment(text: str | None) -> int | None:
    try:
        return int(datetime.strptime(text or "", "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def answer(services: Services, question: str) -> list[str]:
    """Turns, best first, whatever session they stand in."""
    request = SearchRequest(plain(question), limit=_MOST_SESSIONS, hits_per_session=_MOST_HITS)
    found = services.search.search(DEFAULT_NAMESPACE, request)
    hits = [hit for session in found.sessions for hit in session.hits if hit.message_id]
    return list(dict.fromkeys(hit.message_id for hit in sorted(hits, key=lambda hit: -hit.score) if hit.message_id))


def plain(question: str) -> str:
    """The question as words: what would be read as query syntax is taken out."""
    return re.sub(r'["*]', " ", question)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--embedder", default="minilm", help="minilm (as installed) or none")
    parser.add_argument("--by", choices=("search", "context"), default="search")
    parser.add_argument("--roles", choices=("user", "alternate"), default="user", help="with --by context")
    arguments = parser.parse_args()
    if arguments.by == "context":
        by_context(arguments.input, arguments.output, arguments.roles == "alternate")
        return
    times: list[float] = []
    asked = 0
    with arguments.output.open("w", encoding="utf-8") as out:
        for sample in conversations(arguments.input):
            with tempfile.TemporaryDirectory() as folder:
                settings = Settings(Path(folder), Path(folder), embedder=arguments.embedder, watch=False)
                services = open_services(settings)
                services.store.ingest.apply(DEFAULT_NAMESPACE, list(deltas(sample["conversation"])))
                embedder = open_embedder(settings)
                if embedder is not None:
                    EmbeddingQueue(services.store, embedder).run_until_done()
                for index, question in enumerate(sample["qa"]):
                    started = time.perf_counter()
                    ranked = answer(services, str(question["question"]))
                    times.append((time.perf_counter() - started) * 1000)
                    row = {"question_id": f"{sample['sample_id']}#{index}", "ranked_evidence_ids": ranked}
                    out.write(json.dumps(row) + "\n")
                    asked += 1
                services.close()
    print(
        table("LoCoMo", ("questions", "p50 ms", "p95 ms"), [[asked, percentile(times, 0.5), percentile(times, 0.95)]])
    )


if __name__ == "__main__":
    main()
