"""The floor: what anybody gets from plain SQLite full-text search in an afternoon.

One table of messages, a word index (FTS5, unicode61, accents removed) and a trigram index without positions, both
over the same table. No query planning, no stemming, no fields, no vectors. It knows only Claude Code's lines.

    python -m bench.floor index HOME      # into HOME/floor.db, from where it stopped
    python -m bench.floor query HOME TEXT # ids of sessions, best first
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import unicodedata
from pathlib import Path
from typing import Any

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, bytes_read INTEGER);
CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, session TEXT, text TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    text, content = 'message', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE IF NOT EXISTS trigrams USING fts5(
    text, content = 'message', content_rowid = 'id', tokenize = 'trigram', detail = none);
"""


def index(home: Path) -> int:
    """Reads what is new of ``home/.claude``; how many messages it added."""
    database = sqlite3.connect(home / "floor.db")
    database.executescript(_SCHEMA)
    seen: dict[str, int] = dict(database.execute("SELECT path, bytes_read FROM file"))
    (last,) = database.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()
    for path in sorted((home / ".claude" / "projects").rglob("*.jsonl")):
        size, done = path.stat().st_size, seen.get(str(path), 0)
        if size <= done:
            continue
        with path.open("rb") as file:
            file.seek(done)
            rows = [(path.stem, text) for line in file if (text := _text(line)) is not None]
        database.executemany("INSERT INTO message (session, text) VALUES (?, ?)", rows)
        database.execute("INSERT OR REPLACE INTO file VALUES (?, ?)", (str(path), size))
    for name in ("words", "trigrams"):
        database.execute(f"INSERT INTO {name} (rowid, text) SELECT id, text FROM message WHERE id > ?", (last,))
    database.commit()
    (total,) = database.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return int(total - last)


def query(home: Path, text: str) -> list[str]:
    """Sessions: all words by rank, then the text as a substring, then any word, until ten are found."""
    text = unicodedata.normalize("NFC", text)
    database = sqlite3.connect(home / "floor.db")
    words = [f'"{word}"' for word in re.findall(r"\w+", text)]
    found: dict[str, None] = {}
    by_words = (
        "SELECT session FROM words JOIN message ON message.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 30"
    )
    by_part = (
        "SELECT session FROM trigrams JOIN message ON message.id = trigrams.rowid WHERE trigrams.text LIKE ? LIMIT 30"
    )
    for sql, value in (
        (by_words, " ".join(words)),
        (by_part, f"%{text.replace('%', '')}%"),
        (by_words, " OR ".join(words)),
    ):
        if found:
            break
        try:
            found.update(dict.fromkeys(session for (session,) in database.execute(sql, (value,))))
        except sqlite3.Error as error:
            print(error, file=sys.stderr)
    return list(found)


def _text(line: bytes) -> str | None:
    try:
        message = json.loads(line).get("message")
    except ValueError:
        return None
    content = (message or {}).get("content")
    if content is None or isinstance(content, str):
        return content
    return "\n".join(_block(block) for block in content)


def _block(block: dict[str, Any]) -> str:
    for key in ("text", "thinking", "content"):
        if isinstance(block.get(key), str):
            return str(block[key])
    return json.dumps(block["input"], ensure_ascii=False) if "input" in block else ""


def main() -> None:
    match sys.argv[1:]:
        case ["index", home]:
            print(index(Path(home)), "messages added")
        case ["query", home, text]:
            print("\n".join(query(Path(home), text)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
