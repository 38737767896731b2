"""The services behind a server, opened when first needed, and the background work beside them.

Owns when things start and end. A stdio server must list its tools before anything heavy is imported, so
services open on the first call and watching starts after the first answer.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ovillo.model.records import DEFAULT_NAMESPACE, Namespace

if TYPE_CHECKING:
    from ovillo.ingest.reports import ScanReport
    from ovillo.interfaces.services import Services

_log = logging.getLogger(__name__)

#: How long closing waits for a scan to notice (seconds); what it has not stored it reads again next time.
_PATIENCE_S = 0.4
#: How long the first answers on a new database wait for its first scan, under 5 s for clients with short time-outs, and
#: how often they look (seconds).
_FIRST_SCAN_S = 4.0
_POLL_S = 0.03
#: Texts wait when this process read some; others may have, so it is looked from time to time (seconds).
_LOOK_AGAIN_S = 60.0
#: While the model is loaded: how often it looks for more, and how often in vain before it is let go.
_LOOK_S = 2.0
#: How often it is looked whether a folder of code was indexed (seconds).
_LOOK_FOR_CODE_S = 5.0
_LOOKS_BEFORE_LETTING_GO = 30
#: Sessions wait to be read for entities when this process read or recorded some; others may have (seconds).
_TRACK_AGAIN_S = 30.0
#: How often it is looked which sessions are past their days (seconds).
_RETAIN_AGAIN_S = 3_600.0


class Backend:
    """Thread-safe. ``open_services`` is called at most once; its errors come up at every call until it succeeds."""

    def __init__(self, open_services: Callable[[], Services]) -> None:
        self._open = open_services
        self._lock = threading.Lock()
        self._services: Services | None = None
        self._was_scanned = False
        self._first_scan: threading.Thread | None = None
        self._stop = threading.Event()
        self._new_texts = threading.Event()
        self._new_sessions = threading.Event()
        self._workers: list[threading.Thread] = []
        self._wants_background = False
        self._in_background = False
        self._listeners: tuple[Callable[[ScanReport], None], ...] = ()

    @property
    def opened(self) -> Services | None:
        """The services if they are open already; takes no lock."""
        return self._services

    def services(self) -> Services:
        with self._lock:
            if self._services is None:
                self._services = self._open()
                self._was_scanned = self._services.scan_state.indexed_through() is not None
                if self._wants_background:
                    self._begin_background(self._services)
            return self._services

    def settled(self) -> Services:
        """The services, and on a new database the first scan waited for, so that the first answer is not an empty one.

        Waits once and not for long: what is not indexed by then is said in the answer."""
        services = self.services()
        with self._lock:
            if (
                self._first_scan is None
                and services.settings.watch
                and not self._was_scanned
                and not self._stop.is_set()
            ):
                self._first_scan = threading.Thread(
                    target=self._scan, args=(services,), name="ovillo-scan", daemon=True
                )
                self._workers.append(self._first_scan)
                self._first_scan.start()
        deadline = time.monotonic() + _FIRST_SCAN_S
        while not self._was_scanned and self._first_scan is not None and time.monotonic() < deadline:
            self._first_scan.join(_POLL_S)
            self._was_scanned = not self._first_scan.is_alive() or self._stop.is_set()
        self._was_scanned = True
        return services

    def on_change(self, listener: Callable[[ScanReport], None]) -> None:
        """``listener`` is called from a worker thread whenever watching read something new."""
        self._listeners = (*self._listeners, listener)

    def start_background(self) -> None:
        """Watch the sources and fill what is filled in the background, from when the services are open: where they cannot be
        opened now, that begins with the first call that finds them open. Does nothing once it has begun."""
        self._wants_background = True
        services = self.services()
        with self._lock:
            self._begin_background(services)

    def _begin_background(self, services: Services) -> None:
        if self._in_background or not services.settings.watch or self._stop.is_set():
            return
        self._in_background = True
        begun = [
            ("watching the sources", "ovillo-watch", self._watch),
            ("reading sessions for entities", "ovillo-entities", self._track),
        ]
        if services.settings.follows_code:
            begun.append(("watching the code", "ovillo-code", self._watch_code))
        begun.append(("removing sessions past their days", "ovillo-retention", self._retain))
        if services.settings.embedder != "none":
            begun.append(("embedding", "ovillo-embed", self._embed))
        for what, thread, work in begun:
            self._begin(services, what, thread, work)

    def _begin(self, services: Services, what: str, thread: str, work: Callable[[Services], None]) -> None:
        """In a thread of its own, begun again after every failure."""

        def run() -> None:
            services.workers.keep_running(what, lambda: work(services), self._stop)

        worker = threading.Thread(target=run, name=thread, daemon=True)
        worker.start()
        self._workers.append(worker)

    def stop_background(self) -> bool:
        """Ask background work to end and wait a little; false when some of it is still busy."""
        self._stop.set()
        self._new_texts.set()
        self._new_sessions.set()
        deadline = time.monotonic() + _PATIENCE_S
        for worker in self._workers:
            worker.join(max(deadline - time.monotonic(), 0.01))
        return not any(worker.is_alive() for worker in self._workers)

    def close(self) -> bool:
        """End background work and close the services. False when a thread did not end in time: the store then stays
        open, and only leaving the process ends it (nothing acknowledged is lost)."""
        if not self.stop_background() or not self._lock.acquire(timeout=_PATIENCE_S):
            return False
        try:
            if self._services is not None:
                self._services.close()
                self._services = None
        finally:
            self._lock.release()
        return True

    def _scan(self, services: Services) -> None:
        try:
            while services.ingest.scan().busy and not self._stop.wait(_POLL_S):
                pass  # somebody else is at it; once they are done there is little left to read
        except Exception:  # noqa: BLE001  Worker boundary: the answer says that nothing is indexed.
            if not self._stop.is_set():
                _log.exception("the first scan ended")

    def _watch_code(self, services: Services) -> None:
        """Once a folder of code is indexed; until then nothing of it is even loaded."""
        _be_nice()
        while not self._stop.is_set():
            if services.store.code.roots(DEFAULT_NAMESPACE):
                services.code_watcher.run(self._stop)
            self._stop.wait(_LOOK_FOR_CODE_S)

    def _watch(self, services: Services) -> None:
        def changed(report: ScanReport) -> None:
            self._new_texts.set()
            self._new_sessions.set()
            for listener in self._listeners:
                listener(report)

        services.ingest.watch(self._stop, changed)

    def _track(self, services: Services) -> None:
        """Entities, then type and status of mirrored sessions; one process at a time, as for embedding."""
        _be_nice()
        summary_worker = services.summary_worker
        while not self._stop.is_set():
            with services.store.leases.hold("entities") as ours:
                for namespace in services.store.sessions.namespaces() if ours else ():
                    if services.settings.entity_tracking:
                        tracker = services.entities.tracker(namespace, lambda: summary_worker.is_quiet)
                        tracker.run_until_done(stop=self._stop)
                    summary_worker.classify(namespace, self._stop)
            self._new_sessions.wait(_TRACK_AGAIN_S)
            self._new_sessions.clear()

    def _retain(self, services: Services) -> None:
        """Now and every hour, one process at a time. Removing is quick and asks for no turn of its own; writing the file
        anew, without what was removed, waits until nobody appends."""
        _be_nice()
        while not self._stop.is_set():
            with services.store.leases.hold("retention") as ours:
                if ours:
                    self._retain_once(services)
            self._stop.wait(_RETAIN_AGAIN_S)

    def _retain_once(self, services: Services) -> None:
        if services.settings.has_retention:
            for namespace in services.store.sessions.namespaces():
                services.retention.run(namespace, self._stop)
        while not services.summary_worker.is_quiet and not self._stop.wait(_LOOK_S):
            pass
        if not self._stop.is_set() and (left := services.store.forgetting.wipe()):
            _log.info("removed text may still be in free space of the file: %s", left)

    def _embed(self, services: Services) -> None:
        """One process at a time: a server runs for every agent, and all would embed the same texts."""
        _be_nice()
        while not self._stop.is_set():
            if _texts_wait(services) or _with_definitions(services):
                with services.store.leases.hold("embed") as ours:
                    if ours:
                        self._embed_while_busy(services)
            self._new_texts.wait(_LOOK_AGAIN_S)
            self._new_texts.clear()

    def _embed_while_busy(self, services: Services) -> None:
        """The model is 200 MB: it is loaded when texts wait and let go when none came for a while."""
        from ovillo.search.embedders import open_embedder
        from ovillo.search.embedding_queue import EmbeddingQueue

        embedder = open_embedder(services.settings)
        if embedder is None:
            return
        queue = EmbeddingQueue(services.store, embedder)
        idle = 0
        while idle < _LOOKS_BEFORE_LETTING_GO and not self._stop.is_set():
            done = queue.run_until_done(stop=self._stop, workers=1)
            # Definitions come after what was said: that is what most questions are about.
            done += sum(services.symbols.vectors.embed_all(each, self._stop) for each in _with_definitions(services))
            idle = 0 if done else idle + 1
            self._stop.wait(_LOOK_S)


def _texts_wait(services: Services) -> bool:
    from ovillo.search.embedders import model_id  # start-up, as all of search

    model = model_id(services.settings)
    if model is None:
        return False
    shares = (services.store.vectors.share(namespace, model) for namespace in services.store.sessions.namespaces())
    return any(done < eligible for done, eligible in shares)


def _with_definitions(services: Services) -> list[Namespace]:
    """Namespaces with indexed code that may have no vectors yet; without any the service is not even made."""
    with_code = [each for each in services.store.sessions.namespaces() if services.store.code.root_paths(each)]
    return [each for each in with_code if services.symbols.vectors.wait(each)]


def _be_nice() -> None:
    """Let everything else on the machine go first; on Linux a thread has a priority of its own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
