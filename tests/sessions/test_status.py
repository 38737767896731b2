"""The status service on sound, damaged and crippled stores."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections import namedtuple
from pathlib import Path

import apsw
import pytest

from ovillo import __version__
from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.clock import system_clock
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionStatus
from ovillo.sessions.drafts import SessionDraft
from tests.builders import delta, message, session
from tests.interfaces.opened import made, record, settings_for

__all__ = ["made"]

Usage = namedtuple("Usage", "total used free")


@pytest.mark.requirement("CTX-6")
def test_a_sound_system_is_healthy_and_tells_its_figures_when_asked(made: Services) -> None:
    plain = made.status.status(NS)
    assert (plain.status, plain.reasons, plain.version, plain.active, plain.metrics) == (
        "healthy",
        (),
        __version__,
        None,
        None,
    )
    whole = made.status.status(NS, include_sessions=True, include_metrics=True)
    assert whole.uptime_s >= plain.uptime_s >= 0
    assert whole.active == ()
    assert whole.metrics is not None
    assert {"schemaVersion", "databaseBytes", "diskFreeBytes", "lastScan", "writerAnswers", "indexCurrent"} <= set(
        whole.metrics
    )


@pytest.mark.requirement("CTX-6")
def test_active_are_recorded_sessions_and_mirrored_ones_written_just_now(made: Services) -> None:
    now = system_clock()
    made.recorder.create(NS, SessionDraft(id="mine", name="Mine"))
    made.recorder.create(NS, SessionDraft(id="over", name="Over", status=SessionStatus.COMPLETED))
    for name, updated in (("fresh", now - 1_000), ("stale", now - 9 * 3_600_000)):
        record(
            made, delta(message(f"m-{name}", 1, "hi", of=name), about=session(name, created_at=1, updated_at=updated))
        )
    active = made.status.status(NS, include_sessions=True).active
    assert active is not None
    assert {x.session.id for x in active} == {"mine", "fresh"}


@pytest.mark.requirement("CTX-6")
def test_a_damaged_page_is_an_error_and_status_still_answers(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    services = open_services(settings)
    record(services, *(delta(message(f"m{n}", 1, f"words {n} " * 50, of=f"ses_{n}")) for n in range(60)))
    services.close()
    with contextlib.closing(apsw.Connection(str(settings.database))) as db:
        ((page,),) = db.execute("SELECT rootpage - 1 FROM sqlite_schema WHERE name = 'messages'").fetchall()
    data = bytearray(settings.database.read_bytes())
    data[page * 8192 : page * 8192 + 4_000] = b"\xa5" * 4_000
    settings.database.write_bytes(data)
    services = open_services(settings)
    try:
        status = services.status.status(NS, include_sessions=True, include_metrics=True)
        assert status.status == "error"
        assert "ovillo doctor" in " ".join(x.text for x in status.reasons)
    finally:
        services.close()


@pytest.mark.requirement("CTX-6")
@pytest.mark.parametrize(
    ("free", "expected"),
    [(500_000_000, "degraded"), (60_000_000, "error"), (10_000_000, "error"), (2**40, "healthy")],
)
def test_little_disk_space_degrades_and_none_is_an_error(
    made: Services, monkeypatch: pytest.MonkeyPatch, free: int, expected: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2**41, 0, free))
    status = made.status.status(NS)
    assert status.status == expected
    assert all("make room" in x.text for x in status.reasons)
    # A server says of itself that it cannot serve at the same point.
    assert bool(made.status.not_ready()) == (expected == "error")


@pytest.mark.requirement("CTX-6")
def test_a_writer_that_is_busy_degrades_and_unreadable_sources_are_named(
    made: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.store.sources.source_finished(NS, "codex", "/home/x/.codex", "1", "no permission", 5)
    status = made.status.status(NS)
    assert (status.status, status.reasons[0].level) == ("degraded", "degraded")
    assert "/home/x/.codex" in status.reasons[0].text
    release = threading.Event()
    holding = made.store._core.writer.submit(lambda db: release.wait(30))  # type: ignore[attr-defined]
    monkeypatch.setattr("ovillo.sessions.status._WRITER_S", 0.01)
    busy = made.status.status(NS, include_metrics=True)
    release.set()
    holding.result(10)
    assert any("writer" in x.text for x in busy.reasons)
    assert busy.metrics is not None
    assert busy.metrics["writerAnswers"] is False


@pytest.mark.requirement("CTX-6")
def test_a_closed_store_is_an_error_and_no_exception(tmp_path: Path) -> None:
    services = open_services(settings_for(tmp_path))
    services.status.status(NS)
    services.close()
    status = services.status.status(NS, include_sessions=True, include_metrics=True)
    assert status.status == "error"
    assert any("closed" in x.text for x in status.reasons)
