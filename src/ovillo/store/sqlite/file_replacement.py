"""Putting another file in the place of the database, when nobody has it open.

Owns being alone with the file and moving it aside; nothing is ever deleted. Repairing and restoring do it so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ovillo.model.errors import Conflict

_PARTS = ("-note", "-shm", "-wal", "")


@contextmanager
def alone(path: Path, doing: str) -> Iterator[None]:
    """Nobody else has the database open, and nobody opens it meanwhile. Raises Conflict."""
    try:
        import fcntl
    except ImportError:  # Windows: a file that is open cannot be moved there, which refuses by itself
        yield
        return
    opened = []
    try:
        for name in (path, path.with_name(f"{path.name}-shm")):
            with suppress(FileNotFoundError):
                file = name.open("r+b")
                opened.append(file)
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise Conflict(
            f"The database {path} is open in another process.",
            hint=f"End all ovillo servers and commands (agents start `ovillo mcp` by themselves), then {doing} again.",
        ) from error
    finally:
        for file in opened:
            file.close()


def put_in_place(path: Path, new: Path, why: str) -> Path | None:
    """The folder beside it, named after ``why`` and the time, that what stood there was moved to, if anything did."""
    kept_at: Path | None = None
    # The file last: until then everything is where it was, for whoever opens it.
    for ending in _PARTS:
        old = path.with_name(f"{path.name}{ending}")
        if old.exists():
            kept_at = kept_at or _new_folder(path.parent, why)
            os.replace(old, kept_at / old.name)  # noqa: PTH105
    os.replace(new, path)  # noqa: PTH105
    return kept_at


def _new_folder(parent: Path, why: str) -> Path:
    name = time.strftime(f"{why}-%Y%m%d-%H%M%S")
    folder, number = parent / name, 1
    while folder.exists():
        number += 1
        folder = parent / f"{name}.{number}"
    folder.mkdir(mode=0o700)
    return folder


def remove_made(new: Path) -> None:
    """A file that was to take the place, and what SQLite made beside it."""
    for ending in _PARTS:
        new.with_name(f"{new.name}{ending}").unlink(missing_ok=True)
