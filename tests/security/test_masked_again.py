"""Rules for secrets become others: what only the new ones know is masked wherever it is stored, and nowhere to be found."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.memory.operational.records import Labels, conversation
from ovillo.model.masking import MaskingProgress
from ovillo.model.memories import Origin, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role, SessionId
from ovillo.security.principals import LOCAL
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from ovillo.sessions.timesheet import TaskLocation
from ovillo.settings import Settings
from ovillo.store.sqlite.masking.tables import KEPT, TABLES, WHOLE
from tests.interfaces.served import environment, serving
from tests.security.new_rules import house_secret, install
from tests.security.remembered import places_of, write_session

ONE = "aaaaaaaa-1111-4111-8111-111111111111"
GONE = "bbbbbbbb-2222-4222-8222-222222222222"


class Home:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.packages = root / "packages"

    @property
    def settings(self) -> Mapping[str, str]:
        return {"SHARED_MEMORY_DIR": str(self.root / "shared")}

    @property
    def environment(self) -> dict[str, str]:
        return {**environment(self.root), **self.settings, "PYTHONPATH": str(self.packages)}

    def opened(self) -> Services:
        """In this process, which has no rules but ovillo's."""
        told = Settings(
            data_dir=self.data,
            home=self.root,
            environment={"HOME": str(self.root)},
            embedder="none",
            shared_memory_dir=self.root / "shared",
            code_indexing=True,
        )
        return open_services(told)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ovillo", *arguments],
            check=False,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def left(self) -> int:
        left: int = self.json("status", "--metrics")["metrics"]["maskedTexts"]["left"]
        return left


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def plant(home: Home, secret: str) -> None:
    """Everywhere that something is stored."""
    write_session(home.root, ONE, secret, "/srv/one")
    gone = write_session(home.root, GONE, secret, f"/srv/{secret}")
    services = home.opened()
    services.ingest.scan()
    gone.unlink()
    services.ingest.scan()
    code, note = home.root / "code/push.py", home.root / "notes/push.md"
    for path, text in (
        (code, f'def push(token="{secret}"):\n    """With {secret}."""\n    return {secret}_all\n'),
        (note, f"# Push\n\nThe release is pushed with {secret} from the build machine.\n"),
    ):
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    services.code.index(NS, code.parent)
    services.knowledge.add(NS, [str(note)])
    lost = home.root / "lost"
    lost.mkdir()
    (lost / "a.py").write_text(f"def {secret}(): pass\n")
    (lost / "b.md").write_text(f"# A {secret}\n\nAll about {secret} and where it is kept.\n")
    services.code.index(NS, lost)
    services.knowledge.add(NS, [str(lost / "b.md")])
    for path in (lost / "a.py", lost / "b.md"):
        path.unlink()
    lost.rmdir()
    record(services, secret)
    remember(services, secret)
    services.entities.tracker(NS).run_until_done()
    services.close()


def record(services: Services, secret: str) -> None:
    row, _ = services.recorder.create(
        NS, SessionDraft(name=f"for {secret}", id=f"own-{secret}", working_directory="/srv/one")
    )
    other, _ = services.recorder.create(NS, SessionDraft(name="another"))
    own = row.session.id
    for number in range(60):
        draft = MessageDraft(
            Role.USER if number % 2 == 0 else Role.ASSISTANT,
            f"{number}: push with {secret} please",
            model=f"x-{secret}",
        )
        services.recorder.append(NS, own, [(draft, f"key {secret} {number}")]).result()
    services.summaries.summarize(NS, own, force=True)
    for version in range(4):
        content = {"plan": [f"push with {secret}"] * 30, "step": version, f"key {secret}": 1}
        services.snapshots.save(NS, own, content, level=2)
    services.snapshots.save(NS, SessionId(ONE), {"mirrored": f"with {secret}"}, level=0)
    services.links.link_sessions(NS, own, other.session.id, "relates_to", [secret], f"as in {secret}")
    services.contexts.store(
        NS, f"caller {secret}", f"key {secret}", {"said": f"it is {secret}"}, context=f"at {secret}"
    )
    services.contexts.switch(NS, f"caller {secret}", f"at {secret}")
    task = services.timesheet.punch_in(
        NS, f"model {secret}", f"push with {secret}", context=secret, place=TaskLocation(session_id=own)
    )
    services.timesheet.punch_out(NS, task.id, f"pushed with {secret}", detect_files=False)
    services.audit.removed(LOCAL, "rest", "delete", f"gone-{secret}")
    services.audit.removed(LOCAL, "rest", "delete", "gone-plain")


