"""Ways a history file gets damaged: bytes, lines, encodings, JSON values, rows."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]


def mutate(data: bytes, kinds: list[str], seed: int) -> bytes:
    """``data`` after each of ``kinds``, the same for the same seed."""
    rng = random.Random(seed)
    for kind in kinds:
        data = MUTATIONS[kind](data, rng)
    return data


def mutate_rows(path: Path, seed: int) -> None:
    """Change a few values of a SQLite database, JSON in them with taste."""
    rng = random.Random(seed)
    with closing(sqlite3.connect(path)) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(rng.choice((1, 2, 8))):
            table = rng.choice(tables)
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
            row = database.execute(f'SELECT rowid, * FROM "{table}" ORDER BY random() LIMIT 1').fetchone()
            if row is None:
                continue
            place = rng.randrange(len(columns))
            with suppress(sqlite3.Error):
                database.execute(
                    f'UPDATE "{table}" SET "{columns[place]}" = ? WHERE rowid = ?',
                    (_other_cell(row[place + 1], rng), row[0]),
                )
        database.commit()


def _other_cell(value: Any, rng: random.Random) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "[") and rng.random() < 0.8:
        return other_value(value.encode(), rng).decode("utf-8", "replace")
    return rng.choice((None, "", "x", -1, 2**62, 1.5, b"\xff\xfe", "\0", "[1", '{"a": 1}', "[" * 5_000))


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(changed), rng.choice((1, 3, 20)))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def delete_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        place = rng.randrange(len(lines))
        lines[place:place] = [lines[rng.randrange(len(lines))]] * rng.choice((1, 2, 30))
    return b"".join(lines)


def shuffle_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def insert_nuls(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + b"\0" * rng.choice((1, 512, 70_000)) + data[place:]


def invalid_utf8(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice((b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"\xf8\x88")) + data[place:]


def other_encoding(data: bytes, rng: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-be", "utf-8-sig", "utf-32")))


def windows_newlines(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", b"\r\n")


def deep_line(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice((150, 3_000, 100_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    closed = opening * depth + b"1" + closing * rng.choice((0, depth))
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), closed + b"\n")
    return b"".join(lines)


def other_value(data: bytes, rng: random.Random) -> bytes:
    """One value somewhere in one JSON record (or in the whole document) becomes something else."""
    try:
        return _dump(_with_other_value(json.loads(data), rng))
    except (ValueError, RecursionError):
        pass
    lines = data.splitlines()
    for _ in range(5):
        if not lines:
            break
        place = rng.randrange(len(lines))
        try:
            lines[place] = _dump(_with_other_value(json.loads(lines[place]), rng))
            break
        except (ValueError, RecursionError):
            continue
    return b"\n".join(lines) + b"\n"


def other_document(data: bytes, rng: random.Random) -> bytes:
    return _dump(_strange(rng)) + rng.choice((b"", b"\n"))


def empty(data: bytes, rng: random.Random) -> bytes:
    return b""


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _with_other_value(root: Any, rng: random.Random) -> Any:
    """Walk down a random way and replace, remove or add what stands at its end."""
    node, steps = root, rng.randrange(6)
    for _ in range(steps):
        inner = [item for item in _items(node) if isinstance(item, dict | list) and item]
        if not inner:
            break
        node = rng.choice(inner)
    match node:
        case dict() if node:
            key = rng.choice(list(node))
            if rng.random() < 0.2:
                del node[key]
            else:
                node[key] = _strange(rng)
        case list() if node:
            node[rng.randrange(len(node))] = _strange(rng)
        case _:
            return _strange(rng)
    return root


def _items(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


def _strange(rng: random.Random) -> Any:
    deep: Any = "x"
    for _ in range(120):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return rng.choice(
        [
            None, True, False, 0, -1, 2**31, 2**63, -(2**70), 10**400, 1.5e308, -0.0, "", "x", "\0", "\ud800",
            "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-13-45", "../../etc", "a" * 5_000, [], {}, [[]],
            [None, 1, "x", {}], {"id": None, "type": 3}, {"type": "text", "text": {"text": 1}}, deep,
        ]
    )  # fmt: skip


MUTATIONS: dict[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        other_value,
        flip_bytes,
        truncate,
        delete_line,
        repeat_line,
        shuffle_lines,
        insert_nuls,
        invalid_utf8,
        other_encoding,
        windows_newlines,
        deep_line,
        other_document,
        empty,
    )
}
