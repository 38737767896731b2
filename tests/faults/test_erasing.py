"""The bytes that a removal leaves in the database file, in its log and beside it: gone in the end, while others read and write."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionDelta, SessionId
from ovillo.search.analysis import TextAnalyzer
from ovillo.store.engine import open_store
from ovillo.store.protocol import Store
from ovillo.store.sqlite import scrubbing
from tests.builders import message, session

SESSIONS, MESSAGES = 60, 40
_READER = """
import sys, apsw
db = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READWRITE)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM messages").fetchall()
print("reads", flush=True)
sys.stdin.readline()
"""
_BESIDE = """
import sys
from pathlib import Path
from ovillo.store.engine import open_store
from tests.builders import message, session
from ovillo.search.analysis import TextAnalyzer
store = open_store(Path(sys.argv[1]), TextAnalyzer())
name = sys.argv[2]
store.recording.create("default", session(name))
# In the order of indexes they stand between those of sessions with even numbers.
words = [f"zorvath{n * 7919 % 30 * 2 + 1:03d}s{name}{n:05d}" for n in range(6_000)]
said = [(message(f"{name}-{n}", n, " ".join(words[n::600]), of=name), f"k{n}") for n in range(int(sys.argv[3]))]
print(len(store.recording.append("default", name, said, at=1).result()))
store.close()
"""


def named(number: int) -> SessionId:
    return SessionId(f"ses_zorvath{number:03d}")


def fill(store: Store) -> None:
    """Rows of all sessions lie between each other, and in no order in indexes, so that pages are split and joined."""
    rng = random.Random(5)
    made = [
        (n, f"zorvath{n:03d}q{rng.getrandbits(48):012x} drifts " + "mist " * rng.randrange(2, 120))
        for n in range(SESSIONS)
        for _ in range(MESSAGES)
    ]
    rng.shuffle(made)
    counts = dict.fromkeys(range(SESSIONS), 0)
    for begin in range(0, len(made), 200):
        told: dict[int, list[str]] = {}
        for number, text in made[begin : begin + 200]:
            told.setdefault(number, []).append(text)
        store.ingest.apply(NS, [_more(number, texts, counts) for number, texts in told.items()])


def _more(number: int, texts: list[str], counts: dict[int, int]) -> SessionDelta:
    name, first = named(number), counts[number]
    counts[number] += len(texts)
    said = [message(f"{text.split()[0]}-id", first + n, text, of=name) for n, text in enumerate(texts)]
    return SessionDelta(
        session(name, title=f"zorvath{number:03d}title", directory=f"/srv/zorvath{number:03d}"), tuple(said)
    )


def gone(store: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        assert store.forgetting.forget_session(NS, named(number), at=1)


def left(database: Path, numbers: Iterable[int]) -> list[str]:
    """Files with a word of these sessions. In a process of its own: closing the file here would drop this one's locks."""
    look = """
import pathlib, re, sys
wanted = set(sys.argv[2:])
for path in pathlib.Path(sys.argv[1]).iterdir():
    if path.is_file() and wanted & {n.decode() for n in re.findall(rb"zorvath([0-9]{3})", path.read_bytes())}:
        print(path.name)
"""
    words = [f"{number:03d}" for number in numbers]
    command = [sys.executable, "-c", look, str(database.parent), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


_WIPES = """
import sys
from pathlib import Path
from ovillo.search.analysis import TextAnalyzer
from ovillo.store.engine import open_store
from ovillo.store.sqlite import scrubbing
if "slowly" in sys.argv:  # to be killed in the middle
    zero = scrubbing._File.zero
    def one_by_one(self, spans):
        for span in spans:
            zero(self, [span])
            print("zeroed", flush=True)
    scrubbing._File.zero = one_by_one
store = open_store(Path(sys.argv[1]), TextAnalyzer())
print(store.forgetting.wipe())
store.close()
"""


def wiping(database: Path, *how: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _WIPES, str(database), *how], stdout=subprocess.PIPE, text=True)


