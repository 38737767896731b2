"""The words as written, behind substring search: stored with the texts they came from, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import apsw

from ovillo.store.protocol import Analyzer

Surfaces = Sequence[tuple[str, str]]


def learn(db: apsw.Connection, surfaces: Surfaces) -> None:
    if surfaces:
        db.executemany("INSERT OR IGNORE INTO vocabulary (surface, term) VALUES (?, ?)", surfaces)


def return_if_failed(writing: Future[Any], analyzer: Analyzer, surfaces: Surfaces) -> None:
    """Words of a write that failed are new again for the next one that holds them."""

    def done(written: Future[Any]) -> None:
        if written.exception() is not None:
            analyzer.return_surfaces(surfaces)

    if surfaces:
        writing.add_done_callback(done)
