"""Vectors of definitions. Owns the SQL of those of ``ovillo.store.protocol.code``; what they mean is ``search.symbols``'s."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import apsw

from ovillo.model.records import Namespace
from ovillo.store.sqlite.core import SubStore

_ROOT = "(SELECT r.key FROM code_roots r JOIN namespaces n ON n.key = r.namespace_key WHERE n.name = ? AND r.path = ?)"


class CodeVectorTables(SubStore):
    def get(self, namespace: Namespace, root: str, model: str) -> dict[bytes, bytes]:
        sql = f"SELECT meaning, vector FROM code_vectors WHERE root_key = {_ROOT} AND model = ?"
        with self._pool.reading() as db:
            return {bytes(meaning): bytes(vector) for meaning, vector in db.execute(sql, (namespace, root, model))}

    def put(
        self,
        namespace: Namespace,
        root: str,
        model: str,
        vectors: Mapping[bytes, bytes],
        gone: Collection[bytes] = (),
    ) -> None:
        def work(db: apsw.Connection) -> None:
            row = db.execute(f"SELECT {_ROOT}", (namespace, root)).fetchone()
            if row is None or row[0] is None:
                # The folder was forgotten meanwhile.
                return
            db.executemany(
                "INSERT OR REPLACE INTO code_vectors VALUES (?, ?, ?, ?)",
                [(row[0], model, meaning, vector) for meaning, vector in vectors.items()],
            )
            db.executemany(
                "DELETE FROM code_vectors WHERE root_key = ? AND model = ? AND meaning = ?",
                [(row[0], model, meaning) for meaning in gone],
            )

        self._writer.run(work)
