"""Where the parts of a repository are, by its files alone: no git is started, and nothing is loaded that could start one.

Owns finding it around a folder. What its files say is ``repositories``'s, and what git says of it ``git``'s.
"""

from __future__ import annotations

import stat
from pathlib import Path

from ovillo.model.dataclass import dataclass
from ovillo.model.regular_files import read_regular

#: No file that says where something is, or how it is kept, is longer.
MAX_CONFIG_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Repository:
    """Where the parts of one work tree are."""

    top: Path
    #: Its own part (HEAD, index), and what it shares with other work trees (objects, refs, configuration).
    own: Path
    common: Path


def repository_around(folder: Path) -> Repository | None:
    """The repository that a folder lies in, by files alone: no git is started."""
    for top in (folder, *folder.parents):
        entry = top / ".git"
        if entry.is_dir():
            own = entry
        elif is_regular(entry):
            words = text_of(entry, MAX_CONFIG_BYTES)
            if not words.startswith("gitdir:"):
                return None
            own = top / words.removeprefix("gitdir:").strip()
        else:
            continue
        shared = text_of(own / "commondir", MAX_CONFIG_BYTES).strip()
        common = own / shared if shared else own
        if is_regular(own / "HEAD") and (common / "objects").is_dir():
            return Repository(top, own.resolve(), common.resolve())
        if not entry.is_dir():
            return None
    return None


def is_regular(path: Path, most_bytes: int | None = None) -> bool:
    try:
        known = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(known.st_mode) and (most_bytes is None or known.st_size <= most_bytes)


def text_of(path: Path, limit: int) -> str:
    """A regular file's text, empty for everything else."""
    return (read_regular(path, limit) or b"").decode("utf-8", "replace")
