"""The database under a running ovillo is deleted, replaced, copied over, upgraded, or loses its log: nothing is
acknowledged that the file at that path does not hold, and it is said."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from ovillo.app import open_services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role, SessionId
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from ovillo.settings import Settings
from tests.faults.test_store_faults import append, stored
from tests.interfaces.http.serving import process


def companions(database: Path) -> list[Path]:
    return [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm"))]


def another(folder: Path) -> Path:
    """A database of another installation, closed."""
    with process(folder / "other") as (server, site):
        site.ask("POST", "/api/sessions", {"id": "mine", "name": "theirs"})
        for number in range(20):
            append(site, f"o{number}", f"theirs {number}")
        server.send_signal(signal.SIGTERM)
        server.wait(15)
    return folder / "other" / "data" / "ovillo.db"


def deleted(database: Path, other: Path) -> None:
    for path in companions(database):
        path.unlink(missing_ok=True)


def only_the_file_deleted(database: Path, other: Path) -> None:
    database.unlink()


def folder_removed(database: Path, other: Path) -> None:
    shutil.rmtree(database.parent)


def moved_over(database: Path, other: Path) -> None:
    other.replace(database)


def copied_over(database: Path, other: Path) -> None:
    """As ``cp`` does: the same file, with other content."""
    database.write_bytes(other.read_bytes())


def own_copy_copied_over(database: Path, other: Path) -> None:
    """An earlier state of the same database, put back in place."""
    database.write_bytes((database.parent.parent / "earlier.db").read_bytes())


def schema_raised(database: Path, other: Path) -> None:
    connection = apsw.Connection(str(database))
    connection.pragma("user_version", int(connection.pragma("user_version")) + 1)
    connection.close()


def log_removed(database: Path, other: Path) -> None:
    for path in companions(database)[1:]:
        path.unlink()


CHANGES: list[Callable[[Path, Path], None]] = [
    deleted,
    only_the_file_deleted,
    folder_removed,
    moved_over,
    copied_over,
    own_copy_copied_over,
    schema_raised,
    log_removed,
]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return another(tmp_path_factory.mktemp("installation"))


def fold(database: Path) -> None:
    """From another process, as whoever keeps a copy does: closing the file in this one would drop nobody's locks."""
    connection = apsw.Connection(str(database))
    connection.pragma("user_version")  # without having read, it does not know that there is a log
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
    connection.close()


