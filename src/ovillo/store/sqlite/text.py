"""Reading the text index: frequencies, matches, documents, neighbours, scans.

Owns the translation of a ``Match`` to FTS5. The planner chooses the terms and combines the scores.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, assert_never

import apsw

from ovillo.model.limits import MAX_INDEXED_CHARS
from ovillo.model.records import Namespace, PartType, Role, SessionId
from ovillo.model.text import searchable_text
from ovillo.store.documents import ASSISTANT, HUMAN, TITLE, TOOL, WEIGHTS, length_norms
from ovillo.store.protocol import (
    AllOf,
    AnyOf,
    Doc,
    DocFilter,
    DocId,
    Except,
    IndexStats,
    Match,
    Matched,
    Order,
    Outline,
    Phrase,
    Prefix,
    Term,
)
from ovillo.store.sqlite.core import Core, SubStore
from ovillo.store.sqlite.filters import is_open, limits_parts, part_conditions, session_conditions
from ovillo.store.sqlite.fts_counts import densities, rarity
from ovillo.store.sqlite.rows import (
    PART_CODES,
    PART_COLUMNS,
    PART_SYNTHETIC,
    PART_TYPES,
    ROLES,
    part_from,
    to_json,
    unpack,
)
from ovillo.store.sqlite.text_cache import TextCache

#: In the order of the index's columns.
_WEIGHTS = ", ".join(str(WEIGHTS[column]) for column in (TITLE, HUMAN, ASSISTANT, TOOL))
_PART_COLUMNS = ", ".join("p." + name.strip() for name in PART_COLUMNS.split(","))
_NS = "(SELECT key FROM namespaces WHERE name = ?)"
#: Types of parts whose text is all that is searched (``searchable_text``).
_PLAIN = frozenset(PART_CODES[kind] for kind in (PartType.TEXT, PartType.REASONING, PartType.COMPACTION))
_SCAN_BATCH = 500
#: Pause between two steps that write much: a waiting process only polls for the lock now and then (seconds).
_GIVE_WAY_S = 0.03
_TRIGRAM_BATCH = 50_000
#: The message so many after or before ``m`` in its session; three questions of the same index are a third of the time of
#: one with a window function.
_BESIDE = (
    "(SELECT b.key FROM messages b WHERE b.session_key = m.session_key AND b.seq > m.seq ORDER BY b.seq LIMIT 1 OFFSET {0}),"
    " (SELECT b.key FROM messages b WHERE b.session_key = m.session_key AND b.seq < m.seq ORDER BY b.seq DESC"
    " LIMIT 1 OFFSET {0})"
)


class TextIndex(SubStore):
    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._cache = TextCache()

    def stats(self, namespace: Namespace) -> IndexStats:
        with self._pool.reading() as db, db:
            documents, terms = _meta(db, "documents"), _meta(db, "terms")
        return IndexStats(documents, terms / documents if documents else 0.0)

    def document_frequency(self, namespace: Namespace, terms: Iterable[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(terms))
        with self._pool.reading() as db, db:
            found = self._cache.frequencies(db, wanted)
            return (
                found
                if _only_one(db)
                else {term: n if n and _holds(db, namespace, term) else 0 for term, n in found.items()}
            )

    def terms_with_prefix(self, namespace: Namespace, prefix: str, limit: int) -> list[tuple[str, int]]:
        with self._pool.reading() as db:
            return list(
                db.execute(
                    "SELECT term, doc FROM fts_terms WHERE term >= ? AND term < ? LIMIT ?",
                    (prefix, prefix + "\U0010ffff", limit),
                )
            )

    def surfaces_containing(self, namespace: Namespace, fragment: str, limit: int) -> list[tuple[str, str]]:
        with self._pool.reading() as db, db:
            filled = _meta(db, "trigrams_through")
            rows: list[tuple[str, str]] = []
            if len(fragment) >= 3:
                rows = db.execute(
                    "SELECT v.surface, v.term FROM trigrams t JOIN vocabulary v ON v.key = t.rowid"
                    " WHERE t.surface LIKE ? LIMIT ?",
                    (f"%{fragment.replace('%', '_')}%", limit),
                ).fetchall()
                # In LIKE, "_" stands for any character.
                rows = [row for row in rows if fragment in row[0]]
            else:
                filled = 0
            if len(rows) < limit:
                rows += db.execute(
                    "SELECT surface, term FROM vocabulary WHERE key > ? AND instr(surface, ?) LIMIT ?",
                    (filled, fragment, limit - len(rows)),
                ).fetchall()
        return rows

    def surface_terms(self, namespace: Namespace, surfaces: Iterable[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        with self._pool.reading() as db:
            for surface in dict.fromkeys(surfaces):
                rows = db.execute("SELECT term FROM vocabulary WHERE surface = ?", (surface,)).fetchall()
                if rows:
                    found[surface] = tuple(row[0] for row in rows)
        return found

    def match(
        self,
        namespace: Namespace,
        expression: Match,
        where: DocFilter,
        limit: int,
        *,
        order: Order = Order.DENSEST,
        newest: int | None = None,
    ) -> list[Matched]:
        with self._pool.reading() as db, db:
            sql = ["fts MATCH ?"]
            values: list[Any] = [_fts(expression)]
            if newest is not None:
                last = db.execute("SELECT max(key) FROM parts").fetchone()[0] or 0
                sql.append("fts.rowid > ?")
                values.append(last - newest)
            filtered, span = self._filters(db, namespace, where, sql, values)
            if span is not None:
                # The index walks a range of document numbers directly; those of one session are close together.
                sql.append("fts.rowid BETWEEN ? AND ?")
                values += span
            ranked = order is Order.DENSEST
            score = f"bm25(fts, {_WEIGHTS})" if ranked else "0.0"
            join = "LEFT JOIN parts p ON p.key = fts.rowid" if filtered else ""
            rows = db.execute(
                f"SELECT fts.rowid, {score} AS score{', p.length' if filtered else ''} FROM fts {join} WHERE {' AND '.join(sql)}"
                f" ORDER BY {'score' if ranked else 'fts.rowid DESC'} LIMIT ?",
                (*values, limit),
            ).fetchall()
            docs = [row[0] for row in rows]
            term = (expression.keep if isinstance(expression, Except) else expression) if ranked else None
            documents = _meta(db, "documents")
            if isinstance(term, Term):
                rare = rarity(self._cache.frequencies(db, (term.text,))[term.text], documents)
                return _matched(docs, densities([row[1] for row in rows], rare))
            average = _meta(db, "terms") / documents if documents else 0.0
            known = {row[0]: row[2] or 0 for row in rows} if filtered else self._cache.lengths(db, docs)
        return _matched(docs, [1.0 / norm for norm in length_norms([known[doc] for doc in docs], average)])

    def _filters(
        self, db: apsw.Connection, namespace: Namespace, where: DocFilter, sql: list[str], values: list[Any]
    ) -> tuple[bool, tuple[int, int] | None]:
        """Adds the conditions; returns whether parts must be joined, and the range of documents that can match."""
        span: tuple[int, int] | None = None
        several = not _only_one(db)
        if limits_parts(where):
            extra, given = part_conditions(where)
            sql += extra
            values += given
        if not is_open(where.session) or several:
            chosen = self._cache.chosen(db, namespace, where.session)
            sql.append(
                "(p.session_key IN (SELECT value FROM json_each(?)) OR fts.rowid IN (SELECT value FROM json_each(?)))"
            )
            values += [chosen.keys, chosen.titles]
            return True, chosen.span
        return limits_parts(where), span

    def allowed(self, namespace: Namespace, ids: Sequence[DocId], where: DocFilter) -> set[DocId]:
        parts, part_values = part_conditions(where)
        sessions, session_values = session_conditions(where.session)
        wanted = to_json(list(map(int, ids)))
        with self._pool.reading() as db, db:
            sql = " AND ".join([f"s.namespace_key = {_NS}", *sessions, *parts])
            found = {
                row[0]
                for row in db.execute(
                    "SELECT p.key FROM json_each(?) j CROSS JOIN parts p ON p.key = j.value"
                    f" JOIN sessions s ON s.key = p.session_key WHERE {sql}",
                    (wanted, namespace, *session_values, *part_values),
                )
            }
            if not limits_parts(where):
                sql = " AND ".join([f"s.namespace_key = {_NS}", *sessions])
                found |= {
                    row[0]
                    for row in db.execute(
                        f"SELECT s.title_doc FROM json_each(?) j CROSS JOIN sessions s ON s.title_doc = j.value WHERE {sql}",
                        (wanted, namespace, *session_values),
                    )
                }
        return found

    def outlines(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Outline]:
        if not ids:
            return []
        with self._pool.reading() as db, db:
            wanted = to_json(ids)
            rows = db.execute(
                "SELECT p.key, p.session_key, p.type, p.flags, p.tool_name, p.length FROM json_each(?) j"
                " CROSS JOIN parts p ON p.key = j.value",
                (wanted,),
            ).fetchall()
            names = self._cache.names(db, namespace, {row[1] for row in rows})
            found = {
                doc: Outline(doc, doc, name, PART_TYPES[kind], bool(flags & PART_SYNTHETIC), tool_name, length)
                for doc, session_key, kind, flags, tool_name, length in rows
                if (name := names[session_key]) is not None
            }
            if len(found) < len(ids):
                for doc, session_id in db.execute(
                    "SELECT s.title_doc, s.id FROM json_each(?) j CROSS JOIN sessions s ON s.title_doc = j.value"
                    f" WHERE s.namespace_key = {_NS}",
                    (wanted, namespace),
                ):
                    found[doc] = Outline(doc, doc, SessionId(session_id), None, False, None, 0)
        return [found[doc] for doc in ids if doc in found]

    def docs(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Doc]:
        if not ids:
            return []
        with self._pool.reading() as db, db:
            wanted = to_json(ids)
            found = {
                row[0]: _doc(row)
                for row in db.execute(
                    "SELECT p.key, s.id, m.id, p.id, m.seq, p.seq, p.role, p.type, p.flags, p.tool_name,"
                    " coalesce(p.created_at, m.created_at), p.length FROM json_each(?) j CROSS JOIN parts p ON p.key = j.value"
                    " JOIN messages m ON m.key = p.message_key JOIN sessions s ON s.key = p.session_key"
                    f" WHERE s.namespace_key = {_NS}",
                    (wanted, namespace),
                )
            }
            if len(found) < len(ids):
                for doc, session_id, at in db.execute(
                    "SELECT s.title_doc, s.id, coalesce(s.updated_at, s.created_at) FROM json_each(?) j"
                    f" CROSS JOIN sessions s ON s.title_doc = j.value WHERE s.namespace_key = {_NS}",
                    (wanted, namespace),
                ):
                    found[doc] = Doc(
                        doc, doc, SessionId(session_id), None, None, -1, 0, Role.USER, None, False, None, at, 8
                    )
        return [found[doc] for doc in ids if doc in found]

    def doc_texts(self, namespace: Namespace, ids: Sequence[DocId]) -> dict[DocId, str]:
        if not ids:
            return {}
        with self._pool.reading() as db, db:
            wanted = to_json(ids)
            texts: dict[DocId, str] = {
                row[0]: _text(row)
                for row in db.execute(
                    f"SELECT p.key, p.flags, {_PART_COLUMNS} FROM json_each(?) j CROSS JOIN parts p ON p.key = j.value"
                    f" JOIN sessions s ON s.key = p.session_key WHERE s.namespace_key = {_NS}",
                    (wanted, namespace),
                )
            }
            texts.update(
                db.execute(
                    "SELECT s.title_doc, coalesce(s.title, '') FROM json_each(?) j"
                    f" CROSS JOIN sessions s ON s.title_doc = j.value WHERE s.namespace_key = {_NS}",
                    (wanted, namespace),
                ).fetchall()
            )
        return texts

    def neighbours(
        self, namespace: Namespace, ids: Sequence[DocId], distance: int
    ) -> dict[DocId, list[tuple[DocId, int]]]:
        found: dict[DocId, list[tuple[DocId, int]]] = {doc: [] for doc in ids}
        beside_it = ", ".join(_BESIDE.format(step) for step in range(distance))
        with self._pool.reading() as db, db:
            # Message key -> the documents it is a neighbour of, with the distance.
            beside: dict[int, list[tuple[DocId, int]]] = {}
            for doc, *around in db.execute(
                f"SELECT p.key, {beside_it} FROM json_each(?) j CROSS JOIN parts p ON p.key = j.value"
                " JOIN messages m ON m.key = p.message_key JOIN sessions s ON s.key = p.session_key"
                f" WHERE s.namespace_key = {_NS}",
                (to_json(list(map(int, ids))), namespace),
            ):
                for at, message_key in enumerate(around):
                    if message_key is not None:
                        beside.setdefault(message_key, []).append((doc, at // 2 + 1))
            for part, message_key in db.execute(
                "SELECT p.key, p.message_key FROM json_each(?) j CROSS JOIN parts p ON p.message_key = j.value"
                f" WHERE p.type IN (1, 2) AND p.length > 0 AND NOT p.flags & {PART_SYNTHETIC}",
                (to_json(list(beside)),),
            ):
                for doc, step in beside[message_key]:
                    found[doc].append((part, step))
        return found

    def said_around(self, namespace: Namespace, session_id: SessionId, seq: int, before: int, after: int) -> list[Doc]:
        columns = (
            f"SELECT p.key, '', m.id, p.id, m.seq, p.seq, p.role, p.type, p.flags, p.tool_name,"
            " coalesce(p.created_at, m.created_at), p.length FROM messages m CROSS JOIN parts p ON p.message_key = m.key"
            f" WHERE m.session_key = (SELECT key FROM sessions WHERE namespace_key = {_NS} AND id = ?)"
            " AND p.type IN (1, 2, 7, 9) AND p.length > 0"
        )
        with self._pool.reading() as db, db:
            earlier = db.execute(
                f"{columns} AND m.seq < ? ORDER BY m.seq DESC, p.seq DESC LIMIT ?", (namespace, session_id, seq, before)
            ).fetchall()
            later = db.execute(
                f"{columns} AND m.seq >= ? ORDER BY m.seq, p.seq LIMIT ?", (namespace, session_id, seq, after)
            ).fetchall()
        return [_doc((row[0], session_id, *row[2:])) for row in (*reversed(earlier), *later)]

    def scan_texts(self, namespace: Namespace, where: DocFilter) -> Iterator[tuple[DocId, str]]:
        at = 1 << 62
        while True:
            batch = self._scan_batch(namespace, where, at)
            yield from batch
            if len(batch) < _SCAN_BATCH:
                return
            at = batch[-1][0]

    def _scan_batch(self, namespace: Namespace, where: DocFilter, before: DocId) -> list[tuple[DocId, str]]:
        parts, part_values = part_conditions(where)
        sessions, session_values = session_conditions(where.session)
        sql = " AND ".join([f"s.namespace_key = {_NS}", "p.key < ?", "p.length > 0", *parts, *sessions])
        with self._pool.reading() as db:
            rows = db.execute(
                f"SELECT p.key, p.flags, {_PART_COLUMNS} FROM parts p CROSS JOIN sessions s ON s.key = p.session_key"
                f" WHERE {sql} ORDER BY p.key DESC LIMIT ?",
                (namespace, before, *part_values, *session_values, _SCAN_BATCH),
            ).fetchall()
        return [(row[0], _text(row)) for row in rows]

    # --- keeping it current

    def catch_up(self) -> int:
        """Fills one batch of the trigram index."""

        def work(db: apsw.Connection) -> int:
            row = db.execute("SELECT value FROM meta WHERE key = 'trigrams_through'").fetchone()
            done = int(row[0]) if row else 0
            last = db.execute(
                "SELECT max(key) FROM (SELECT key FROM vocabulary WHERE key > ? ORDER BY key LIMIT ?)",
                (done, _TRIGRAM_BATCH),
            ).fetchone()[0]
            if last is None:
                return 0
            db.execute(
                "INSERT INTO trigrams (rowid, surface) SELECT key, surface FROM vocabulary WHERE key > ? AND key <= ?",
                (done, last),
            )
            db.execute("INSERT OR REPLACE INTO meta VALUES ('trigrams_through', ?)", (last,))
            return int(db.execute("SELECT count(*) FROM vocabulary WHERE key > ?", (last,)).fetchone()[0])

        return self._writer.run(work)

    def is_current(self) -> bool:
        """Whether the text index was made by this analyzer."""
        with self._pool.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'analyzer'").fetchone()
        return row is None or row[0] == self._analyzer.version

    def rebuild(self) -> None:
        from ovillo.store.sqlite.reindex import index_more_again  # start-up cost: seldom needed

        while self._writer.run(lambda db: index_more_again(db, self._analyzer)):
            time.sleep(_GIVE_WAY_S)


def _text(row: tuple[Any, ...]) -> str:
    """The searchable text of a part, from its key, flags and ``PART_COLUMNS``."""
    if row[4] in _PLAIN:
        # Most texts read are what was said: the rest of the part is not made for them.
        return (unpack(row[6]) or "")[:MAX_INDEXED_CHARS]
    return searchable_text(part_from(row[2:], "", row[1]))


def _matched(docs: Sequence[DocId], densities: Sequence[float]) -> list[Matched]:
    # Not by calling the class: of thousands, that takes longer than everything else here.
    return list(map(partial(tuple.__new__, Matched), zip(docs, docs, densities, strict=True)))


def _doc(row: tuple[Any, ...]) -> Doc:
    key, session_id, message_id, part_id, message_seq, part_seq, role, kind, flags, tool_name, created_at, length = row
    return Doc(
        key,
        key,
        session_id,
        message_id,
        part_id,
        message_seq,
        part_seq,
        ROLES[role],
        PART_TYPES[kind],
        bool(flags & PART_SYNTHETIC),
        tool_name,
        created_at,
        length,
    )


def _meta(db: apsw.Connection, key: str) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(row[0]) if row else 0


def _only_one(db: apsw.Connection) -> bool:
    """Whether there is no other namespace to keep apart, and no session that is leaving."""
    return bool(
        db.execute(
            "SELECT count(*) <= 1 AND NOT EXISTS (SELECT 1 FROM sessions WHERE namespace_key < 0) FROM namespaces"
        ).fetchone()[0]
    )


def _holds(db: apsw.Connection, namespace: Namespace, term: str) -> bool:
    """Whether this namespace has the term: all namespaces share one index, and nobody may learn another's words from
    it."""
    for join in (
        "parts p ON p.key = fts.rowid JOIN sessions s ON s.key = p.session_key",
        "sessions s ON s.title_doc = fts.rowid",
    ):
        found = db.execute(
            f"SELECT 1 FROM fts JOIN {join} WHERE fts MATCH ? AND s.namespace_key = {_NS} LIMIT 1",
            (_quoted(term), namespace),
        ).fetchone()
        if found:
            return True
    return False


def _fts(match: Match) -> str:
    """An FTS5 expression; every term is quoted, so that nothing a user typed is read as syntax."""
    match match:
        case Term(text):
            return _quoted(text)
        case Prefix(text):
            return _quoted(text) + "*"
        case Phrase(terms, prefix):
            return _quoted(" ".join(terms)) + ("*" if prefix else "")
        case AllOf(items):
            return "(" + " AND ".join(_fts(item) for item in items) + ")"
        case AnyOf(items):
            return "(" + " OR ".join(_fts(item) for item in items) + ")"
        case Except(keep, drop):
            return f"({_fts(keep)} NOT {_fts(drop)})"
        case _:
            assert_never(match)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", "") + '"'
