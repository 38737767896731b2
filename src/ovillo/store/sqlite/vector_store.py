"""Vectors beside the documents they belong to; searching them is the ranking's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ovillo.model.records import Namespace
from ovillo.model.text import searchable_text
from ovillo.store.protocol import DocId
from ovillo.store.sqlite.connection import ReaderPool
from ovillo.store.sqlite.rows import PART_COLUMNS, PART_EMBEDDABLE, from_json, part_from, to_json
from ovillo.store.sqlite.writer import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PART_COLUMNS = ", ".join("p." + name.strip() for name in PART_COLUMNS.split(","))
_MODEL = "(SELECT key FROM embedding_models WHERE name = ?)"


class VectorStore:
    _pool: ReaderPool
    _writer: Writer

    def not_embedded(self, namespace: Namespace, model: str, limit: int) -> list[tuple[DocId, str]]:
        with self._pool.reading() as db, db:
            parts = db.execute(
                f"SELECT p.key, p.flags, {_PART_COLUMNS} FROM parts p WHERE p.flags & {PART_EMBEDDABLE}"
                f" AND NOT EXISTS (SELECT 1 FROM vector_bits v WHERE v.model_key = {_MODEL} AND v.doc = p.key)"
                " ORDER BY p.key DESC LIMIT ?",
                (model, limit),
            ).fetchall()
            titles = db.execute(
                "SELECT s.title_doc, s.title FROM sessions s WHERE s.title_doc IS NOT NULL AND s.title <> ''"
                f" AND NOT EXISTS (SELECT 1 FROM vector_bits v WHERE v.model_key = {_MODEL} AND v.doc = s.title_doc)"
                " ORDER BY s.title_doc DESC LIMIT ?",
                (model, limit),
            ).fetchall()
        texts = [(row[0], searchable_text(part_from(row[2:], "", row[1]))) for row in parts]
        return sorted([*texts, *titles], reverse=True)[:limit]

    def put_vectors(self, model: str, rows: Sequence[tuple[DocId, bytes, bytes]]) -> None:
        def work(db: Any) -> None:
            db.execute("INSERT OR IGNORE INTO embedding_models (name) VALUES (?)", (model,))
            key = db.execute("SELECT key FROM embedding_models WHERE name = ?", (model,)).fetchone()[0]
            db.executemany(
                "INSERT OR REPLACE INTO vector_bits VALUES (?, ?, ?)", [(key, doc, bits) for doc, bits, _ in rows]
            )
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", [(key, doc, data) for doc, _, data in rows]
            )

        self._writer.run(work)

    def embedding_share(self, namespace: Namespace, model: str) -> tuple[int, int]:
        with self._pool.reading() as db, db:
            done = db.execute(f"SELECT count(*) FROM vector_bits WHERE model_key = {_MODEL}", (model,)).fetchone()[0]
            eligible = db.execute(
                f"SELECT (SELECT count(*) FROM parts p WHERE p.flags & {PART_EMBEDDABLE})"
                " + (SELECT count(*) FROM sessions WHERE title_doc IS NOT NULL AND title <> '')"
            ).fetchone()[0]
        return int(done), int(eligible)

    def vector_bits(
        self, namespace: Namespace, model: str, after: DocId = 0, *, size: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        import numpy as np  # start-up cost: a store that searches no vectors never pays for it

        with self._pool.reading() as db:
            rows = db.execute(
                f"SELECT doc, bits FROM vector_bits WHERE model_key = {_MODEL} AND doc > ? ORDER BY doc", (model, after)
            ).fetchall()
        if not rows:
            return np.empty(0, np.int64), np.empty((0, 0), np.uint8)
        docs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        bits = np.frombuffer(b"".join(row[1] for row in rows), np.uint8)
        if size is None:
            return docs, bits.reshape(len(rows), -1)
        return np.repeat(docs, [len(row[1]) // size for row in rows]), bits.reshape(-1, size)

    def vectors(
        self, model: str, ids: Sequence[DocId], *, size: int | None = None
    ) -> tuple[list[DocId], NDArray[np.int8]]:
        import numpy as np  # start-up cost, as above

        with self._pool.reading() as db:
            rows = db.execute(
                f"SELECT v.doc, v.bytes FROM json_each(?) j CROSS JOIN vectors v ON v.model_key = {_MODEL} AND v.doc = j.value",
                (to_json(list(map(int, ids))), model),
            ).fetchall()
        if not rows:
            return [], np.empty((0, 0), np.int8)
        values = np.frombuffer(b"".join(row[1] for row in rows), np.int8)
        if size is None:
            return [row[0] for row in rows], values.reshape(len(rows), -1)
        return [row[0] for row in rows for _ in range(len(row[1]) // size)], values.reshape(-1, size)

    def model_state(self, model: str) -> dict[str, Any]:
        with self._pool.reading() as db:
            row = db.execute("SELECT state FROM embedding_models WHERE name = ?", (model,)).fetchone()
        return from_json(row[0]) or {} if row else {}

    def set_model_state(self, model: str, state: Mapping[str, Any]) -> None:
        self._writer.run(
            lambda db: (
                db.execute(
                    "INSERT INTO embedding_models (name, state) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
                    (model, to_json(state)),
                )
                and None
            )
        )