def remember(services: Services, secret: str) -> None:
    memories, of = services.memories, Provenance(Origin.HUMAN, evidence=f"said {secret}", source=f"/srv/{secret}")
    memories.short_term.store(NS, f"short {secret}", {"value": secret}, of)
    memories.working.focus(NS, "me", f"look at {secret}", of)
    memories.working.add(NS, "me", {"desk": secret}, of)
    memories.episodic.record(NS, f"we used {secret}", {"content": secret}, of, tags=[secret], participants=[secret])
    memories.semantic.store(NS, f"token {secret}", f"the token is {secret}", of)
    memories.semantic.update(NS, f"token {secret}", f"the token is {secret} again", of)
    said = conversation("ses", 1_795_000_000_000, f"where is {secret}", f"at {secret}", [secret], [secret], Labels())
    memories.operational.keep(NS, said, of)
    memories.remembering.remember(
        NS, f"1. open the door with {secret}\n2. push {secret}", Provenance(Origin.WEB), kind="procedure"
    )


def left_over(home: Home, secret: str) -> list[str]:
    """Where it still stands: but for the files that are not ovillo's own."""
    shared = [x for x in (home.root / "shared").rglob("*") if x.is_file() and secret in x.read_text("utf-8").lower()]
    return [*places_of(secret, home.data), *terms_of(home.data / "ovillo.db", secret), *map(str, shared)]


