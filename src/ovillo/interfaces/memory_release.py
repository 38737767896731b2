"""Returning memory: what one large answer took is not kept for the next.

Owns the setup of the C library's allocator in a server, and asking it to return free memory. Without glibc nothing is
done: other allocators return large blocks by themselves.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from functools import cache
from typing import Any

#: Answers above this size are worth a release (bytes).
LARGE = 1024 * 1024
#: mallopt(3): blocks from this size on are mapped and unmapped one by one. glibc raises the threshold by itself up to
#: 32 MiB, which would keep texts of some megabytes; a threshold that was set stays.
_M_MMAP_THRESHOLD, _BORDER = -3, 512 * 1024
#: Every thread may get a heap of its own, which never shrinks below its newest block.
_M_ARENA_MAX, _ARENAS = -8, 2
#: Trimming the heaps takes milliseconds: not after each of many large answers.
_REST_S = 1.0

_lock = threading.Lock()
_last = 0.0
_is_due = False


def keep_little() -> None:
    """Call once, before threads are started."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_M_MMAP_THRESHOLD, _BORDER)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """From any thread but the event loop's. Soon after another call it is done a little later, in a thread of its own: what
    the last of several large answers took is not kept either."""
    global _last, _is_due  # noqa: PLW0603  One allocator a process.
    libc = _glibc()
    if libc is None:
        return
    with _lock:
        if _is_due:
            return
        wait = _last + _REST_S - time.monotonic()
        if wait > 0:
            _is_due = True
            later = threading.Timer(wait, _trim, (libc,))
            later.daemon = True
            later.start()
            return
        _last = time.monotonic()
    libc.malloc_trim(0)


def _trim(libc: Any) -> None:
    global _last, _is_due
    with _lock:
        _last, _is_due = time.monotonic(), False
    libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL(None)
        return libc if libc.malloc_trim and libc.mallopt and libc.gnu_get_libc_version else None
    except (OSError, AttributeError):
        return None
