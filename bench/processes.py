"""Running a command and measuring it: wall time, processor time, and the peak memory of all its processes.

Memory is the resident size summed over every process that carries our mark in its environment, sampled
fifty times a second; pages that processes share count in each. Where there is no /proc it is ``None``.
"""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Run:
    code: int
    out: str
    err: str
    wall_s: float
    #: User and system time of the process and the children it waited for.
    cpu_s: float
    peak_mb: float | None


class Memory:
    """Peak of the summed resident size of all processes whose environment holds ``mark``."""

    def __init__(self, mark: str) -> None:
        self._mark = f"BENCH_MARK={mark}".encode()
        self._ours: dict[str, bool] = {}
        self._looked: dict[str, int] = {}
        self._done = threading.Event()
        self.peak = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        if _PROC.exists():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def peak_mb(self) -> float | None:
        return self.peak / 1e6 if self.peak else None

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.peak = max(
                self.peak, sum(map(self._size, filter(self._is_ours, (path.name for path in _PROC.iterdir()))))
            )

    def _is_ours(self, pid: str) -> bool:
        if not pid.isdigit():
            return False
        # A new process shows its parent's environment until it has started its program: look a few times.
        if not self._ours.get(pid) and self._looked.get(pid, 0) < 8:
            self._looked[pid] = self._looked.get(pid, 0) + 1
            try:
                self._ours[pid] = self._mark in (_PROC / pid / "environ").read_bytes()
            except OSError:
                return False
        return self._ours.get(pid, False)

    def _size(self, pid: str) -> int:
        try:
            return int((_PROC / pid / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0


def run(argv: Sequence[str], environment: Mapping[str, str], *, timeout: float = 900, cwd: Path | None = None) -> Run:
    """Runs to the end; a time-out gives code 124."""
    mark = uuid.uuid4().hex
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with Memory(mark) as memory:
        try:
            done = subprocess.run(
                argv,
                env={**environment, "BENCH_MARK": mark},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                cwd=cwd,
                check=False,
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = 124, "", f"not done after {timeout:.0f} s"
        wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(code, out, err, wall, cpu, memory.peak_mb())


def folder_bytes(folder: Path, *, without: str = ".claude") -> int:
    """Bytes of all files below ``folder``, except below its direct child ``without``."""
    total = 0
    for root, folders, files in os.walk(folder):
        if Path(root) == folder:
            folders[:] = [name for name in folders if name != without]
        for name in files:
            try:
                total += (Path(root) / name).lstat().st_size
            except OSError:
                continue
    return total
