"""The services behind a server, opened on first use, and the threads of its background work.

Owns when things start and end; ``ovillo.background`` has the work. A stdio server must list its tools before anything
heavy is imported, so services open on the first call and watching starts after the first answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ovillo.model.foreground import Foreground

if TYPE_CHECKING:
    from ovillo.ingest.reports import ScanReport
    from ovillo.interfaces.services import Services

_log = logging.getLogger(__name__)

#: How long closing waits for a scan to stop (seconds); the next scan reads again what was not stored.
_PATIENCE_S = 0.4
#: How long the first answers on a new database wait for its first scan, under 5 s for clients with short time-outs, and
#: how often they check (seconds).
_FIRST_SCAN_S = 4.0
_POLL_S = 0.03


class Backend:
    """Thread-safe. ``open_services`` succeeds at most once; until then its errors are raised at every call."""

    def __init__(self, open_services: Callable[[], Services]) -> None:
        self._open = open_services
        self._lock = threading.Lock()
        self._services: Services | None = None
        self._was_scanned = False
        self._first_scan: threading.Thread | None = None
        self._stop = threading.Event()
        self._workers: list[threading.Thread] = []
        self._wants_background = False
        self._in_background = False
        self._listeners: tuple[Callable[[ScanReport], None], ...] = ()
        #: What is done in the background waits for answers.
        self.foreground = Foreground()

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
        """The services; on a new database after its first scan, so that the first answer is not empty.

        Waits once and not for long: the answer says what is not indexed by then."""
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
        """Start watching and the other background work once the services are open: if they cannot be opened now, with
        the first call that opens them. Does nothing when already started."""
        self._wants_background = True
        services = self.services()
        with self._lock:
            self._begin_background(services)

    def _begin_background(self, services: Services) -> None:
        if self._in_background or self._stop.is_set():
            return
        self._in_background = True
        for job in services.background.jobs(self._changed, self.foreground):
            # Each in its own thread, restarted after every failure.
            run = partial(services.workers.keep_running, job.name, partial(job.run, self._stop), self._stop)
            worker = threading.Thread(target=run, name=job.thread, daemon=True)
            worker.start()
            self._workers.append(worker)

    def _changed(self, report: ScanReport) -> None:
        for listener in self._listeners:
            listener(report)

    def stop_background(self) -> bool:
        """Ask background work to end and wait briefly; false when some of it is still busy."""
        self._stop.set()
        if self._in_background and self._services is not None:
            self._services.background.wake()
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
                pass  # another process is scanning; little is left to read afterwards
        except Exception:  # noqa: BLE001  Worker boundary: the answer says that nothing is indexed.
            if not self._stop.is_set():
                _log.exception("the first scan ended")
