"""Looking at a process from outside: which files it made, and which addresses it spoke to.

Files are compared before and after; connections are seen by strace, which ``.ci/run`` installs. Where it is missing, tests
that need it are skipped with that reason, unless ``OVILLO_REQUIRE_STRACE`` is set, as ``.ci/run`` does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

_ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
_MADE = re.compile(r'(?:openat\(AT_FDCWD, |open\(|creat\()"([^"]+)", [^)\n]*(?:O_CREAT|0[0-7]{3})[^)\n]*\) += \d')
_UNFINISHED = re.compile(r"^(\d+) +(.*?) *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")
_CALLS = "%network,open,openat,creat"


@dataclass(frozen=True)
class Rooms:
    """A home, a folder for temporary files and a data folder of one process; nothing else of this machine's user."""

    home: Path
    scratch: Path
    data: Path
    work: Path

    @classmethod
    def made(cls, base: Path) -> Rooms:
        rooms = cls(base / "home", base / "scratch", base / "data", base / "work")
        for folder in (rooms.home, rooms.scratch, rooms.work):
            folder.mkdir(parents=True, exist_ok=True)
        return rooms

    def environment(self, **more: str) -> dict[str, str]:
        """From nothing: no variable of a build machine, under which libraries keep quiet by themselves."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "OVILLO_DATA_DIR": str(self.data),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }


@dataclass
class Watch:
    """One process to be, and what it left and did."""

    rooms: Rooms
    log: Path
    _before: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._before = self._there()

    def command(self, *arguments: str) -> list[str]:
        plain = [sys.executable, "-m", "ovillo", *arguments]
        if not has_strace():
            return plain
        return [
            "strace",
            "-f",
            "-qq",
            "--seccomp-bpf",
            "-e",
            "signal=none",
            "-e",
            f"trace={_CALLS}",
            "-o",
            str(self.log),
            *plain,
        ]

    def new_files(self) -> set[str]:
        """Files that were not there before, outside of the data folder."""
        return self._there() - self._before

    def made_elsewhere(self) -> set[str]:
        """Files that were made anywhere, by any of its processes, but in its own rooms."""
        own = tuple(f"{folder}{os.sep}" for folder in (self.rooms.data, self.rooms.scratch, self.rooms.work))
        found = (Path(os.path.normpath(self.rooms.work / name)) for name in _MADE.findall(self._said()))
        # What Python compiles lies beside its sources and is the interpreter's.
        return {
            str(x) for x in found if not str(x).startswith((*own, "/dev/", "/proc/")) and "__pycache__" not in x.parts
        }

    def connections(self) -> set[str]:
        """Addresses beyond this machine that it spoke to or asked; names are asked at port 53, wherever that is."""
        found = ((port, one or other) for port, one, other in _ADDRESS.findall(self._said()))
        return {f"{host} port {port}" for port, host in found if port == "53" or not _is_loopback(host)}

    def _said(self) -> str:
        """A call a line: one that another thread's broke in two, as strace then writes it, is put together again."""
        begun: dict[str, str] = {}
        lines = []
        for line in self.log.read_text(errors="replace").splitlines() if self.log.exists() else ():
            if broken := _UNFINISHED.match(line):
                begun[broken[1]] = f"{broken[1]} {broken[2]}"
            elif resumed := _RESUMED.match(line):
                lines.append(begun.pop(resumed[1], resumed[1]) + resumed[2])
            else:
                lines.append(line)
        # What was still under way at the end counts too: a connection is asked for before it is answered.
        return "\n".join((*lines, *begun.values()))

    def _there(self) -> set[str]:
        return {str(path) for folder in (self.rooms.home, self.rooms.scratch) for path in folder.rglob("*")}


def _is_loopback(host: str) -> bool:
    return host.startswith("127.") or host in {"::1", "::", "0.0.0.0"} or host.startswith("::ffff:127.")


@cache
def has_strace() -> bool:
    """Whether strace is there and may look at other processes."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(
            ["strace", "-f", "-qq", "--seccomp-bpf", "-o", os.devnull, "true"], check=False, capture_output=True
        ).returncode
        == 0
    )


def need_strace() -> None:
    """Skip what can only be seen with strace, or fail where it was promised to be there."""
    if has_strace():
        return
    reason = "strace is missing or not allowed here: connections were not looked at (apt-get install strace)"
    if os.environ.get("OVILLO_REQUIRE_STRACE"):
        pytest.fail(reason)
    pytest.skip(reason)
