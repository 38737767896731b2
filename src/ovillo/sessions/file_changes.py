"""Which files changed in a folder since a moment: by git where it is a repository, else by modification times.

Owns looking; it reads and never writes, and a folder of any size costs a bounded time. By modification time a deleted
file cannot be seen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Folders that tools fill by themselves.
_SKIPPED = frozenset(
    (
        *(
            ".git",
            ".hg",
            ".svn",
            "node_modules",
            "venv",
            ".venv",
            "env",
            "__pycache__",
            ".tox",
            ".nox",
            "target",
            "dist",
        ),
        *(
            "build",
            ".next",
            ".nuxt",
            ".cache",
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache",
            ".gradle",
            ".idea",
            ".vscode",
        ),
        *("coverage", "htmlcov", "bower_components", "vendor", "Pods", "DerivedData", ".terraform", "site-packages"),
    )
)
_MOST_ENTRIES = 50_000
_WALK_S = 5.0
_GIT_S = 10.0
_MOST_FILES = 5_000
#: File systems stamp files with a clock that lags by up to a tick (10 ms at 100 Hz).
_LAG_NS = 20_000_000
#: The tree of nothing, which git knows without having it (SHA-1 repositories).
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """Paths below ``root``, sorted. ``by`` is ``git`` or ``mtime``."""

    files: tuple[str, ...]
    by: str
    warnings: tuple[str, ...] = ()


def look(directory: str, at_ms: int) -> dict[str, Any] | None:
    """What ``changed`` needs later, as plain data; ``None`` when the folder cannot be looked at."""
    root = Path(directory)
    # A session may name its folder in any words; one that is not absolute would mean a folder of the server's own.
    if not root.is_absolute() or not _is_folder(root):
        return None
    top = _git(root, "rev-parse", "--show-toplevel")
    if top:
        status = _status(Path(top.rstrip("\n")))
        if status is not None:
            head = (_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or "").strip()
            stamps = _stamps(Path(top.rstrip("\n")), status)
            return {"by": "git", "root": top.rstrip("\n"), "head": head, "dirty": stamps}
    recent = {path: list(stamp) for path, stamp in _walk(root, at_ms * 1_000_000 - _LAG_NS, [])}
    return {"by": "mtime", "root": str(root), "since_ns": at_ms * 1_000_000, "recent": recent}


def changed(baseline: Mapping[str, Any]) -> Found:
    """Files that are not as they were at ``look``."""
    root = Path(str(baseline["root"]))
    if not _is_folder(root):
        return Found((), str(baseline["by"]), (f"the folder {root} is gone: its files were not counted",))
    return _by_git(root, baseline) if baseline["by"] == "git" else _by_time(root, baseline)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder above it may not be entered
        return False


# --- git


def _by_git(root: Path, baseline: Mapping[str, Any]) -> Found:
    dirty: Mapping[str, Sequence[int] | None] = baseline["dirty"]
    warnings: list[str] = []
    status = _status(root)
    if status is None:
        return Found((), "git", ("git did not answer: changed files were not counted",))
    candidates = set(status) | set(dirty)
    committed = _committed(root, str(baseline["head"]))
    if committed is None:
        warnings.append("the commit of the start is gone: files committed since were not counted")
    candidates |= set(committed or ())
    now = _stamps(root, sorted(candidates))
    same = {path for path, stamp in dirty.items() if _pair(stamp) == _pair(now.get(path))}
    return _cut(sorted(candidates - same), "git", warnings)


def _committed(root: Path, head: str) -> list[str] | None:
    """Files of the commits since ``head``; none when nothing was committed, ``None`` when git cannot tell."""
    current = (_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or "").strip()
    if current == head:
        return []
    if not current:
        return None
    text = _git(
        root,
        "diff",
        "--name-only",
        "-z",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        head or _EMPTY_TREE,
        current,
    )
    return None if text is None else [path for path in text.split("\0") if path]


def _status(root: Path) -> list[str] | None:
    """Paths that differ from the last commit, below the repository's own folder."""
    text = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    return None if text is None else [entry[3:] for entry in text.split("\0") if len(entry) > 3]


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; ``None`` when it is not installed, fails, or takes too long."""
    git = shutil.which("git")
    if git is None:
        return None
    # A repository's own settings must not start programs, and those of a hook that started us must not lead elsewhere.
    quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [git, "-C", str(folder), *quiet, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _stamps(root: Path, paths: Sequence[str]) -> dict[str, list[int] | None]:
    return {path: _stamp(root / path) for path in paths[:_MOST_FILES]}


def _stamp(path: Path) -> list[int] | None:
    """Time and size; ``None`` for what is not there."""
    try:
        stat = path.lstat()
    except OSError:
        return None
    return [stat.st_mtime_ns, stat.st_size]


def _pair(stamp: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if stamp is None else tuple(stamp)


# --- modification times


def _by_time(root: Path, baseline: Mapping[str, Any]) -> Found:
    known: Mapping[str, Sequence[int]] = baseline["recent"]
    warnings: list[str] = []
    since = int(baseline["since_ns"]) - _LAG_NS
    found = [path for path, stamp in _walk(root, since, warnings) if _pair(known.get(path)) != stamp]
    return _cut(sorted(found), "mtime", warnings)


def _walk(root: Path, since_ns: int, warnings: list[str]) -> Iterator[tuple[str, Stamp]]:
    """Files written at ``since_ns`` or later, with their stamps."""
    deadline = time.monotonic() + _WALK_S
    entries = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        entries += len(names) + len(folders)
        if entries > _MOST_ENTRIES or time.monotonic() > deadline:
            warnings.append(f"{root} is too large to look at whole: some changed files may be missing")
            return
        for name in names:
            path = Path(folder, name)
            stamp = _stamp(path)
            if stamp is not None and stamp[0] >= since_ns:
                yield path.relative_to(root).as_posix(), (stamp[0], stamp[1])


def _cut(files: list[str], by: str, warnings: list[str]) -> Found:
    if len(files) > _MOST_FILES:
        warnings.append(f"{len(files)} files changed; the first {_MOST_FILES} are listed")
    return Found(tuple(files[:_MOST_FILES]), by, tuple(warnings))
