"""A process without descriptors, with a limit on file sizes, or whose folder is taken away: it says so, goes on reading
where it can, and all is well when the fault is over."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.faults.test_store_faults import append, stored, until_refused
from tests.interfaces.http.serving import process
from tests.security.watched import need_strace

_LIMITED = """
import os, resource, sys
name, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(getattr(resource, name), (limit, limit))
os.execv(sys.executable, [sys.executable, "-m", "ovillo", *sys.argv[3:]])
"""


def limited(tmp_path: Path, name: str, limit: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LIMITED, name, str(limit), *words],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def history(tmp_path: Path, messages: int = 3_000) -> None:
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    lines = [
        f'{{"type":"user","uuid":"u{n}","sessionId":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p",'
        f'"message":{{"role":"user","content":"{n} {os.urandom(400).hex()}"}}}}'
        for n in range(messages)
    ]
    (folder / "s1.jsonl").write_text("\n".join(lines) + "\n")


@pytest.mark.requirement("FAULT-8")
def test_a_server_without_descriptors_says_so_and_recovers_when_connections_are_closed(tmp_path: Path) -> None:
    with process(tmp_path) as (server, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = append(site, "k1", "before").json["id"]
        used = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + 12, used + 12))
        host, _, port = site.host.partition(":")
        idle = [socket.create_connection((host, int(port)), timeout=5) for _ in range(8)]
        answers = [site.ask("GET", "/api/sessions/mine/messages") for _ in range(3)]
        answers.append(append(site, "k2", "meanwhile"))
        for answer in answers:
            assert answer.status in (200, 201, 503), answer.body
            assert b"bug" not in answer.body
            if answer.status == 503:
                assert "too many files" in answer.json["detail"]
        more = [socket.create_connection((host, int(port)), timeout=5) for _ in range(12)]
        for connection in (*idle, *more):
            connection.close()
        assert append(site, "k3", "after").status == 201
        assert stored(site)[0]["id"] == kept
        server.terminate()
        said = server.communicate(timeout=20)[1]
        assert "Traceback" not in said
        # Nobody read what the server said meanwhile: a line for each refused connection would have filled the pipe.
        assert said.count("New connections wait") == 1


@pytest.mark.requirement("FAULT-8")
@pytest.mark.parametrize("limit", [12, 16, 20, 24, 32])
def test_a_command_without_descriptors_says_so(tmp_path: Path, limit: int) -> None:
    history(tmp_path, 30)
    assert limited(tmp_path, "RLIMIT_NOFILE", 1024, "scan").returncode == 0
    for words in (["search", "word"], ["session", "list"], ["scan"], ["doctor"]):
        done = limited(tmp_path, "RLIMIT_NOFILE", limit, *words)
        assert "bug" not in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        if done.returncode == 9:
            assert "too many files" in done.stderr


@pytest.mark.requirement("FAULT-8")
def test_a_file_that_may_not_grow_is_no_bug_and_nothing_is_half_stored(tmp_path: Path) -> None:
    history(tmp_path)
    done = limited(tmp_path, "RLIMIT_FSIZE", 1_500_000, "scan")
    assert done.returncode == 9, done.stderr
    assert "larger than this process may write" in done.stderr
    assert "bug" not in done.stderr
    again = limited(tmp_path, "RLIMIT_FSIZE", resource.RLIM_INFINITY, "scan")
    assert again.returncode == 0
    assert "3,000 new messages" in again.stdout


@pytest.mark.requirement("FAULT-8")
def test_a_server_whose_file_may_not_grow_refuses_reads_on_and_recovers(tmp_path: Path) -> None:
    with process(tmp_path) as (server, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        kept, refusal = until_refused(site)
        assert refusal.status == 503
        assert refusal.json["code"] == "store_unavailable"
        assert "larger than this process may write" in refusal.json["detail"]
        assert [message["id"] for message in stored(site)] == kept
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        again = append(site, "after")
        assert again.status == 201
        assert [message["id"] for message in stored(site)] == [*kept, again.json["id"]]


@pytest.mark.requirement("FAULT-8")
def test_a_quota_that_is_used_up_is_named_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    need_strace()
    with process(tmp_path) as (server, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = append(site, "k1", "before").json["id"]
        # The system refuses what the server writes into files, as it does when a quota is used up.
        writing = "pwrite64,pwritev,ftruncate,fallocate"
        quota = [
            *("strace", "-f", "-p", str(server.pid), "-e", f"trace={writing}"),
            *("-e", f"inject={writing}:error=EDQUOT", "-o", str(tmp_path / "strace.log")),
        ]
        with subprocess.Popen(quota, stderr=subprocess.PIPE, text=True) as refusing:
            assert refusing.stderr is not None
            assert "attached" in refusing.stderr.readline()
            refusal = append(site, "k2", "refused")
            assert (refusal.status, refusal.json["code"]) == (503, "store_unavailable")
            assert "disk quota of this user" in refusal.json["detail"]
            assert [message["id"] for message in stored(site)] == [kept]
            refusing.terminate()
        again = append(site, "k2", "refused before")
        assert again.status == 201
        assert [message["id"] for message in stored(site)] == [kept, again.json["id"]]


@pytest.mark.requirement("FAULT-8")
def test_a_folder_that_another_user_owns_is_read_only_and_said(tmp_path: Path) -> None:
    if os.getuid() or shutil.which("setpriv") is None:
        pytest.skip("only root can give a file to another user")
    history(tmp_path, 30)
    assert limited(tmp_path, "RLIMIT_NOFILE", 1024, "scan").returncode == 0
    data = tmp_path / "data"
    for file in (data, *data.iterdir()):
        os.chown(file, 65534, 65534)
        file.chmod(0o755 if file.is_dir() else 0o644)
    # Still this user, but bound by permissions as everybody is.
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner", sys.executable, "-m", "ovillo"]
    for words, code in ((["session", "list"], 0), (["session", "create", "x"], 9), (["scan"], 9)):
        done = subprocess.run(
            [*drop, *words],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(data)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "bug" not in done.stderr, done.stderr
        assert done.returncode == code, (words, done.stderr)


Value = TypeVar("Value")


def until(ask: Callable[[], Value], good: Callable[[Value], bool], within_s: float = 60) -> Value:
    """Asked again until the answer is good; a bounded wait for what happens in the background."""
    deadline = time.monotonic() + within_s
    while not good(value := ask()):
        assert time.monotonic() < deadline, value
        time.sleep(0.1)
    return value


@pytest.mark.requirement("FAULT-9")
def test_watching_comes_back_after_a_fault_and_says_meanwhile_that_it_failed(tmp_path: Path) -> None:
    history(tmp_path, 3)
    lock = tmp_path / "data" / "ingest.lock"
    lock.mkdir(parents=True)
    with process(tmp_path, OVILLO_WATCH="true") as (server, site):
        ready = until(lambda: site.ask("GET", "/readyz").json, lambda answer: bool(answer.get("failing")))
        assert ready["failing"] == ["watching the sources"]
        status = site.ask("POST", "/mcp/v1/execute", execute("system_status", {"include_metrics": True}))
        assert "Watching the sources failed" in status.body.decode()
        doctor = limited(tmp_path, "RLIMIT_NOFILE", 1024, "doctor")
        assert "watching the sources" in doctor.stdout
        assert f"process {server.pid}" in doctor.stdout
        lock.rmdir()
        until(lambda: site.ask("GET", "/api/sessions").json, lambda answer: len(answer["sessions"]) == 1)
        # And the folder of the sources may go and come back, too.
        shutil.rmtree(tmp_path / ".claude")
        until(lambda: site.ask("GET", "/readyz").json, lambda answer: not answer.get("failing"))
        history(tmp_path, 5)
        until(lambda: len(stored(site, "s1")), lambda count: count == 5)
        assert "watching the sources" not in limited(tmp_path, "RLIMIT_NOFILE", 1024, "doctor").stdout
        server.terminate()
        assert "Traceback" not in server.communicate(timeout=20)[1]


def execute(tool: str, parameters: dict[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "execute", "params": {"tool": tool, "parameters": parameters}}
