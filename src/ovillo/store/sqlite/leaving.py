"""Removing sessions: hidden from everybody at once, then deleted from the tables in short transactions.

Owns how such a session is marked, the order of deletion, and resuming after a process ended in the middle. A session of
20,000 messages takes seconds, and nobody who appends meanwhile waits for them (ADR 0040).

The mark is in the session's row: its namespace key is negated, so that no query finds it, and its id gets a separator
and its own key appended, so that the id may be used again. What was removed is still in free space of the file until
it is erased (``forgotten.wipe``).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

import apsw

from ovillo.model.errors import OvilloError, StoreBusy
from ovillo.model.timeouts import BACKGROUND_S, patient
from ovillo.store.protocol import Analyzer
from ovillo.store.sqlite.core import Core, SubStore
from ovillo.store.sqlite.leases import Leases
from ovillo.store.sqlite.lost_words import OtherTexts, Word, drop_lost_words, surfaces_of, texts_of
from ovillo.store.sqlite.reindex import put_copies_in_index
from ovillo.store.sqlite.rows import to_json
from ovillo.store.sqlite.stepwise import IsTimeUp, Stepwise
from ovillo.store.sqlite.vectors import drop_vectors

_log = logging.getLogger(__name__)

#: Occurs in no id from a client.
_SEPARATOR = "\x1f"
#: Messages (which may hold megabytes) and rows of other tables deleted between two checks of the clock, versions of
#: snapshots, entries of the change log examined, and texts read at once.
_MESSAGES, _ROWS, _VERSIONS, _ENTRIES, _TEXTS = 10, 200, 2, 2_000, 200
#: A session with more texts takes several transactions: only one process does it, since two would do all of it twice.
_LONG = 200
_LEASE = "leaving"
#: Set while removed text may stand in free space.
WIPE_DUE = "wipe_due"

#: Tables with about one row per message, the columns that select their rows, and how many are deleted at once; and
#: small ones.
_BY_PIECES = (
    ("idempotency", "key", _ROWS),
    ("conclusions", "doc, start", _ROWS),
    ("snapshots", "key", _VERSIONS),
    ("summaries", "through_seq", _ROWS),
)
_AT_ONCE = ("session_files", "stars", "session_costs", "program_shelves", "tracked")


class Leaving(NamedTuple):
    """From its row; in the next transaction, another session's row may have the same key."""

    key: int
    name: str
    namespace: int
    session_id: str
    #: Later entries of the change log were written after its removal.
    through: int


def is_any(db: apsw.Connection) -> bool:
    return db.execute("SELECT 1 FROM sessions WHERE namespace_key < 0 LIMIT 1").fetchone() is not None


def all_of_them(db: apsw.Connection) -> list[Leaving]:
    rows = db.execute(
        "SELECT key, id, -namespace_key, coalesce(extra ->> '$.through', 0) FROM sessions WHERE namespace_key < 0"
    ).fetchall()
    return [Leaving(key, name, ns, name.rpartition(_SEPARATOR)[0], through) for key, name, ns, through in rows]


def mark(db: apsw.Connection, namespace: int, key: int, session_id: str, through: int) -> Leaving:
    """Hides it from everybody; ``through`` is the last entry of the change log that may name it."""
    name = f"{session_id}{_SEPARATOR}{key}"
    db.execute(
        "UPDATE sessions SET namespace_key = -namespace_key, id = ?, parent_id = NULL, forked_from = NULL, extra = ?"
        " WHERE key = ?",
        (name, to_json({"through": through}), key),
    )
    return Leaving(key, name, namespace, session_id, through)


def _never() -> bool:
    return False


