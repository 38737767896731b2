"""To which project a question belongs, and what counts as at home there.

Owns the shapes that every floor filters by: a project, the places its sessions name, the reach of a question. Which
project that is, ``sessions.projects`` tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from ovillo.model.dataclass import dataclass
from ovillo.model.limits import MAX_PATH_CHARS
from ovillo.model.sessions import SessionFilter, SessionLocation


class Reach(StrEnum):
    #: What belongs to the question's project; elsewhere only where nothing there fits, and said so.
    PROJECT = "project"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Project:
    """A repository with all its work trees, or a folder that is none: what is worked on together."""

    #: For people: the folder's name, with the one above it where two projects are called so; empty where a session says
    #: nothing of where it took place.
    name: str
    #: Absolute and plain: the repository, its work trees, the folders it lay in before.
    folders: tuple[str, ...] = ()
    #: Where its sessions say that they took place.
    locations: tuple[SessionLocation, ...] = ()

    def with_other(self, other: Project) -> Project:
        """Both, under this one's name."""
        return replace(
            self,
            folders=tuple(dict.fromkeys((*self.folders, *other.folders))),
            locations=tuple(dict.fromkeys((*self.locations, *other.locations))),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a question looks. Without a project, or with ``EVERYWHERE``, in all there is."""

    home: Project | None = None
    reach: Reach = Reach.PROJECT
    #: Somebody named the project, by argument or in the question: what is elsewhere is not even offered.
    is_named: bool = False
    #: The folders of all other projects that are known.
    others: frozenset[str] = frozenset()

    @property
    def limit(self) -> Project | None:
        """The project that is looked at and nothing beside it; ``None`` where all is looked at."""
        return self.home if self.reach is Reach.PROJECT else None

    def sessions(self, where: SessionFilter) -> SessionFilter:
        """The same filter, for sessions that are looked at."""
        return where if self.limit is None else replace(where, locations=self.limit.locations)

    def is_home(self, path: str) -> bool:
        """Whether a file or folder (absolute) is looked at. What lies in no project is anybody's."""
        return self.limit is None or self._owner(path, self.limit) is not False

    def holds_code(self, root: str) -> bool:
        """Whether an indexed folder is looked at, at least a part of it: its files are asked one by one with ``is_home``. Where
        nothing tells where the project lies, its code may lie anywhere."""
        if self.limit is None or not self.limit.folders or self.is_home(root):
            return True
        plain = plain_path(root)
        return any(is_below(folder, plain) for folder in self.limit.folders)

    def _owner(self, path: str, home: Project) -> bool | None:
        """True for the project's own, False for another's, ``None`` for nobody's."""
        for folder in folders_around(path):
            if folder in home.folders:
                return True
            if folder in self.others:
                return False
        return None


#: A question that belongs to no project.
EVERYWHERE = Scope(reach=Reach.EVERYWHERE)


def plain_path(path: str) -> str:
    """With slashes, whatever the system, and none at the end."""
    turned = path.replace("\\", "/")
    return turned.rstrip("/") or turned[:1]


def is_below(path: str, folder: str) -> bool:
    """Whether a plain path is a plain folder or lies in it."""
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")


def folders_around(path: str) -> Iterator[str]:
    """The plain path itself and every folder it lies in, the nearest first; none for what is too long for a path."""
    plain = plain_path(path)
    if len(plain) > MAX_PATH_CHARS:
        return
    yield plain
    while "/" in plain and (head := plain.rpartition("/")[0]):
        yield head
        plain = head
