"""A reader that yields what a test tells it: for what real histories cannot be made to do at will."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from ovillo.ingest.service import Ingest
from ovillo.ingest.state import ScanState
from ovillo.model.records import SessionId
from ovillo.readers.protocol import Cursor, Record, Source
from ovillo.security.redaction import redactor_for
from ovillo.store.protocol import Store
from tests.builders import NOON

Script = Callable[[Cursor], Iterator[Record]]


class ScriptedReader:
    shardable = False
    version = 1
    appends_only = False

    def __init__(self, name: str, path: Path, script: Script) -> None:
        self.name = name
        self.title = name.title()
        self.path = path
        self.script = script
        self.seen: list[Cursor] = []

    def discover(self, env: Mapping[str, str], home: Path) -> list[Source]:
        return [Source(self.name, self.path)] if self.path.exists() else []

    def scan(self, source: Source, cursor: Cursor, only: SessionId | None = None) -> Iterator[Record]:
        self.seen.append(dict(cursor))
        yield from self.script(cursor)


def ingest_of(store: Store, tmp_path: Path, *readers: ScriptedReader) -> Ingest:
    return Ingest(
        store,
        {reader.name: reader for reader in readers},
        partial(redactor_for, b"k" * 32, "off"),
        environment={},
        home=tmp_path,
        clock=lambda: NOON,
        state=ScanState(store.sources),
    )
