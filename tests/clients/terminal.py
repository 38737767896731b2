"""A terminal for a client that draws on one: enough of it that the client goes on, and nobody who looks.

Owns the pseudo-terminal, its answers to what programs ask of terminals, and the end of all that was started in it.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_ROWS, _COLUMNS = 40, 120
#: Where the cursor is, what kind of terminal this is, its colours.
_ASKED = {
    re.compile(rb"\x1b\[6n"): b"\x1b[1;1R",
    re.compile(rb"\x1b\[0?c"): b"\x1b[?62;c",
    re.compile(rb"\x1b\[>0?c"): b"\x1b[>0;276;0c",
    re.compile(rb"\x1b\[\?u"): b"\x1b[?0u",
    re.compile(rb"\x1b\]1([01]);\?"): b"\x1b]11;rgb:0000/0000/0000\x07",
}
_END_S = 10


@dataclass
class Terminal:
    process: subprocess.Popen[bytes]
    _handle: int
    _drawn: bytearray = field(default_factory=bytearray)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def drawn(self) -> str:
        """Everything since the start, without what moves the cursor."""
        return re.sub(
            r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", " ", self._drawn.decode(errors="replace")
        )

    def type(self, keys: str) -> None:
        os.write(self._handle, keys.encode())

    def wait_for(self, text: str, seconds: float) -> bool:
        """Whether it was drawn within that time."""
        with self._changed:
            return self._changed.wait_for(lambda: text in self.drawn, seconds)

    def read(self) -> None:
        with suppress(OSError):
            while piece := os.read(self._handle, 65_536):
                with self._changed:
                    self._drawn += piece
                    self._changed.notify_all()
                for asked, answer in _ASKED.items():
                    for _ in asked.findall(piece):
                        os.write(self._handle, answer)


@contextmanager
def terminal(command: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """``command`` as it is typed into a shell. What a client leaves running below the home folder ends with it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env=dict(environment),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  a client wants a terminal of its own
    )
    os.close(theirs)
    shown = Terminal(process, ours)
    reader = threading.Thread(target=shown.read, daemon=True)
    reader.start()
    try:
        yield shown
    finally:
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
                break
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(ours)
        reader.join(_END_S)
        _end_programs_of(Path(environment["HOME"]))


def _end_programs_of(home: Path) -> None:
    """Codex copies itself below its home and leaves two of that running."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "exe").readlink().is_relative_to(home):
                os.kill(int(process.name), signal.SIGKILL)
