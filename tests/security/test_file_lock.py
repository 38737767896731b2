"""Locks between processes: one holder at a time, given up with its process, never through somebody's link."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ovillo.security.file_lock import FileLock, Taken

HOLD = """
import sys
from pathlib import Path
from ovillo.security.file_lock import FileLock
FileLock(Path(sys.argv[1]), mode=0o600).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def lock(path: Path, timeout_s: float = 0) -> FileLock:
    return FileLock(path, mode=0o600, timeout_s=timeout_s)


def test_a_lock_has_one_holder_in_a_process_and_is_free_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with lock(path), pytest.raises(Taken):
        lock(path).acquire()
    with lock(path):
        assert path.stat().st_mode & 0o077 == 0


def test_a_lock_is_given_up_when_its_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Taken):
            lock(path).acquire()
        other.kill()
    with lock(path):
        pass


def test_who_waits_gets_it_and_never_two_at_once(tmp_path: Path) -> None:
    inside: list[int] = []

    def work(number: int) -> int:
        with lock(tmp_path / "a.lock", timeout_s=60):
            inside.append(number)
            assert len(inside) == 1
            inside.remove(number)
        return number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(40))) == list(range(40))


def test_a_lock_whose_file_was_removed_is_not_the_one_that_others_take(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with lock(path):
        path.unlink()
        with lock(path):
            assert path.exists()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed here")
def test_no_lock_is_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / "a.lock").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="symbolic"):
        lock(tmp_path / "a.lock").acquire()
    assert (tmp_path / "theirs").read_text() == "kept"
