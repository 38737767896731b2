"""Locks between processes, as files that the system gives up when a process dies.

Owns taking and releasing. What a lock stands for, and removing its file, is the caller's.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType

#: Seconds between two tries.
_PAUSE_S = 0.02


class Taken(TimeoutError):
    """Somebody else holds it, another process or another lock of this one."""


class FileLock:
    """Of one holder at a time. The file is made for its owner alone; where a link stands in its place it is not taken."""

    def __init__(self, path: Path, *, mode: int, timeout_s: float = 0) -> None:
        self._path = path
        self._mode = mode
        self._timeout_s = timeout_s
        self._handle: int | None = None

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Raises Taken after the time-out, OSError where nothing can be locked."""
        give_up = time.monotonic() + self._timeout_s
        while (handle := self._try()) is None:
            if time.monotonic() >= give_up:
                raise Taken(str(self._path))
            time.sleep(_PAUSE_S)
        self._handle = handle

    def release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            # Closing gives it up, also where a child process was started meanwhile: the handle is not inherited.
            os.close(handle)

    def _try(self) -> int | None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), self._mode)
        try:
            if _lock(handle) and _is_at(self._path, handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None


def _is_at(path: Path, handle: int) -> bool:
    """Whether the file was not removed before it was locked: then the next one makes another, and both hold one."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
