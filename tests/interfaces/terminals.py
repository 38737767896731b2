"""The real command in a real terminal (a pseudo-terminal of a given size), and in pipes of any encoding."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

_ENDS_AFTER_S = 60
_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


@dataclass(frozen=True)
class Seen:
    code: int
    #: Everything the terminal was sent, with all sequences.
    raw: str

    @property
    def text(self) -> str:
        return _CODES.sub("", self.raw).replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


@dataclass(frozen=True)
class Machine:
    """A home folder and a data folder."""

    home: Path
    data_dir: Path

    def environment(self, **changes: str | None) -> dict[str, str]:
        """Of a person's shell, not of the one the tests run in; ``None`` takes a variable away."""
        usual = {
            "HOME": str(self.home),
            "OVILLO_DATA_DIR": str(self.data_dir),
            "OVILLO_EMBEDDER": "none",
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        merged: dict[str, str | None] = {**usual, **changes}
        return {name: value for name, value in merged.items() if value is not None}

    def type(
        self, *arguments: str, columns: int = 80, lines: int = 24, keys: bytes = b"", **changes: str | None
    ) -> Seen:
        """Run ``ovillo`` with these arguments; ``keys`` are pressed at once, for whoever reads them."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        running = subprocess.Popen(
            [sys.executable, "-m", "ovillo", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self.environment(**changes),
            start_new_session=True,
            # Pagers read keys from the controlling terminal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(theirs)
        if keys:
            os.write(ours, keys)
        raw = _read_all(ours, running)
        return Seen(running.wait(), raw.decode("utf-8", "replace"))

    def pipe(self, *arguments: str, given: bytes = b"", **changes: str | None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "ovillo", *arguments],
            input=given,
            env=self.environment(**changes),
            capture_output=True,
            check=False,
            timeout=_ENDS_AFTER_S,
        )


def _read_all(terminal: int, running: subprocess.Popen[bytes]) -> bytes:
    pieces: list[bytes] = []
    deadline = time.monotonic() + _ENDS_AFTER_S
    try:
        while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            # When everybody at the other end has closed it, reading a terminal fails.
            pieces.append(os.read(terminal, 65_536))
    except OSError:
        return b"".join(pieces)
    finally:
        os.close(terminal)
    running.kill()
    raise AssertionError(f"The command did not end: {b''.join(pieces)[-2_000:]!r}")
