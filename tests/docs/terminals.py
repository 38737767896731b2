"""The terminals a reader of a page has: shells over one home folder, with what the pages' foreign commands are replaced by.

Owns running. A command that goes on (a server, a stream) keeps its terminal; what follows is typed into a new one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

STAND_INS = Path(__file__).parent / "stand_ins"
#: Programs of the machine that pages, and what they start, may run.
PROGRAMS = ("bash", "sh", "env", "basename", "cat", "cp", "curl", "git", "ls", "make", "mkdir", "uname")
_BASH = shutil.which("bash") or "bash"
_PATIENCE = 60.0
#: Commands that go on until somebody ends them: servers, and what the page marks by the words "Ctrl-C ends it".
_SERVES = re.compile(r"^[^#]*?(?:^|\s)(?:\S*ovillo serve|make run)\b")
_GOES_ON = re.compile(rf"{_SERVES.pattern}|Ctrl-C ends it")
_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)")
#: How pages call a server: on this machine, and one that others reach.
_PAGE_ADDRESS = "127.0.0.1:8765"
_PAGE_HOST = "https://memory.example"


class Failed(AssertionError):
    """A step of a page did not do what the page says."""


class GoingOn:
    """A process that goes on, and what it printed so far."""

    def __init__(self, command: str, environment: Mapping[str, str], folder: Path) -> None:
        self.command = command
        self._process = subprocess.Popen(
            [_BASH, "-c", command],
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # As a terminal has it: whoever runs the tests in the background hands on an interrupt that is ignored.
            preexec_fn=_heed_interrupts,  # noqa: PLW1509  one signal is set, nothing that another thread could hold
        )
        self._lines: list[str] = []
        self._has_ended = False
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._lines.append(line.decode())
                self._news.notify_all()
        with self._news:
            self._has_ended = True
            self._news.notify_all()

    @property
    def printed(self) -> str:
        with self._news:
            return "".join(self._lines)

    def wait_until(self, is_there: Callable[[str], Any]) -> str:
        """What it printed, as soon as that is there, or after a minute, or when it ends."""
        with self._news:
            self._news.wait_for(lambda: self._has_ended or is_there("".join(self._lines)), _PATIENCE)
            return "".join(self._lines)

    def end(self) -> int:
        """Ctrl-C."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise
        finally:
            self._reader.join()
            assert self._process.stdout is not None
            self._process.stdout.close()


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Shell:
    """One terminal: variables and the working directory stay from command to command."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [_BASH, "--noprofile", "--norc", "-o", "pipefail"],
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, into: Path) -> tuple[int, str]:
        """Exit code, and what it printed on both streams."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"eval {shlex.quote(command)} </dev/null >{shlex.quote(str(into))} 2>&1; echo $?\n")
        self._process.stdin.flush()
        code = self._process.stdout.readline()
        return int(code), into.read_text(encoding="utf-8")

    def state(self, into: Path) -> tuple[dict[str, str], Path]:
        """What a process started here would get: variables and working directory."""
        _, text = self.run("env -0; printf '\\0'", into)
        variables = dict(line.split("=", 1) for line in text.split("\0") if "=" in line)
        return variables, Path(variables["PWD"])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._process.stdout.close()


