"""A process that stops in the middle of a write (SIGSTOP, a laptop's sleep, a debugger) holds the lock: who waits for an
answer is told soon and by whom; what can wait, waits; and all goes on when the process does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.test_store_faults import append, stored
from tests.interfaces.http.serving import process

_HOLD = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE meta SET value = value")
print("holding", flush=True)
sys.stdin.read()
"""


@contextmanager
def stopped_writer(database: Path) -> Iterator[subprocess.Popen[str]]:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        holder.send_signal(signal.SIGSTOP)
        yield holder
    finally:
        holder.kill()
        holder.communicate()


@pytest.mark.requirement("FAULT-7")
def test_an_append_is_refused_soon_with_the_process_that_holds_the_lock_and_taken_when_it_lets_go(
    tmp_path: Path,
) -> None:
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = append(site, "k1", "before").json["id"]
        with stopped_writer(tmp_path / "data" / "ovillo.db") as holder:
            refused = append(site, "k2", "meanwhile")  # the client itself gives up after 20 s
            assert refused.status == 503
            assert refused.json["code"] == "store_busy"
            assert int(refused.headers["retry-after"]) >= 1
            assert f"process {holder.pid}" in refused.json["detail"]
            assert "stopped" in refused.json["detail"]
            # Reading is not held up by it.
            assert [message["id"] for message in stored(site)] == [kept]
        again = append(site, "k2", "meanwhile")
        assert (again.status, again.json["replayed"]) == (201, False)


@pytest.mark.requirement("FAULT-7")
def test_a_command_says_after_how_long_it_gave_up(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")}

    def ovillo(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ovillo", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)

    assert ovillo("session", "create", "mine").returncode == 0
    with stopped_writer(tmp_path / "data" / "ovillo.db"):
        refused = ovillo("session", "create", "another")
    assert refused.returncode == 9
    assert "locked for 4" in refused.stderr
    assert "s by process" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.requirement("FAULT-7")
def test_a_scan_waits_longer_than_an_append_and_goes_on_when_the_lock_is_free(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")}
    command = [sys.executable, "-m", "ovillo", "scan", "--json"]
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    line = (
        '{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p",'
        '"message":{"role":"user","content":"hello there"}}'
    )
    (folder / "s1.jsonl").write_text(line + "\n")
    with stopped_writer(tmp_path / "data" / "ovillo.db") as holder:
        scan = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            scan.communicate(timeout=7)
        holder.send_signal(signal.SIGCONT)
        holder.kill()
        said, wrong = scan.communicate(timeout=30)
    assert scan.returncode == 0, wrong
    assert '"messages": 1' in said


@pytest.mark.requirement("FAULT-7")
def test_a_command_that_reads_answers_soon_and_says_what_it_could_not_look_at(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")}
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    line = (
        '{"type":"user","uuid":"%s","sessionId":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p",'
        '"message":{"role":"user","content":"a lantern"}}\n'
    )
    (folder / "s1.jsonl").write_text(line % "u1")

    def ovillo(*words: str) -> str:
        command = [sys.executable, "-m", "ovillo", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=40)
        return done.stdout

    ovillo("scan")
    with stopped_writer(tmp_path / "data" / "ovillo.db"):
        (folder / "s1.jsonl").write_text(line % "u1" + line % "u2")
        found = ovillo("search", "lantern")
    assert "u1" in found
    assert "the database cannot be written now" in found


@pytest.mark.requirement("FAULT-7")
def test_appends_are_taken_while_another_process_scans(tmp_path: Path) -> None:
    """A scan holds the lock for a bundle at a time: nobody is refused meanwhile."""
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    for session in range(12):
        lines = [
            f'{{"type":"user","uuid":"{session}-{n}","sessionId":"s{session}","timestamp":"2026-01-02T03:04:05.000Z",'
            f'"cwd":"/p","message":{{"role":"user","content":"{n} {"some words to index " * 60}"}}}}'
            for n in range(400)
        ]
        (folder / f"s{session}.jsonl").write_text("\n".join(lines) + "\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")}
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        scan = subprocess.Popen([sys.executable, "-m", "ovillo", "scan"], env=environment, stdout=subprocess.DEVNULL)
        answers = []
        deadline = time.monotonic() + 60
        while scan.poll() is None and time.monotonic() < deadline:
            answers.append(append(site, f"k{len(answers)}", "meanwhile").status)
        assert scan.wait(60) == 0
        assert set(answers) == {201}
