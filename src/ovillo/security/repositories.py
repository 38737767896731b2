"""What the disk tells of the repository that a folder lies in, by its files alone: no git is started.

Owns reading and remembering it, and which folders are nobody's project. What it means for sessions is ``sessions.projects``'s.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ovillo.model.dataclass import dataclass
from ovillo.model.limits import MAX_PATH_CHARS
from ovillo.model.regular_files import read_regular
from ovillo.model.scope import is_below, plain_path
from ovillo.security.repository_layout import repository_around

#: A folder is looked at again after this (seconds): it may have become a repository.
_LOOK_AGAIN_S = 60.0
_MAX_CONFIG_BYTES = 64 * 1024
_MAX_KNOWN = 20_000
_ORIGIN = re.compile(r'^\s*\[remote "origin"\]\s*$((?:\n(?!\s*\[).*)*)', re.MULTILINE)
_URL = re.compile(r"^\s*url\s*=\s*(\S+)\s*$", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BEGUN = re.compile(r"0+ ([0-9a-f]{40}(?:[0-9a-f]{24})?) [^\n]*\tcommit \(initial\)")
#: Written the other way round (``git@host:owner/name``), with a user, and with ``.git`` behind it, it is the same address.
_SCHEME = re.compile(r"^(?:[a-z+]+://)?(?:[^@/\s]+@)?", re.IGNORECASE)
_ON_BRANCH = "ref: refs/heads/"
_DRIVE = re.compile(r"[A-Za-z]:/?")


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """``common`` is the folder that all its work trees share; ``marks`` are what it is known again by where it was moved
    to: its address, its first commit."""

    top: str
    common: str
    marks: tuple[str, ...]

    @property
    def main(self) -> str:
        """The folder that people call the repository."""
        head, _, tail = self.common.rpartition("/")
        if tail.startswith("."):  # .git, or a bare one beside its work trees
            return head or self.top
        return self.top if "/.git/" in self.common else self.common


class Repositories:
    """Thread-safe. What it found stays known for a while, also that there is none."""

    def __init__(self, home: Path, now: Callable[[], float] = time.monotonic) -> None:
        self._home = plain_path(str(home))
        self._now = now
        self._known: dict[str, tuple[float, RepositoryFacts | None]] = {}
        self._lock = threading.Lock()

    def around(self, folder: str) -> RepositoryFacts | None:
        """The repository that an absolute plain path lies in, or lay in while it existed; ``None`` where there is none."""
        with self._lock:
            known = self._known.get(folder)
        if known is not None and self._now() - known[0] < _LOOK_AGAIN_S:
            return known[1]
        found = self._read(folder)
        with self._lock:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[folder] = self._now(), found
        return found

    def is_nobodys(self, folder: str) -> bool:
        """Folders where people start agents without working on one thing: the home folder and above it, temporary ones."""
        if not folder or _DRIVE.fullmatch(folder) or is_below(self._home, folder):
            return True
        import tempfile  # start-up cost: random numbers, for whoever asks about no folder

        head, _, _ = folder.rpartition("/")
        return head in ("", "/home", "/Users", "/mnt") or folder == plain_path(tempfile.gettempdir())

    def is_there(self, folder: str) -> bool:
        """Whether the folder is on this machine."""
        try:
            return Path(folder).is_absolute() and Path(folder).is_dir()
        except OSError:
            return False

    def _read(self, folder: str) -> RepositoryFacts | None:
        if len(folder) > MAX_PATH_CHARS or not Path(folder).is_absolute():  # no path, or of another system
            return None
        try:
            found = repository_around(Path(folder))
            if found is None:
                return None
            top, common = plain_path(str(found.top.resolve())), plain_path(str(found.common.resolve()))
        except (OSError, RuntimeError, ValueError):
            return None
        # A home folder that is kept in git is not what everything below it belongs to.
        return None if self.is_nobodys(top) else RepositoryFacts(top, common, tuple(_marks(found.common)))


class RecordsOnly:
    """For histories of other machines: nothing is looked for on this one's disk."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    def around(self, folder: str) -> RepositoryFacts | None:
        return None

    def is_nobodys(self, folder: str) -> bool:
        return self._repositories.is_nobodys(folder)

    def is_there(self, folder: str) -> bool:
        return False


def branch_at(folder: str) -> str | None:
    """The branch that the work tree around an absolute folder is on; ``None`` outside, and on none."""
    try:
        found = repository_around(Path(folder))
    except (OSError, RuntimeError, ValueError):
        return None
    head = _beginning(found.own / "HEAD").strip() if found is not None else ""
    return head.removeprefix(_ON_BRANCH) if head.startswith(_ON_BRANCH) else None


def _marks(common: Path) -> list[str]:
    config, first = _beginning(common / "config"), _beginning(common / "opencode").strip()
    origin = _ORIGIN.search(config)
    url = _URL.search(origin[1]) if origin else None
    marks = [address_mark(url[1])] if url else []
    # The log of HEAD names the first commit of a repository that was begun here.
    begun = _BEGUN.match(_beginning(common / "logs" / "HEAD"))
    marks += [f"commit:{begun[1]}"] if begun else []
    # OpenCode writes the first commit there, by which it calls the project.
    return [*marks, f"commit:{first}"] if _COMMIT.fullmatch(first) else marks


def address_mark(url: str) -> str:
    """The key of a repository, the same however its address is written."""
    return f"remote:{_address(url)}"


def _address(url: str) -> str:
    bare = _SCHEME.sub("", url.strip(), count=1).replace(":", "/").rstrip("/")
    return bare.removesuffix(".git").lower()


def _beginning(path: Path) -> str:
    return (read_regular(path, _MAX_CONFIG_BYTES) or b"").decode("utf-8", "replace")