@pytest.mark.requirement("FAULT-6")
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_acknowledged_once_another_file_or_none_stands_at_the_path(
    tmp_path: Path, other: Path, change: Callable[[Path, Path], None]
) -> None:
    database = tmp_path / "data" / "ovillo.db"
    theirs = shutil.copy(other, tmp_path / "theirs.db")
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = [append(site, "k0", "before").json["id"]]
        fold(database)
        shutil.copy(database, tmp_path / "earlier.db")
        kept += [append(site, f"k{n}", os.urandom(15_000).hex()).json["id"] for n in range(1, 9)]
        fold(database)
        kept.append(append(site, "k9", "before").json["id"])
        assert site.ask("GET", "/readyz").status == 200
        change(database, Path(theirs))
        refused = [append(site, f"after{number}", "after") for number in range(3)]
        assert [answer.status for answer in refused] == [503, 503, 503], [answer.body for answer in refused]
        assert {answer.json["code"] for answer in refused} == {"store_changed"}
        assert all("nothing" in (answer.json["detail"] + answer.json["hint"]).lower() for answer in refused)
        assert all("start" in answer.json["hint"] for answer in refused)
        ready = site.ask("GET", "/readyz")
        assert ready.status == 503
        assert "restart" in " ".join(ready.json["reasons"])
        assert str(tmp_path) not in ready.body.decode()
    if change is schema_raised:
        connection = apsw.Connection(str(database))
        connection.pragma("user_version", int(connection.pragma("user_version")) - 1)
        connection.close()
    if change in (moved_over, copied_over):
        # What was put here lies beside the log of what was there: nobody mixes the two.
        before = database.read_bytes()
        refused_start = subprocess.run(
            [sys.executable, "-m", "ovillo", "session", "list", "--data-dir", str(database.parent)],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused_start.returncode == 9
        assert "another database" in refused_start.stderr
        assert "-wal" in refused_start.stderr
        assert database.read_bytes() == before
        for path in companions(database)[1:]:
            path.unlink()
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        assert append(site, "again", "again").status == 201
        if change in (schema_raised, log_removed):
            assert [message["id"] for message in stored(site)][:10] == kept


@pytest.mark.requirement("FAULT-6")
def test_a_server_goes_on_when_the_file_it_had_open_is_moved_back(tmp_path: Path) -> None:
    database = tmp_path / "data" / "ovillo.db"
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = append(site, "k1", "before").json["id"]
        database.rename(tmp_path / "aside.db")
        assert append(site, "k2", "lost").json["code"] == "store_changed"
        (tmp_path / "aside.db").rename(database)
        again = append(site, "k3", "after")
        assert again.status == 201
        assert site.ask("GET", "/readyz").status == 200
        assert [message["id"] for message in stored(site)] == [kept, again.json["id"]]


@pytest.mark.requirement("FAULT-6")
def test_the_stdio_server_says_so_too_and_answers_again_after_a_restart(tmp_path: Path) -> None:
    with stdio(tmp_path) as client:
        made = call(client, 2, "session_create", {"name": "mine"})
        session = made["result"]["structuredContent"]["session_id"]
        arguments = {"session_id": session, "role": "user", "content": "before", "idempotency_key": "k1"}
        assert not call(client, 3, "session_append", arguments)["result"].get("isError")
        deleted(tmp_path / "data" / "ovillo.db", tmp_path)
        for number in (4, 5):
            answer = call(client, number, "session_append", {**arguments, "idempotency_key": f"k{number}"})["result"]
            assert answer["isError"]
            assert "deleted" in answer["content"][0]["text"]
            assert "bug" not in answer["content"][0]["text"]
        status = call(client, 6, "system_status", {})["result"]["structuredContent"]
        assert status["status"] == "error"
        assert "deleted" in json.dumps(status)


@pytest.mark.requirement("FAULT-6")
def test_a_scan_whose_database_is_deleted_under_it_ends_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-big"
    folder.mkdir(parents=True)
    for number in range(60):
        lines = [
            {
                "type": "user",
                "uuid": f"{number}-{line}",
                "sessionId": f"s{number}",
                "timestamp": "2026-01-02T03:04:05.000Z",
                "cwd": "/x",
                "message": {"role": "user", "content": f"prompt {number} {line} " + f"word{line} " * 60},
            }
            for line in range(600)
        ]
        (folder / f"s{number}.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "data")}
    scan = subprocess.Popen(
        [sys.executable, "-m", "ovillo", "scan"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    database = tmp_path / "data" / "ovillo.db"
    while scan.poll() is None:
        if sum(path.stat().st_size for path in companions(database) if path.exists()) > 3_000_000:
            deleted(database, tmp_path)
            break
    _, said = scan.communicate(timeout=60)
    assert scan.returncode == 9, said
    assert "deleted" in said
    assert "Traceback" not in said
    assert not database.exists()


class stdio:  # noqa: N801  a context manager
    def __init__(self, home: Path, **variables: str) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "OVILLO_DATA_DIR": str(home / "data"),
            "OVILLO_WATCH": "false",
            "OVILLO_EMBEDDER": "none",
            **variables,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ovillo", "mcp", "--toolsets", "all"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> subprocess.Popen[str]:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        ask(self.process, {"id": 1, "method": "initialize", "params": hello})
        send(self.process, {"method": "notifications/initialized"})
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def send(client: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert client.stdin is not None
    client.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    client.stdin.flush()


def ask(client: subprocess.Popen[str], message: dict[str, Any]) -> dict[str, Any]:
    send(client, message)
    assert client.stdout is not None
    for line in client.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == message["id"]:
            return answer
    raise AssertionError("no answer")


def call(client: subprocess.Popen[str], number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return ask(client, {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


@pytest.mark.requirement("FAULT-6")
def test_a_store_goes_on_after_it_was_written_anew_without_what_was_forgotten(tmp_path: Path) -> None:
    """The file becomes smaller when the log is folded into it, and somebody writes between the two."""
    services = open_services(
        Settings(data_dir=tmp_path / "data", home=tmp_path, environment={"HOME": str(tmp_path)}, embedder="none")
    )
    services.recorder.create(NS, SessionDraft(id="mine"))
    for number in range(60):
        words = " ".join(f"word{number * 1_000 + each}" for each in range(200))
        services.recorder.append(NS, SessionId("mine"), [(MessageDraft(Role.USER, words), f"k{number}")]).result()
    services.store.maintenance.fold_log()  # type: ignore[attr-defined]  # a checkpoint, whenever it comes
    services.recorder.create(NS, SessionDraft(id="other"))
    services.store.forgetting.forget_session(NS, SessionId("mine"), at=1)
    assert services.store.forgetting.wipe() is None
    row, _ = services.recorder.create(NS, SessionDraft(id="after"))
    assert services.store.sessions.get(NS, row.session.id) is not None
    services.close()
