"""The one thread of a process that writes: takes work from a queue and commits it in groups.

Owns transactions and acknowledgement: a caller's future is done only after COMMIT. What the work does is
the caller's.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import apsw

from ovillo.model.errors import StoreUnavailable
from ovillo.store.sqlite.connection import explained, open_writer
from ovillo.store.sqlite.numbers import Numbers

T = TypeVar("T")
Work = Callable[[apsw.Connection], Any]

_GROUP = 256


class Writer:
    """Serialises writes of one process; other processes are waited for by SQLite's busy handler."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        self._connection = open_writer(path)
        self._closed = False
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[], None], ...] = ()
        #: Commits so far and the time they took, in all (seconds); written by the one thread only.
        self.commits = 0
        self.commit_s = 0.0
        self._thread = threading.Thread(target=self._run, name="ovillo-writer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive() and not self._closed

    @property
    def depth(self) -> int:
        """Pieces of work that wait."""
        return self._queue.qsize()

    def submit(self, work: Callable[[apsw.Connection], T]) -> Future[T]:
        """Runs inside a transaction; the future is done after COMMIT, or fails with what the work raised."""
        future: Future[T] = Future()
        # From here on it cannot be cancelled: a caller that gave up must not take the others of its group along.
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise StoreUnavailable("The store is closed.", hint="Open it again.")
            self._queue.put((work, future))
        return future

    def run(self, work: Callable[[apsw.Connection], T]) -> T:
        return self.submit(work).result()

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See ``ChangeStore.on_commit``."""
        with self._lock:
            self._listeners = (*self._listeners, callback)

        def remove() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not callback)

        return remove

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            if item is None:
                return
            group = [item]
            stop = False
            while len(group) < _GROUP:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    stop = True
                    break
                group.append(following)
            self._commit(group)
            # Without this the last group's rows stay alive while the thread waits for the next.
            del group, item
            if stop:
                return

    def _commit(self, group: list[tuple[Work, Future[Any]]]) -> None:
        done: list[tuple[Future[Any], Any]] = []
        began = time.monotonic()
        try:
            with explained(self._path):
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.numbers = numbers = Numbers(self._connection)
                for work, future in group:
                    try:
                        if getattr(work, "leaves_nothing", False):
                            done.append((future, work(self._connection)))
                            continue
                        numbers.write()
                        with self._connection:  # a savepoint: one failing piece of work costs only itself
                            done.append((future, work(self._connection)))
                    except (apsw.FullError, apsw.IOError, apsw.CorruptError):
                        raise
                    except Exception as error:  # noqa: BLE001 - the boundary of foreign work: its caller gets it
                        if not getattr(work, "leaves_nothing", False):
                            numbers.forget()
                        future.set_exception(error)
                numbers.write()
                self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the transaction failed: every waiting caller must hear it
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        self.commits += 1
        self.commit_s += time.monotonic() - began
        for future, result in done:
            future.set_result(result)
        for told in self._listeners:
            told()


class NoWriter(Writer):
    """Stands in where the database cannot be written: reading goes on, writing says why it does not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.commits = 0
        self.commit_s = 0.0

    @property
    def is_alive(self) -> bool:
        return False

    @property
    def depth(self) -> int:
        return 0

    def submit(self, work: Callable[[apsw.Connection], T]) -> Future[T]:
        raise StoreUnavailable(
            f"The database {self._path} cannot be written: the file or its folder is read-only.",
            hint="Make it writable and start again; until then everything can be read.",
        )

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def close(self) -> None: ...
