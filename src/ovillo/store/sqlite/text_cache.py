"""What searches read of the index again and again, kept for each reading connection while that is not written.

Owns its bounds and its validity: an answer from here is the one that the database would give in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import apsw

from ovillo.model.records import Namespace, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.store.sqlite.filters import session_conditions
from ovillo.store.sqlite.fts_counts import length_of
from ovillo.store.sqlite.rows import to_json

_NS = "(SELECT key FROM namespaces WHERE name = ?)"
#: Filters whose sessions are cached, per reading connection.
_MOST_CHOSEN = 8
_MOST_FREQUENCIES, _MOST_LENGTHS, _MOST_NAMES = 2_000, 20_000, 20_000


class Chosen(NamedTuple):
    """Sessions that a filter lets through, as JSON arrays, and the range of their documents."""

    keys: str
    titles: str
    span: tuple[int, int]


class _Known(NamedTuple):
    """Cache of one reading connection."""

    #: SQLite's data version, which changes with every write, and what only changes with the index: vectors, uses and audits are written
    #: while many search, and counting a common term takes a millisecond.
    version: int
    of_index: bytes
    #: Sessions that filters let through.
    chosen: dict[tuple[Namespace, SessionFilter], Chosen]
    #: How many documents hold each term.
    frequencies: dict[str, int]
    #: Lengths of found documents: the words of one search find the same ones.
    lengths: dict[int, int]
    #: Ids of a namespace's sessions, by key; ``None`` for another's.
    names: dict[Namespace, dict[int, SessionId | None]]


def _choose(db: apsw.Connection, namespace: Namespace, where: SessionFilter) -> Chosen:
    extra, given = session_conditions(where)
    condition = " AND ".join([f"s.namespace_key = {_NS}", *extra])
    rows = db.execute(
        f"SELECT s.key, s.first_doc, s.last_doc, s.title_doc FROM sessions s WHERE {condition}", (namespace, *given)
    ).fetchall()
    docs = [doc for row in rows for doc in row[1:] if doc is not None]
    titles = [row[3] for row in rows if row[3] is not None]
    span = (min(docs), max(docs)) if docs else (0, -1)
    return Chosen(to_json([row[0] for row in rows]), to_json(titles), span)


def _version_of_index(db: apsw.Connection) -> bytes:
    """FTS5's list of its segments, with how many pages it ever wrote (the record with id 10, "structure", of its data table)."""
    row = db.execute("SELECT block FROM fts_data WHERE id = 10").fetchone()
    return row[0] if row else b""


class TextCache:
    """Thread-safe; each method is called inside an open transaction of the connection."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[apsw.Connection, _Known] = WeakKeyDictionary()
        self._lock = Lock()

    def chosen(self, db: apsw.Connection, namespace: Namespace, where: SessionFilter) -> Chosen:
        """Sessions that a filter lets through: a search needs the same sessions for each of its terms."""
        known = self._known(db).chosen
        if (namespace, where) not in known:
            known[namespace, where] = _choose(db, namespace, where)
        return known[namespace, where]

    def _known(self, db: apsw.Connection) -> _Known:
        """This connection's cache, valid until something is written."""
        version = db.data_version()
        with self._lock:
            kept = self._kept.get(db)
            if kept is not None and kept.version != version:
                index = _version_of_index(db)
                is_same = index == kept.of_index
                terms, lengths = (kept.frequencies, kept.lengths) if is_same else ({}, {})
                kept = self._kept[db] = _Known(version, index, {}, terms, lengths, {})
            if (
                kept is None
                or len(kept.chosen) >= _MOST_CHOSEN
                or len(kept.frequencies) >= _MOST_FREQUENCIES
                or len(kept.lengths) >= _MOST_LENGTHS
                or sum(map(len, kept.names.values())) >= _MOST_NAMES
            ):
                kept = self._kept[db] = _Known(version, _version_of_index(db), {}, {}, {}, {})
        return kept

    def lengths(self, db: apsw.Connection, docs: list[int]) -> dict[int, int]:
        """Lengths of documents in terms, at least of these."""
        known = self._known(db).lengths
        unknown = [doc for doc in docs if doc not in known]
        if unknown:
            known.update(dict.fromkeys(unknown, 0))
            known.update(
                (doc, length_of(sizes))
                for doc, sizes in db.execute(
                    "SELECT d.id, d.sz FROM json_each(?) j CROSS JOIN fts_docsize d ON d.id = j.value",
                    (to_json(unknown),),
                )
            )
        return known

    def frequencies(self, db: apsw.Connection, terms: Iterable[str]) -> dict[str, int]:
        """How many documents hold each term. The index counts a term by walking all its positions, and a search needs the same
        counts several times."""
        known = self._known(db).frequencies
        found: dict[str, int] = {}
        for term in terms:
            if term not in known:
                row = db.execute("SELECT doc FROM fts_terms WHERE term = ?", (term,)).fetchone()
                known[term] = row[0] if row else 0
            found[term] = known[term]
        return found

    def names(self, db: apsw.Connection, namespace: Namespace, keys: set[int]) -> dict[int, SessionId | None]:
        """Ids of sessions by key, at least of these; ``None`` for those of other namespaces."""
        known = self._known(db).names.setdefault(namespace, {})
        unknown = [key for key in keys if key not in known]
        if unknown:
            known.update(dict.fromkeys(unknown))
            known.update(
                db.execute(
                    "SELECT s.key, s.id FROM json_each(?) j CROSS JOIN sessions s ON s.key = j.value"
                    f" WHERE s.namespace_key = {_NS}",
                    (to_json(unknown), namespace),
                ).fetchall()
            )
        return known