def terms_of(database: Path, secret: str) -> list[str]:
    """Indexes that hold it as a term: their tables keep only what a term has more than the one before it."""
    found = []
    connection = apsw.Connection(str(database))
    for index in ("fts", "knowledge_fts", "memory_fts", "code_words", "trigrams"):
        name = f"terms_of_{index}"
        connection.execute(f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab (main, {index}, row)")
        for (term,) in connection.execute(f"SELECT term FROM temp.{name}"):
            if secret in term or (len(term) > 6 and term in secret):
                found.append(f"{index}: {term}")
    connection.close()
    return found


@pytest.mark.requirement("SEC-46")
def test_what_only_new_rules_know_is_left_nowhere_after_a_scan(home: Home) -> None:
    secret = house_secret(1)
    plant(home, secret)
    before = {place.removeprefix("table ") for place in places_of(secret, home.data) if place.startswith("table ")}
    assert before >= {
        *("sessions", "messages", "parts", "paths", "summaries", "idempotency", "vocabulary", "entities", "changes"),
        *("context_entries", "current_contexts", "links", "tasks", "audit", "memories", "code_symbols"),
    }
    install(home.packages)
    assert home.left() > 60
    told = {check["name"]: check for check in home.json("doctor")["checks"]}
    assert (told["secrets"]["status"], "still to be masked again" in told["secrets"]["detail"]) == ("warn", True)
    assert "Masked" in home.run("scan")
    assert left_over(home, secret) == []
    assert home.left() == 0
    told = {check["name"]: check for check in home.json("doctor")["checks"]}
    assert told["secrets"]["status"] == "ok", told["secrets"]
    assert "masked" not in home.json("scan")
    assert "entries" in home.run("audit", "verify")
    assert home.run("doctor")


@pytest.mark.requirement("SEC-46")
def test_what_is_masked_again_is_still_there_and_found_by_what_it_says(home: Home) -> None:
    secret = house_secret(2)
    plant(home, secret)
    install(home.packages)
    home.run("scan")
    shown = {row["id"]: row for row in home.json("session", "list", "--limit", "50")["sessions"]}
    own = next(name for name in shown if name.startswith("own-"))
    assert own.startswith("own-redacted-house_secret-")
    assert {ONE, GONE} < shown.keys()
    assert home.json("session", "search", "push please")["sessions"]
    # Who knows the old id and the old key finds both.
    again = home.json("session", "append", f"own-{secret}", f"0: push with {secret} please", "--key", f"key {secret} 0")
    assert again["replayed"] is True
    for version in range(1, 5):
        state = home.json("session", "restore", own, "--version", str(version))
        assert state["content"]["step"] == version - 1
        assert "[redacted:house_secret:" in state["content"]["plan"][0]
    assert "[redacted:house_secret:" in home.run("memory", "recall", "what is the token")
    assert "push" in home.run("code", "find", "push")
    assert "build machine" in home.run("knowledge", "search", "where is the release pushed from")


@pytest.mark.requirement("SEC-47")
def test_masking_again_goes_on_where_it_was_killed(home: Home) -> None:
    secret = house_secret(3)
    plant(home, secret)
    install(home.packages)
    command = [sys.executable, "-c", _KILLED]
    done = subprocess.run(command, env=home.environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = home.left()
    assert 0 < left < int(done.stdout.split()[-1])
    home.run("scan")
    assert left_over(home, secret) == []


_KILLED = """
import os, signal
from ovillo.app import open_services
from ovillo.settings import load_settings
services = open_services(load_settings(dict(os.environ)))
whole = services.masking.progress().left
print(whole, flush=True)
steps = 0
def told(now):
    global steps
    steps += 1
    if steps == 3:
        os.kill(os.getpid(), signal.SIGKILL)
services.masking.run(progress=told)
"""


@pytest.mark.requirement("SEC-47")
def test_others_append_while_it_is_masked_again(home: Home) -> None:
    secret = house_secret(4)
    plant(home, secret)
    with serving(home.root) as server:
        install(home.packages)
        session = server.session("meanwhile")
        scan = subprocess.Popen(
            [sys.executable, "-m", "ovillo", "scan"], env=home.environment, stdout=subprocess.DEVNULL
        )
        number = 0
        while scan.poll() is None:
            server.append(session, f"{number}: something", f"key {number}")
            number += 1
        assert scan.returncode == 0
        assert number > 1
        told = home.json("session", "list", "--limit", "50")["sessions"]
        assert {row["id"]: row["messageCount"] for row in told}[session] == number
        assert left_over(home, secret) == []


@pytest.mark.requirement("SEC-46")
def test_every_column_with_text_is_masked_again_or_says_why_not(home: Home) -> None:
    """A new table does not slip through: it stands in one of the lists, or is made of what does."""
    services = home.opened()
    services.recorder.create(NS, SessionDraft(name="one"))
    services.close()
    masked = {(table.name, column) for table in TABLES.values() for column in table.columns}
    connection = apsw.Connection(str(home.data / "ovillo.db"))
    unknown = []
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table in WHOLE or table.startswith(
            ("sqlite_", "fts", "trigrams", "knowledge_fts", "memory_fts", "code_words")
        ):
            continue
        for _, column, kind, *_ in connection.execute(f"PRAGMA table_info ({table})"):
            if kind not in {"INTEGER", "REAL", "BLOB"} and (table, column) not in masked:
                unknown.append((table, column))
    connection.close()
    assert sorted(set(unknown) - KEPT.keys()) == []


@pytest.mark.requirement("SEC-46")
def test_with_fewer_rules_nothing_is_lost_and_with_more_again_all_is_masked_again(home: Home) -> None:
    secret = house_secret(5)
    install(home.packages)
    home.run("session", "create", "first", "--id", "first")
    assert home.left() == 0
    services = home.opened()
    services.recorder.append(NS, SessionId("first"), [(MessageDraft(Role.USER, f"with {secret}"), "a key")]).result()
    assert services.masking.progress() == MaskingProgress(services.masking.progress().done, 0)
    services.close()
    assert home.left() > 0
    home.run("scan")
    assert left_over(home, secret) == []


@pytest.mark.requirement("SEC-47")
def test_masking_ends_when_it_is_told_to_and_two_do_not_mask_at_once(home: Home) -> None:
    secret = house_secret(6)
    plant(home, secret)
    services = home.opened()
    services.store.masking.note(type(services.store.masking.state())())
    ended = threading.Event()
    ended.set()
    assert services.masking.run(ended) == 0
    assert not services.masking.is_done()
    with services.store.leases.hold("masking") as ours:
        assert ours
        other = home.opened()
        assert other.masking.run() is None
        other.close()
    services.masking.run()
    assert services.masking.is_done()
    services.close()


@pytest.mark.requirement("SEC-47")
def test_a_disk_that_is_full_ends_it_with_a_reason_and_it_goes_on_when_there_is_room(home: Home) -> None:
    secret = house_secret(7)
    plant(home, secret)
    install(home.packages)
    # No file may grow: as a full disk, but for who says so.
    command = [sys.executable, "-c", _FULL]
    done = subprocess.run(command, env=home.environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout
    assert home.left() > 0
    home.run("scan")
    assert left_over(home, secret) == []


_FULL = """
import os, resource, signal, sys
from ovillo.app import open_services
from ovillo.model.errors import OvilloError
from ovillo.settings import load_settings
services = open_services(load_settings(dict(os.environ)))
services.masking.progress()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = 4096
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
try:
    services.masking.run()
    print("ran")
except OvilloError as error:
    print("refused", error.code)
finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