@contextmanager
def reading(database: Path) -> Iterator[None]:
    """Another process reads the state of this moment until the end of the block."""
    reader = subprocess.Popen(
        [sys.executable, "-c", _READER, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reads\n"
        yield
    finally:
        reader.communicate("\n")


def beside(database: Path, name: str, messages: int) -> None:
    """Appends in another process, which ends once they are acknowledged."""
    command = [sys.executable, "-c", _BESIDE, str(database), name, str(messages)]
    assert int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) == messages


def scribble(database: Path, pragmas: str) -> set[int]:
    """Rows of which some are removed by an engine that zeroes nothing; the numbers of the others."""
    db = apsw.Connection(str(database))
    for each in pragmas.split("; "):
        db.execute(each if each == "VACUUM" else f"PRAGMA {each}")
    db.execute("PRAGMA secure_delete = OFF")
    db.execute("CREATE TABLE scribbled (key INTEGER PRIMARY KEY, said TEXT)")
    with db:
        db.executemany("INSERT INTO scribbled VALUES (?, ?)", [(n, f"scribble{n:06d} " * 9) for n in range(4_000)])
    with db:
        db.execute("DELETE FROM scribbled WHERE key % 3")
    with db:
        db.execute("DELETE FROM scribbled WHERE key < 2000")
    db.execute("INSERT INTO meta VALUES ('wipe_due', 1)")
    db.close()
    return {n for n in range(2_000, 4_000) if n % 3 == 0}


def scribbles(database: Path) -> set[int]:
    return {int(number) for number in re.findall(rb"scribble(\d{6})", database.read_bytes())}


def is_sound(database: Path) -> bool:
    db = apsw.Connection(str(database))
    try:
        return [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"]
    finally:
        db.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "ovillo.db"
    store = open_store(path, TextAnalyzer())
    fill(store)
    store.close()
    return path


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Has something done between the first way through the file and zeroing what was found."""

    def arrange(act: Callable[[], None]) -> None:
        everywhere = scrubbing._Scrubbing._everywhere

        def interrupted(self: scrubbing._Scrubbing) -> Iterator[tuple[int, int]]:
            spans = list(everywhere(self))
            act()
            yield from spans

        monkeypatch.setattr(scrubbing._Scrubbing, "_everywhere", interrupted)

    return arrange


@pytest.mark.requirement("FORGET-11")
def test_copies_that_moving_rows_between_pages_left_are_gone_with_the_rows(database: Path) -> None:
    store = open_store(database, TextAnalyzer())
    some, others = range(0, SESSIONS, 2), range(1, SESSIONS, 3)
    gone(store, some)
    # Joining half-empty pages moved rows of these, which go next.
    gone(store, others[::2])
    assert store.forgetting.wipe() is None
    assert left(database, [*some, *others[::2]]) == []
    kept = sorted({*range(SESSIONS)} - {*some, *others[::2]})
    assert left(database, kept) == ["ovillo.db"]
    assert len(store.sessions.messages(NS, named(kept[0]), limit=100)) == MESSAGES
    assert not store.forgetting.wipe_is_due()
    store.close()
    assert is_sound(database)


@pytest.mark.requirement("FORGET-11")
def test_while_somebody_reads_what_was_there_before_it_is_said_and_done_once_they_end(database: Path) -> None:
    store = open_store(database, TextAnalyzer())
    with reading(database):
        gone(store, range(20))
        assert "reading" in (store.forgetting.wipe() or "")
        assert store.forgetting.wipe_is_due()
    assert store.forgetting.wipe() is None
    assert left(database, range(20)) == []
    store.close()
    assert is_sound(database)


@pytest.mark.requirement("FORGET-11")
def test_an_append_of_another_process_is_acknowledged_in_the_middle_and_brings_no_old_byte_back(
    database: Path, during: Callable[[Callable[[], None]], None]
) -> None:
    store = open_store(database, TextAnalyzer())
    gone(store, range(0, SESSIONS, 2))

    def act() -> None:
        # This process's writer knows the pages as they were.
        store.recording.create(NS, session("ses_mine"))
        store.recording.append(
            NS, SessionId("ses_mine"), [(message("mine", 0, "mine", of="ses_mine"), "k")], at=1
        ).result()
        beside(database, "beside", 600)

    during(act)
    assert store.forgetting.wipe() is None
    assert left(database, range(0, SESSIONS, 2)) == []
    beside(database, "after", 300)
    assert left(database, range(0, SESSIONS, 2)) == []
    assert len(store.sessions.messages(NS, SessionId("beside"), limit=1_000)) == 600
    store.close()
    assert is_sound(database)


@pytest.mark.requirement("FORGET-11")
def test_pages_that_others_write_meanwhile_keep_no_old_byte(
    database: Path, during: Callable[[Callable[[], None]], None]
) -> None:
    kept = scribble(database, "secure_delete = OFF")
    store = open_store(database, TextAnalyzer())
    other = apsw.Connection(str(database))
    other.set_busy_timeout(5_000)

    def act() -> None:
        other.execute("UPDATE scribbled SET said = upper(said)")

    during(act)
    assert store.forgetting.wipe() is None
    # It has pages of then in its memory, and writes what it reads.
    other.execute("UPDATE scribbled SET said = replace(said, 'SCRIBBLE', 'scribble')")
    other.close()
    store.close()
    assert scribbles(database) == kept
    assert is_sound(database)


@pytest.mark.requirement("FORGET-11")
def test_two_processes_that_erase_at_once_both_say_that_it_is_done(database: Path) -> None:
    store = open_store(database, TextAnalyzer())
    gone(store, range(20))
    both = [wiping(database) for _ in range(2)]
    assert [each.communicate()[0] for each in both] == ["None\n", "None\n"]
    assert left(database, range(20)) == []
    store.close()


@pytest.mark.requirement("FORGET-11")
def test_erasing_that_is_killed_in_the_middle_harms_nothing_and_is_done_again(database: Path) -> None:
    store = open_store(database, TextAnalyzer())
    gone(store, range(0, SESSIONS, 2))
    killed = wiping(database, "slowly")
    assert killed.stdout is not None
    assert [killed.stdout.readline() for _ in range(3)] == ["zeroed\n"] * 3
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert store.forgetting.wipe_is_due()
    assert store.forgetting.wipe() is None
    assert left(database, range(0, SESSIONS, 2)) == []
    assert len(store.sessions.messages(NS, named(1), limit=100)) == MESSAGES
    store.close()
    assert is_sound(database)


@pytest.mark.requirement("FORGET-11")
def test_what_is_removed_meanwhile_is_still_due(database: Path, during: Callable[[Callable[[], None]], None]) -> None:
    store = open_store(database, TextAnalyzer())
    gone(store, [0])
    during(lambda: gone(store, [1]))
    assert store.forgetting.wipe() is None
    assert store.forgetting.wipe_is_due()
    store.close()


@pytest.mark.requirement("FORGET-11")
@pytest.mark.parametrize("pragma", ["secure_delete = OFF", "auto_vacuum = INCREMENTAL; VACUUM"])
def test_a_file_that_another_engine_wrote_keeps_nothing_either(database: Path, pragma: str) -> None:
    kept = scribble(database, pragma)
    assert scribbles(database) > kept
    store = open_store(database, TextAnalyzer())
    assert store.forgetting.wipe() is None
    store.close()
    assert scribbles(database) == kept
    assert is_sound(database)
