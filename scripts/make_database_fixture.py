"""Fill a database with a little of everything this program can keep, as a fixture for the upgrade test.

    python scripts/make_database_fixture.py                     # the schema of this tree: run it with every new migration
    git archive COMMIT src | tar x -C DIR; python scripts/make_database_fixture.py --program DIR/src

Writes ``tests/fixtures/databases/NNNN.db.gz`` and ``NNNN.json`` (what was put in), NNNN being the newest migration of the
program that wrote it. The program is the real one of its time, in a process of its own: services it has not are passed
over. Fixtures of released schemas stay as they are; only the newest is made again while its migrations are not released.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
FIXTURES = HERE / "tests" / "fixtures" / "databases"
MIRRORED = "11111111-2222-4333-8444-555555555555"
CONTENT = {"plan": ["read", "mend"], "count": 3, "deep": {"empty": {}, "text": "año"}}
PROJECT = {
    "app.py": 'from ledger import Ledger\n\n\ndef reconcile(book):\n    """Balance the book."""\n    return Ledger(book).total()\n',
    "ledger.py": "class Ledger:\n    def __init__(self, book):\n        self.book = book\n\n"
    "    def total(self):\n        return sum(self.book)\n",
}
DOCUMENT = "# Opening hours\n\nThe shop opens at nine and closes at eighteen, on Sundays it stays shut.\n"


def transcript(home: Path) -> None:
    """A short session of Claude Code: a prompt, an answer with a call, its result, a last word."""
    path = home / ".claude" / "projects" / "-work-shop" / f"{MIRRORED}.jsonl"
    path.parent.mkdir(parents=True)
    usage = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
    run = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "pytest tests/test_zorvath.py"}}
    look = {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/srv/shop/app.py"}}
    said: list[tuple[str, Any]] = [
        ("user", "Why does the zorvath ledger drift by one cent?"),
        ("assistant", [{"type": "text", "text": "I look at app.py first, it rounds twice."}, run, look]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1 failed, 3 passed"}]),
        ("assistant", [{"type": "text", "text": "Fixed: the total is rounded once, in Ledger.total."}]),
    ]
    with path.open("w", encoding="utf-8") as out:
        for number, (role, content) in enumerate(said):
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                message |= {"id": f"msg_{number}", "model": "claude-x", "type": "message", "usage": usage}
            line = {
                "type": role,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": MIRRORED,
                "timestamp": f"2026-11-20T10:0{number}:00.000Z",
                "cwd": "/srv/shop",
                "gitBranch": "main",
                "version": "2.1.197",
                "isSidechain": False,
                "userType": "external",
                "message": message,
            }
            out.write(json.dumps(line) + "\n")


def fill(home: Path) -> dict[str, Any]:
    """Run by the program that is to be tested; ``home`` is empty."""
    from ovillo.app import open_services
    from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, SessionId
    from ovillo.settings import Settings

    transcript(home)
    services: Any = open_services(Settings(data_dir=home / "data", home=home, embedder="none", watch=False))

    def has(name: str) -> bool:
        """Programs before issue 9 list their services."""
        return name in getattr(services, "_builders", ()) or hasattr(type(services), name)

    services.ingest.scan()
    put: dict[str, Any] = {"mirrored": MIRRORED, "word": "zorvath"}
    try:
        if has("recorder"):
            put["recorded"] = record(services, DEFAULT_NAMESPACE, "live")
            put["elsewhere"] = record(services, Namespace("team"), "live")
        if has("summaries") and has("recorder"):
            put["summary"] = services.summaries.summarize(DEFAULT_NAMESPACE, SessionId("live"), force=True).summary
        if has("snapshots"):
            for count in (1, 2):
                services.snapshots.save(DEFAULT_NAMESPACE, SessionId("live"), {**CONTENT, "count": count})
            put["snapshots"] = [{**CONTENT, "count": count} for count in (1, 2)]
        if hasattr(services.store, "program_state"):
            services.store.program_state.put(DEFAULT_NAMESPACE, SessionId("live"), "graph", {"state": CONTENT}, at=1)
            put["state"] = CONTENT
        if has("links"):
            services.links.link_sessions(DEFAULT_NAMESPACE, SessionId("live"), SessionId(MIRRORED), "fixes_issue_in")
            put["link"] = "fixes_issue_in"
        if has("timesheet"):
            task = services.timesheet.punch_in(DEFAULT_NAMESPACE, "model", "mend the ledger")
            services.timesheet.punch_out(DEFAULT_NAMESPACE, task.id, "mended", detect_files=False)
            put["task"] = task.id
        if has("contexts"):
            services.contexts.store(DEFAULT_NAMESPACE, "caller", "note", CONTENT)
            put["context"] = CONTENT
        if has("memories"):
            put["memory"] = remember(services, DEFAULT_NAMESPACE)
        if has("keys") and knows(5):
            put["key"] = services.keys.create("team", "reader of the team", role="reader")[0].id
        if has("summary_worker") and knows(6):
            services.summary_worker.classify(DEFAULT_NAMESPACE)
        if has("code"):
            put |= indexed(services, DEFAULT_NAMESPACE, home)
        if has("entities"):
            from ovillo.entities.tracker import EntityTracker

            EntityTracker(getattr(services.store, "entities", services.store), DEFAULT_NAMESPACE).run_until_done()
            put["entity"] = "app.py"
        if has("knowledge") and knows(9):
            document = home / "hours.md"
            document.write_text(DOCUMENT, encoding="utf-8")
            services.knowledge.add(DEFAULT_NAMESPACE, [document])
            put["document"] = str(document)
        put["embedded"] = embed(services)
        while services.store.text.catch_up():
            pass
    finally:
        services.close()
    return put


def knows(migration: int) -> bool:
    """Two migrations of this history never stood alone: their program is the next one without what came after them."""
    from importlib.resources import files

    return any(x.name.startswith(f"{migration:04}") for x in files("ovillo.store.sqlite.migrations").iterdir())


def record(services: Any, namespace: Any, session_id: str) -> list[str]:
    from ovillo.model.records import Role, SessionId
    from ovillo.sessions.drafts import MessageDraft, SessionDraft

    services.recorder.create(namespace, SessionDraft(id=session_id, name=f"Live work of {namespace}"))
    texts = [f"{word} said in {namespace}, about the quibbleton invoice" for word in ("first", "second", "third")]
    for number, text in enumerate(texts):
        draft = MessageDraft(Role.USER, text, id=f"m{number}", created_at=1_795_262_400_000 + number)
        services.recorder.append(namespace, SessionId(session_id), [(draft, f"key-{number}")]).result()
    return texts


def remember(services: Any, namespace: Any) -> str:
    from ovillo.model.memories import Provenance

    kept = services.memories.semantic.store(namespace, "ledger-rounding", {"rule": "round once"}, Provenance())
    return str(kept.memory.key)


def indexed(services: Any, namespace: Any, home: Path) -> dict[str, Any]:
    folder = home / "shop"
    folder.mkdir()
    for name, text in PROJECT.items():
        (folder / name).write_text(text, encoding="utf-8")
    services.code.index(namespace, folder)
    return {"root": str(folder), "symbol": "reconcile"}


def embed(services: Any) -> int:
    """Vectors of an embedder made up here: what is kept is looked at, not what it means."""
    import numpy as np

    from ovillo.search.embedding_queue import EmbeddingQueue

    class Letters:
        id = "letters"
        query_prefix = passage_prefix = ""
        dimension = 64

        def embed(self, texts: Any) -> Any:
            rows = np.full((len(texts), self.dimension), 0.01, np.float32)
            for row, text in zip(rows, texts, strict=True):
                for letter in text:
                    row[ord(letter) % self.dimension] += 1
            return rows

    return int(EmbeddingQueue(services.store, Letters()).run_until_done(workers=1))


def in_a_process(program: Path) -> None:
    # A path that means nothing: documents and folders of code are kept with theirs.
    home = Path(tempfile.gettempdir()) / "ovillo-fixture-home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OVILLO_")}
    subprocess.run(
        [sys.executable, __file__, "--fill", str(home)],
        env={**environment, "PYTHONPATH": str(program), "HOME": str(home)},
        check=True,
    )
    migrations = sorted((program / "ovillo" / "store" / "sqlite" / "migrations").glob("[0-9]*.sql"))
    number = migrations[-1].name[:4]
    FIXTURES.mkdir(exist_ok=True)
    packed = gzip.compress((home / "data" / "ovillo.db").read_bytes(), 9, mtime=0)
    (FIXTURES / f"{number}.db.gz").write_bytes(packed)
    shutil.copyfile(home / "put.json", FIXTURES / f"{number}.json")
    shutil.rmtree(home)
    print(f"{number}: {len(packed):,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=HERE / "src", help="the folder that holds the package ovillo")
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fill:
        put = fill(given.fill)
        (given.fill / "put.json").write_text(json.dumps(put, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    in_a_process(given.program.resolve())


if __name__ == "__main__":
    main()
