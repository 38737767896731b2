"""Vectors of memories. Owns the SQL of ``ovillo.store.protocol.memory_vectors``, and a cache of sign bits: these are
scanned, and the nearest are rescored by their values.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

from ovillo.model.dataclass import dataclass
from ovillo.model.memories import Memory, MemoryFilter, MemoryId, embedded_text
from ovillo.model.records import Namespace
from ovillo.store.sqlite.core import Core, SubStore
from ovillo.store.sqlite.keys import namespace_key
from ovillo.store.sqlite.memory_filters import conditions
from ovillo.store.sqlite.memory_rows import MEMORY_COLUMNS, memory_from
from ovillo.store.sqlite.rows import clean, to_json
from ovillo.store.sqlite.vectors import model_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ovillo.store.forms import Row, Rows

_NS = "(SELECT key FROM namespaces WHERE name = ?)"
#: Vectors rescored after the scan of the bits. Where fewer of their memories pass the filter than are asked for, only
#: those that pass are scanned.
_RESCORED = 500
#: Namespaces and models cached; the least recently used is dropped first.
_MOST_CACHED = 8
_MOST_SHARES = 64


@dataclass(frozen=True, slots=True)
class _Share:
    """``counts`` as of a change and of the newest vector: valid until either changes."""

    seq: int
    newest: int
    counts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Bits:
    """One row per vector: ``numbers`` are the stored rows, ``keys`` their memories; ``count`` is of stored rows."""

    count: int
    numbers: NDArray[np.int64]
    keys: NDArray[np.int64]
    rows: NDArray[np.uint8]


class MemoryVectorTables(SubStore):
    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._cache: OrderedDict[int, _Bits] = OrderedDict()
        self._lock = threading.Lock()
        #: The last counts: counting walks through all memories.
        self._shares: dict[tuple[Namespace, str, MemoryFilter], _Share] = {}

    def not_embedded(self, namespace: Namespace, model: str, where: MemoryFilter, limit: int) -> list[Memory]:
        sql, given = conditions(where)
        with self._pool.reading() as db, db:
            found = _model(db, namespace, model)
            rows = db.execute(
                f"SELECT {MEMORY_COLUMNS} FROM memories m WHERE namespace_key = {_NS} AND text <> ''{sql} AND NOT EXISTS"
                " (SELECT 1 FROM memory_vectors v WHERE v.memory_key = m.key AND v.model_key = ?)"
                " ORDER BY created_at DESC, id DESC LIMIT ?",
                (namespace, *given, None if found is None else found[0], limit),
            ).fetchall()
        return [memory_from(row) for row in rows]

    def share(self, namespace: Namespace, model: str, where: MemoryFilter) -> tuple[int, int]:
        asked = (namespace, model, where)
        with self._pool.reading() as db, db:
            found = _model(db, namespace, model)
            now = _state(db, namespace, None if found is None else found[0])
            known = self._shares.get(asked)
            if known is not None and known.newest == now.newest and not _changed(db, namespace, known.seq):
                self._shares[asked] = _Share(now.seq, now.newest, known.counts)
                return known.counts
            sql, given = conditions(where)
            # By the index of ids, which grow with the rows: by names it would read the table in random order.
            done, eligible = db.execute(
                "SELECT count(v.number), count(*) FROM memories m INDEXED BY sqlite_autoindex_memories_1 LEFT JOIN memory_vectors v"
                f" ON v.memory_key = m.key AND v.model_key = ? WHERE namespace_key = {_NS} AND text <> ''{sql}",
                (None if found is None else found[0], namespace, *given),
            ).fetchone()
        counts = int(done), int(eligible)
        if where.alive_at is None:
            if len(self._shares) >= _MOST_SHARES:
                self._shares.clear()
            self._shares[asked] = _Share(now.seq, now.newest, counts)
        return counts

    def put(self, namespace: Namespace, model: str, rows: Sequence[tuple[Memory, Rows]]) -> None:
        from ovillo.store.forms import pack  # start-up cost: a store that embeds nothing never pays for numpy

        if not rows:
            return
        dimension = int(rows[0][1].shape[1])
        packed = [(memory, pack(vectors)) for memory, vectors in rows]

        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            of_model = model_key(db, ns, model, dimension)
            for memory, vectors in packed:
                key = _key_if_unchanged(db, ns, memory)
                if key is not None:
                    bits, values = (b"".join(each) for each in zip(*vectors, strict=True))
                    db.execute(
                        "INSERT OR REPLACE INTO memory_vectors (model_key, memory_key, bits, bytes) VALUES (?, ?, ?, ?)",
                        (of_model, key, bits, values),
                    )

        self._writer.run(work)

    def nearest(
        self, namespace: Namespace, model: str, vector: Row, where: MemoryFilter, limit: int
    ) -> dict[MemoryId, float]:
        import numpy as np  # start-up cost, as above

        from ovillo.store.forms import differing

        with self._pool.reading() as db, db:
            found = _model(db, namespace, model)
            # The model now returns another length than before: nothing stored is comparable.
            if found is None or found[1] != len(vector):
                return {}
            cached = self._fresh(db, found[0], len(vector) // 8)
            if not len(cached.numbers):
                return {}
            apart = differing(cached.rows, vector)
            near = _fitting(db, found[0], vector, _closest(cached.numbers, apart), where)
            if len(near) < limit and len(cached.numbers) > _RESCORED:
                # Few of the nearest pass: search only among those that do, so that the others take no place of the
                # limit.
                sql, given = conditions(where)
                keys = db.execute(f"SELECT key FROM memories WHERE namespace_key = {_NS}{sql}", (namespace, *given))
                passing = np.isin(cached.keys, np.fromiter((key for (key,) in keys), np.int64))
                near = _fitting(db, found[0], vector, _closest(cached.numbers[passing], apart[passing]), where)
        return dict(sorted(near.items(), key=lambda item: (-item[1], item[0]))[:limit])

    def cosines(self, namespace: Namespace, model: str, vector: Row, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
        with self._pool.reading() as db, db:
            found = _model(db, namespace, model)
            if found is None or found[1] != len(vector):
                return {}
            rows = db.execute(
                "SELECT v.number FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value AND m.namespace_key ="
                f" {_NS} JOIN memory_vectors v ON v.memory_key = m.key AND v.model_key = ?",
                (to_json([clean(each) for each in ids]), namespace, found[0]),
            ).fetchall()
            return _fitting(db, found[0], vector, [number for (number,) in rows], MemoryFilter())

    def _fresh(self, db: apsw.Connection, of_model: int, size: int) -> _Bits:
        with self._lock:
            cached = self._cache[of_model] = _caught_up(db, of_model, size, self._cache.get(of_model))
            self._cache.move_to_end(of_model)
            while len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
            return cached


def drop_memory_vectors(db: apsw.Connection, keys: Sequence[int]) -> None:
    """For memories that are gone or have another text now, of all models."""
    db.executemany("DELETE FROM memory_vectors WHERE memory_key = ?", [(key,) for key in keys])


def _model(db: apsw.Connection, namespace: Namespace, model: str) -> tuple[int, int | None] | None:
    """``(key, dimension)``."""
    row: tuple[int, int | None] | None = db.execute(
        f"SELECT key, dimension FROM embedding_models WHERE namespace_key = {_NS} AND name = ?", (namespace, model)
    ).fetchone()
    return row


def _state(db: apsw.Connection, namespace: Namespace, of_model: int | None) -> _Share:
    (seq,) = db.execute(f"SELECT max(seq) FROM changes WHERE namespace_key = {_NS}", (namespace,)).fetchone()
    (newest,) = db.execute("SELECT max(number) FROM memory_vectors WHERE model_key = ?", (of_model,)).fetchone()
    return _Share(seq or 0, newest or 0, (0, 0))


def _changed(db: apsw.Connection, namespace: Namespace, since: int) -> bool:
    """Whether a memory was written or removed; vectors are deleted with their memory."""
    sql = f"SELECT 1 FROM changes WHERE namespace_key = {_NS} AND seq > ? AND kind = 'memory' LIMIT 1"
    return db.execute(sql, (namespace, since)).fetchone() is not None


def _key_if_unchanged(db: apsw.Connection, ns: int, memory: Memory) -> int | None:
    row = db.execute(
        f"SELECT key, {MEMORY_COLUMNS} FROM memories WHERE namespace_key = ? AND id = ?", (ns, clean(memory.id))
    ).fetchone()
    if row is None or embedded_text(memory_from(row[1:])) != embedded_text(memory):
        return None
    return int(row[0])


def _caught_up(db: apsw.Connection, of_model: int, size: int, cached: _Bits | None) -> _Bits:
    """What is stored now: reads what was written since, drops what is gone."""
    import numpy as np

    last = int(cached.numbers.max(initial=0)) if cached is not None else 0
    (count,) = db.execute("SELECT count(*) FROM memory_vectors WHERE model_key = ?", (of_model,)).fetchone()
    new = db.execute(
        "SELECT number, memory_key, bits FROM memory_vectors WHERE model_key = ? AND number > ? ORDER BY number",
        (of_model, last),
    ).fetchall()
    if cached is not None and not new and cached.count == count:
        return cached
    sound = [row for row in new if len(row[2]) % size == 0]
    times = [len(bits) // size for _, _, bits in sound]
    added = _Bits(
        count,
        np.repeat(np.fromiter((row[0] for row in sound), np.int64, len(sound)), times),
        np.repeat(np.fromiter((row[1] for row in sound), np.int64, len(sound)), times),
        np.frombuffer(b"".join(row[2] for row in sound), np.uint8).reshape(-1, size),
    )
    if cached is None:
        return added
    there = db.execute("SELECT number FROM memory_vectors WHERE model_key = ? AND number <= ?", (of_model, last))
    stay = np.isin(cached.numbers, np.fromiter((number for (number,) in there), np.int64))
    return _Bits(
        count,
        np.concatenate([cached.numbers[stay], added.numbers]),
        np.concatenate([cached.keys[stay], added.keys]),
        np.concatenate([cached.rows[stay], added.rows]),
    )


def _closest(numbers: NDArray[np.int64], apart: NDArray[np.uint16]) -> list[int]:
    import numpy as np

    if len(numbers) > _RESCORED:
        numbers = numbers[np.argpartition(apart, _RESCORED)[:_RESCORED]]
    return [int(number) for number in dict.fromkeys(numbers.tolist())]


def _fitting(
    db: apsw.Connection, of_model: int, vector: Row, numbers: Sequence[int], where: MemoryFilter
) -> dict[MemoryId, float]:
    """Cosines of those that pass the filter, from their values."""
    import numpy as np

    from ovillo.store.forms import unpack

    sql, given = conditions(where)
    rows: list[tuple[Any, ...]] = db.execute(
        "WITH asked AS (SELECT value AS number FROM json_each(?)) SELECT m.id, v.bytes FROM asked"
        " CROSS JOIN memory_vectors v ON v.number = asked.number AND v.model_key = ?"
        f" JOIN memories m ON m.key = v.memory_key{sql}",
        (to_json(list(numbers)), of_model, *given),
    ).fetchall()
    size = len(vector) // 2
    sound = [(name, values) for name, values in rows if values and len(values) % size == 0]
    if not sound:
        return {}
    unpacked = unpack(np.frombuffer(b"".join(values for _, values in sound), np.int8).reshape(-1, size))
    # Not @: BLAS would spin up threads of its own for two milliseconds' work.
    cosines = np.einsum("ij,j->i", unpacked, vector)
    near, at = {}, 0
    for name, values in sound:
        count = len(values) // size
        near[MemoryId(name)] = float(cosines[at : at + count].max())
        at += count
    return near