class LeavingSessions(SubStore):
    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._steps = Stepwise(core.writer)
        self._leases = Leases(core)

    def finish(self, leaving: Leaving) -> None:
        """Delete the rest of it. Raises StoreBusy, StoreUnavailable; the next start then does what is left."""
        with self._pool.reading() as db:
            is_long = db.execute(
                "SELECT 1 FROM parts WHERE session_key = ? LIMIT 1 OFFSET ?", (leaving.key, _LONG)
            ).fetchone()
        with patient(), self._leases.hold(_LEASE, BACKGROUND_S) if is_long else nullcontext(True) as ours:
            if not ours:
                raise StoreBusy("Another process is removing sessions.", hint="Try again in a minute.")
            self._go_on(leaving, _never)

    def finish_all(self, is_over: IsTimeUp = _never, wait_s: float = BACKGROUND_S) -> None:
        """Finish removals of processes that ended in the middle; does nothing if another process is at it for longer
        than ``wait_s``."""
        with self._pool.reading() as db:
            if not is_any(db):
                return
        with patient(), self._leases.hold(_LEASE, wait_s) as ours:
            if not ours:
                return
            with self._pool.reading() as db:
                found = all_of_them(db)
            for leaving in found:
                self._go_on(leaving, is_over)

    def _go_on(self, leaving: Leaving, is_over: IsTimeUp) -> None:
        removal = _Removal(self._analyzer, leaving)
        with self._pool.reading() as db:
            has_copies = any(_copies(db, leaving, 1))
        if has_copies:
            self._steps.run(removal.give_copies_away)
        with self._pool.reading() as db:
            removal.look(db, is_over)
        while not is_over() and self._steps.once(removal.step):
            pass


