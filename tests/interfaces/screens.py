"""A person in front of a full screen: a pseudo-terminal whose screen is read, and keys that are pressed.

Owns waiting for what is seen: nothing sleeps, and what is not seen in time fails with the screen as it was.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyte

from tests.interfaces.terminals import Machine
from tests.measured import ovillo_program

_PATIENCE_S, _LAST_WORDS_S = 60.0, 5.0
ENTER, ESCAPE, TAB, DOWN, UP = "\r", "\x1b", "\t", "\x1b[B", "\x1b[A"
CTRL_C, CTRL_R, CTRL_U = "\x03", "\x12", "\x15"


@dataclass
class Screen:
    process: subprocess.Popen[bytes]
    terminal: int
    lines: int
    columns: int
    raw: bytearray = field(default_factory=bytearray)
    has_ended: bool = False

    def __post_init__(self) -> None:
        self._screen = pyte.Screen(self.columns, self.lines)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    def marks(self, word: str) -> bool:
        """Whether a word stands on the screen with anything but its letters to set it off."""
        for y, row in enumerate(self._screen.display):
            x = row.find(word)
            while x >= 0:
                sign = self._screen.buffer[y][x]
                if sign.bold and (sign.underscore or sign.reverse or sign.fg != "default"):
                    return True
                x = row.find(word, x + 1)
        return False

    def has_colours(self) -> bool:
        signs = (self._screen.buffer[y][x] for y in range(self.lines) for x in range(self.columns))
        return any(sign.fg != "default" or sign.bg != "default" for sign in signs)

    def press(self, *keys: str) -> Screen:
        for key in keys:
            os.write(self.terminal, key.encode())
        return self

    def sees(self, *words: str, without: Sequence[str] = ()) -> Screen:
        """Waits until all of these stand on the screen, and none of those."""
        return self.until(
            lambda: all(word in self.text for word in words) and not any(word in self.text for word in without),
            f"{words} without {tuple(without)}",
        )

    def until(self, holds: Callable[[], bool], what: str) -> Screen:
        give_up = time.monotonic() + _PATIENCE_S
        while not holds():
            if self.has_ended or time.monotonic() > give_up:
                raise AssertionError(f"never saw {what}:\n{self.text}")
            self._read(0.5)
        return self

    def resize(self, lines: int, columns: int) -> Screen:
        self.lines, self.columns = lines, columns
        self._screen.resize(lines, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)
        return self

    def ends(self) -> int:
        """The exit code, once it has ended by itself."""
        give_up = time.monotonic() + _PATIENCE_S
        while not self.has_ended:
            assert time.monotonic() < give_up, f"did not end:\n{self.text}"
            self._read(0.5)
        return self.process.wait(_PATIENCE_S)

    def close(self) -> None:
        """The window is closed, with whatever runs in it."""
        if self.terminal >= 0:
            os.close(self.terminal)
        self.terminal = -1

    def _read(self, seconds: float) -> None:
        if not select.select([self.terminal], [], [], seconds)[0]:
            return
        try:
            came = os.read(self.terminal, 65_536)
        except OSError:  # everybody at the other end has closed it
            came = b""
        self.has_ended = not came
        self.raw += came
        self._stream.feed(came)


@contextmanager
def opened(
    machine: Machine,
    *command: str,
    lines: int = 24,
    columns: int = 80,
    folder: Path | None = None,
    stdout: int | None = None,
    ignores_hangup: bool = False,
    program: Sequence[str] = (),
    **changes: str | None,
) -> Iterator[Screen]:
    """``ignores_hangup``: as whoever is started by ``nohup``. ``stdout``: a pipe in place of the terminal, as a shell has it that
    wants what is printed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def begin() -> None:
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignores_hangup else signal.SIG_DFL)

    process = subprocess.Popen(
        [*(program or ovillo_program()), *command],
        stdin=theirs,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        # The emulator knows all that this terminal is sent.
        env=machine.environment(**{"TERM": "linux", "SSH_CONNECTION": "far", **changes}),
        cwd=folder or machine.home,
        start_new_session=True,
        preexec_fn=begin,  # noqa: PLW1509  the terminal becomes its own
    )
    os.close(theirs)
    screen = Screen(process, ours, lines, columns)
    try:
        yield screen
    finally:
        if process.poll() is None:
            if not program:
                # It is asked first, so that what it ran is counted.
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LAST_WORDS_S)
            process.kill()
        process.wait(_PATIENCE_S)
        screen.close()