class Desk:
    """All terminals of one reader.

    ``printed`` is everything that was printed, command by command; ``meant`` what the placeholders of the page stand for.
    """

    def __init__(self, home: Path, folder: Path, scratch: Path) -> None:
        self._scratch = scratch
        self._first_environment = _environment(home, scratch)
        self._folder = folder
        self._shell = Shell(self._first_environment, folder)
        self._port: str | None = None
        self.going_on: list[GoingOn] = []
        self.printed: list[str] = []
        self.meant: dict[str, str] = {}
        #: What has to end with the last terminal.
        self.until_closed = ExitStack()
        #: Entries of agents that have led to our server already.
        self.reached: list[object] = []

    def type(self, command: str, is_shown: Callable[[str], Any]) -> tuple[int, str]:
        """Run it; one that goes on, until what it is to show is there. Exit code and what was printed, addresses as on the page."""
        real = self.really(command)
        if not self.goes_on(command):
            code, text = self._shell.run(real, self._scratch / "printed")
            return code, self._note(text)
        environment, folder = self._shell.state(self._scratch / "printed")
        process = GoingOn(real, environment, folder)
        self.going_on.append(process)
        if _SERVES.search(command):
            if any(_SERVES.search(other.command) for other in self.going_on[:-1]):
                raise Failed("a server runs at that address already; the page has not ended it (`# Ctrl-C ...`)")
            text = process.wait_until(_ADDRESS.search)
            if not (found := _ADDRESS.search(text)):
                raise Failed(f"does not say where it listens:\n{text}")
            self._port = found[1]
            self._shell.close()
            self._shell = Shell(self._first_environment, folder)
        text = self._as_on_page(process.wait_until(lambda text: is_shown(self._as_on_page(text))))
        self.printed.append(text)
        return 0, text

    @staticmethod
    def goes_on(command: str) -> bool:
        return _GOES_ON.search(command) is not None

    def environment(self) -> tuple[dict[str, str], Path]:
        return self._shell.state(self._scratch / "printed")

    def server(self) -> tuple[str, dict[str, str]]:
        """Address of the server that runs, and what lets its user in."""
        if self._port is None:
            raise Failed("the page has started no server")
        _, token = self._shell.run("ovillo key token", self._scratch / "printed")
        return f"127.0.0.1:{self._port}", {"Authorization": f"Bearer {token.strip()}"}

    def really(self, text: str) -> str:
        """``text`` of a page with the address at which its server really listens."""
        if self._port is None:
            return text
        return text.replace(_PAGE_ADDRESS, f"127.0.0.1:{self._port}").replace(
            _PAGE_HOST, f"http://127.0.0.1:{self._port}"
        )

    def _as_on_page(self, text: str) -> str:
        return text if self._port is None else re.sub(rf"(127\.0\.0\.1|0\.0\.0\.0):{self._port}\b", r"\1:8765", text)

    def _note(self, text: str) -> str:
        self.printed.append(self._as_on_page(text))
        return self.printed[-1]

    def foreign(self) -> list[list[str]]:
        """What foreign agents were told since the last time, each as the words of its command."""
        log = self._scratch / "foreign"
        if not log.exists():
            return []
        calls = [call.split("\0")[:-1] for call in log.read_text(encoding="utf-8").split("\n") if call]
        log.unlink()
        return calls

    def end(self) -> dict[str, tuple[int, str]]:
        """Ctrl-C in every terminal where something goes on. How servers of ours ended, and what they printed."""
        ended = {process.command: (process.end(), process.printed) for process in reversed(self.going_on)}
        ended = {command: how for command, how in ended.items() if "ovillo serve" in command}
        self.going_on.clear()
        return ended

    def close(self) -> None:
        self.end()
        self._shell.close()
        self.until_closed.close()


def _environment(home: Path, scratch: Path) -> dict[str, str]:
    """A reader's own: nothing of the machine's settings, any free port, and on the path what is allowed and nothing else.

    A page must not change the machine it is tested on: a command that is not named here is not found.
    """
    programs = scratch / "bin"
    if not programs.exists():
        shutil.copytree(STAND_INS, programs)
        for name in ("codex", "gemini"):
            shutil.copy(programs / "claude", programs / name)
        for name in PROGRAMS:
            if found := shutil.which(name):
                (programs / name).unlink(missing_ok=True)
                (programs / name).symlink_to(found)
        (programs / "ovillo").symlink_to(Path(sys.executable).with_name("ovillo"))
        for name in ("python", "python3"):
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
        for program in programs.iterdir():
            if not program.is_symlink():
                program.chmod(0o755)
    return {
        "PATH": str(programs),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "120",
        "PYTHONUNBUFFERED": "1",
        "OVILLO_PORT": "0",
        # What a reader types when a passphrase is asked for.
        "OVILLO_BACKUP_PASSPHRASE": "several words",
        "BROWSER": str(programs / "browser"),
        "OTHER_HOME": str(home.with_name("other")),
        "FOREIGN_LOG": str(scratch / "foreign"),
    }