class _Removal:
    """Removes one session. Each step queries what is left, so that a failed step is simply repeated."""

    def __init__(self, analyzer: Analyzer, leaving: Leaving) -> None:
        self._analyzer = analyzer
        self._leaving = leaving
        self._others = OtherTexts(analyzer, ())
        #: Words that were in no other text when checked.
        self._words: list[Word] = []
        self._logged = 0
        #: Texts removed in this step.
        self._docs: list[tuple[int]] = []

    # --- before

    def give_copies_away(self, db: apsw.Connection, is_time_up: IsTimeUp) -> bool:
        """Forks own the messages they copied from now on, and search finds them there."""
        while copies := list(_copies(db, self._leaving, _MESSAGES)):
            put_copies_in_index(db, self._analyzer, copies)
            if is_time_up():
                return True
        return False

    def look(self, db: apsw.Connection, is_over: IsTimeUp) -> None:
        """Find the words that go with it: most of the work, and nobody waits for it."""
        key = self._leaving.key
        docs = [doc for (doc,) in db.execute("SELECT key FROM parts WHERE session_key = ? ORDER BY key", (key,))]
        titles = db.execute("SELECT title, title_doc FROM sessions WHERE key = ?", (key,)).fetchall()

        def texts() -> Iterator[str]:
            yield from (title for title, _ in titles if title)
            for at in range(0, len(docs), _TEXTS):
                if is_over():
                    return
                yield from texts_of(db, docs[at : at + _TEXTS])

        words = surfaces_of(self._analyzer, texts())
        gone = frozenset((*docs, *(doc for _, doc in titles if doc is not None)))
        self._others = OtherTexts(self._analyzer, words, gone)
        self._others.begin(db)
        self._words = [word for word in words if not is_over() and not self._others.hold(db, *word, as_split=True)]

    # --- in transactions

    def step(self, db: apsw.Connection, is_time_up: IsTimeUp) -> bool:
        found = db.execute(
            "SELECT title_doc FROM sessions WHERE key = ? AND id = ? AND namespace_key < 0", self._leaving[:2]
        ).fetchone()
        if found is None:
            return False  # another process did it
        # Words first: they are found from the texts, and this may have to be repeated.
        for take_out in (self._take_names, self._take_words, self._take_rows, self._take_texts, self._take_changes):
            while take_out(db, is_time_up):
                if is_time_up():
                    self._drop_vectors(db)
                    return True
        if found[0] is not None:
            self._docs.append(found)
            db.execute("DELETE FROM fts WHERE rowid = ?", found)
        self._drop_vectors(db)
        db.execute("DELETE FROM sessions WHERE key = ?", (self._leaving.key,))
        # Again: another process may have written the file anew since it left.
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (WIPE_DUE,))
        return False

    def _take_names(self, db: apsw.Connection, _: IsTimeUp) -> bool:
        """Entities, including those that no other session mentions."""
        key = self._leaving.key
        rows = db.execute("SELECT entity_key FROM mentions WHERE session_key = ? LIMIT ?", (key, _ROWS)).fetchall()
        db.executemany("DELETE FROM mentions WHERE session_key = ? AND entity_key = ?", [(key, *row) for row in rows])
        db.executemany(
            "DELETE FROM entities WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_key = ?1)", rows
        )
        return bool(rows)

    def _take_words(self, db: apsw.Connection, is_time_up: IsTimeUp) -> bool:
        drop_lost_words(db, self._others, self._words, is_time_up)
        return bool(self._words)

    def _take_rows(self, db: apsw.Connection, _: IsTimeUp) -> bool:
        key, gone = self._leaving.key, 0
        for table, columns, most in _BY_PIECES:
            chosen = f"SELECT {columns} FROM {table} WHERE session_key = ?1 LIMIT {most}"
            db.execute(f"DELETE FROM {table} WHERE session_key = ?1 AND ({columns}) IN ({chosen})", (key,))
            gone += db.changes()
        paths = db.execute(
            "SELECT path_key, part_key FROM touches WHERE session_key = ? LIMIT ?", (key, _ROWS)
        ).fetchall()
        db.executemany("DELETE FROM touches WHERE path_key = ? AND part_key = ?", paths)
        db.executemany(
            "DELETE FROM paths WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM touches WHERE path_key = ?1)",
            {(path,) for path, _ in paths},
        )
        shelves = "SELECT key FROM program_shelves WHERE session_key = ?1"
        db.execute(
            "DELETE FROM program_state WHERE key IN"
            f" (SELECT key FROM program_state WHERE shelf_key IN ({shelves}) LIMIT {_VERSIONS})",
            (key,),
        )
        if gone + len(paths) + db.changes():
            return True
        for table in _AT_ONCE:
            db.execute(f"DELETE FROM {table} WHERE session_key = ?", (key,))
        return False

    def _take_texts(self, db: apsw.Connection, _: IsTimeUp) -> bool:
        key = self._leaving.key
        messages = db.execute("SELECT key FROM messages WHERE session_key = ? LIMIT ?", (key, _MESSAGES)).fetchall()
        if messages:
            docs = db.execute(
                "SELECT p.key FROM json_each(?) j CROSS JOIN parts p ON p.message_key = j.value",
                (to_json([message for (message,) in messages]),),
            ).fetchall()
        else:
            docs = db.execute("SELECT key FROM parts WHERE session_key = ? LIMIT ?", (key, _MESSAGES)).fetchall()
        db.executemany("DELETE FROM fts WHERE rowid = ?", docs)
        db.executemany("DELETE FROM parts WHERE key = ?", docs)
        db.executemany("DELETE FROM messages WHERE key = ?", messages)
        self._docs += docs
        return bool(messages or docs)

    def _take_changes(self, db: apsw.Connection, _: IsTimeUp) -> bool:
        namespace, session_id, through = self._leaving[2:]
        if self._logged >= through:
            return False
        db.execute(
            "DELETE FROM changes WHERE namespace_key = ?1 AND seq > ?3 AND seq <= min(?3 + ?4, ?5)"
            " AND (ref = ?2 OR substr(ref, 1, length(?2) + 1) = ?2 || '/')",
            (namespace, session_id, self._logged, _ENTRIES, through),
        )
        self._logged += _ENTRIES
        return True

    def _drop_vectors(self, db: apsw.Connection) -> None:
        """Together with the texts' rows, whose numbers are reused."""
        drop_vectors(db, self._docs, for_good=True)
        self._docs = []


def _copies(db: apsw.Connection, leaving: Leaving, most: int) -> Iterator[tuple[int, str]]:
    """Messages in remaining sessions that were first said in this one."""
    yield from db.execute(
        "SELECT m.key, s.id FROM messages m JOIN sessions s ON s.key = m.session_key"
        " WHERE m.inherited_from = ? AND s.namespace_key = ? ORDER BY m.key LIMIT ?",
        (leaving.session_id, leaving.namespace, most),
    ).fetchall()


class LeavingWorker:
    """Resumes removals that a process left unfinished, at the start of the next process and while it runs."""

    def __init__(self, core: Core) -> None:
        self._sessions = LeavingSessions(core)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ovillo-leaving", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._sessions.finish_all(self._is_over.is_set, wait_s=0)
        except (OvilloError, apsw.Error) as error:
            _log.warning("sessions that were removed are not all out of the tables yet: %s", error)
