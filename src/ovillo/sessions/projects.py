"""Which sessions, folders and documents belong to one project.

Owns the grouping: a repository is one project with its work trees, sub-folders and the folders it lay in before, for the
sessions of every client; two folders that share no more than their name are two. Computed from what sessions say and from what
the disk tells of their folders; nothing is stored.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, Session
from ovillo.model.scope import Project, Reach, Scope, folders_around, is_below, plain_path
from ovillo.model.sessions import SessionPlace, UsedPlace

if TYPE_CHECKING:
    from ovillo.sessions.repositories import Repositories, RepositoryFacts
    from ovillo.store.protocol import Store

#: The grouping is made anew after this, though no session says anything new: folders are moved, repositories begun (seconds).
_REGROUP_S = 60.0
_FIRST_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
#: What clients call what is no project.
_NO_PROJECT = frozenset({"", "global"})


@dataclass(slots=True)
class _Group:
    folders: set[str] = field(default_factory=set)
    #: Folders in which people find the project: where the repository lies; else by the number of its sessions.
    mains: set[str] = field(default_factory=set)
    places: set[SessionPlace] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    used: Counter[str] = field(default_factory=Counter)


class ProjectMap:
    """The projects of a namespace at one time."""

    def __init__(self, groups: Iterable[_Group], marks: dict[str, int]) -> None:
        self._groups = list(groups)
        self._of_mark = marks
        folders = {folder: index for index, group in enumerate(self._groups) for folder in group.folders}
        self._of_folder = folders
        names = _names(self._groups)
        self.projects = tuple(
            Project(
                name,
                tuple(sorted(group.folders)),
                tuple(sorted(group.places, key=lambda place: (place.directory, place.project_id))),
            )
            for name, group in zip(names, self._groups, strict=True)
        )
        self._of_place = {
            place: project for project, group in zip(self.projects, self._groups, strict=True) for place in group.places
        }

    def of_place(self, place: SessionPlace) -> Project | None:
        return self._of_place.get(place)

    def of_path(self, path: str) -> Project | None:
        """The project that a file or folder (absolute) lies in."""
        indexes = (self._of_folder.get(folder) for folder in folders_around(path))
        return next((self.projects[index] for index in indexes if index is not None), None)

    def of_mark(self, mark: str) -> Project | None:
        index = self._of_mark.get(mark)
        return None if index is None else self.projects[index]

    def called(self, name: str) -> tuple[Project, ...]:
        """Those that are meant by a name: of one of their folders, with or without what stands before it, or the id that a
        client gives it."""
        wanted = plain_path(name.strip()).strip("/").casefold()
        if not wanted:
            return ()
        return tuple(
            project
            for project, group in zip(self.projects, self._groups, strict=True)
            if wanted in {x.casefold() for x in group.ids}
            or project.name.casefold() == wanted
            or any(f"/{folder.strip('/').casefold()}".endswith(f"/{wanted}") for folder in group.mains)
        )

    def scope(self, home: Project, *, is_named: bool = False, reach: Reach = Reach.PROJECT) -> Scope:
        return Scope(home, reach, is_named, frozenset(self._of_folder.keys() - set(home.folders)))

    def elsewhere(self, home: Project) -> tuple[SessionPlace, ...]:
        """The places of all other projects."""
        own = set(home.places)
        return tuple(place for place in self._of_place if place not in own)


class Projects:
    """Thread-safe."""

    def __init__(self, store: Store, repositories: Repositories) -> None:
        self._store = store
        self._repositories = repositories
        self._kept: dict[Namespace, tuple[object, float, ProjectMap]] = {}
        self._lock = threading.Lock()

    def known(self, namespace: Namespace) -> ProjectMap:
        """All that sessions and indexed folders tell of."""
        used = self._store.sessions.used_places(namespace)
        roots = self._store.code.root_paths(namespace)
        told = [replace(each, sessions=0) for each in used], roots
        with self._lock:
            kept = self._kept.get(namespace)
        if kept is not None and kept[0] == told and time.monotonic() - kept[1] < _REGROUP_S:
            return kept[2]
        made = self._grouped(namespace, used, roots)
        with self._lock:
            self._kept[namespace] = told, time.monotonic(), made
        return made

    def of_place(self, namespace: Namespace, directory: str | None, project_id: str | None) -> Project | None:
        """The project of a session that names this place; ``None`` where it belongs to none."""
        return self.known(namespace).of_place(SessionPlace(directory or "", project_id or ""))

    def of_folder(self, namespace: Namespace, folder: str) -> Project | None:
        """The project that work in a folder (absolute) belongs to, be it new: every repository is one. ``None`` outside."""
        plain = plain_path(folder)
        known = self.known(namespace)
        found = self._facts(namespace, plain)
        if found is None:
            return None if self._repositories.is_nobodys(plain) else known.of_path(plain)
        for project in (known.of_mark(f"common:{found.common}"), *map(known.of_mark, found.marks)):
            if project is not None:
                return replace(project, folders=tuple(sorted({*project.folders, found.top, plain})))
        return known.of_path(found.top) or Project(_last(found.main), (found.top,))

    def of_session(self, namespace: Namespace, session: Session) -> Project:
        """By where a session says that it took place; else by the files that it touched; else, with nothing to choose between,
        the one project there is. A session of which nothing tells is at home with its like."""
        known = self.known(namespace)
        place = SessionPlace(session.directory or "", session.project_id or "")
        found = known.of_place(place)
        if found is None and session.directory:
            found = self.of_folder(namespace, session.directory)
        if found is None:
            touched = self._store.sessions.touched_files(namespace, session.id)
            votes = Counter(each for path, *_ in touched if (each := known.of_path(path)) is not None)
            found = votes.most_common(1)[0][0] if votes else None
        if found is None and len(known.projects) == 1:
            found = known.projects[0]
        return Project("", places=(place,)) if found is None else replace(found, places=tuple({*found.places, place}))

    # --- grouping

    def _facts(self, namespace: Namespace, folder: str) -> RepositoryFacts | None:
        """Of folders of this machine only: what other namespaces write comes from elsewhere."""
        return self._repositories.around(folder) if namespace == DEFAULT_NAMESPACE else None

    def _grouped(self, namespace: Namespace, used: Sequence[UsedPlace], roots: Sequence[str]) -> ProjectMap:
        union = _Union()
        mains: set[str] = set()
        folders = {plain_path(each.place.directory) for each in used if each.place.directory}
        folders |= {plain_path(each.worktree) for each in used if each.worktree} | set(map(plain_path, roots))
        folders = {folder for folder in folders if not self._repositories.is_nobodys(folder)}
        for folder in folders:
            union.add(f"folder:{folder}")
            facts = self._facts(namespace, folder)
            if facts is not None:
                mains.add(facts.main)
                union.join(f"folder:{folder}", f"common:{facts.common}", f"folder:{facts.top}")
                union.join(f"folder:{folder}", f"folder:{facts.main}", *facts.marks)
        in_repository = {
            plain_path(path)
            for each in used
            for path in (each.place.directory if each.has_branch else None, each.worktree)
            if path
        } & folders
        for each in used:
            self._join_records(union, each, folders)
        for folder in folders:
            # Gone, or never on this machine: a folder in another one that is said to be a repository's.
            if self._facts(namespace, folder) is None and (around := _nearest(folder, in_repository)):
                union.join(f"folder:{folder}", f"folder:{around}")
        return _mapped(union, used, folders, mains)

    def _join_records(self, union: _Union, each: UsedPlace, folders: set[str]) -> None:
        """What a client's own records say belongs together."""
        named = _named(each, folders)
        if named:
            union.join(*named)


def _named(each: UsedPlace, folders: set[str]) -> list[str]:
    """The nodes that a place stands for."""
    paths = [plain_path(path) for path in (each.place.directory, each.worktree) if path]
    named = [f"folder:{path}" for path in dict.fromkeys(paths) if path in folders]
    project = each.place.project_id
    if project not in _NO_PROJECT and (named or not each.place.directory):
        named.append(f"commit:{project}" if _FIRST_COMMIT.fullmatch(project) else f"id:{each.source}:{project}")
    return named


def _mapped(union: _Union, used: Sequence[UsedPlace], folders: set[str], mains: set[str]) -> ProjectMap:
    groups: dict[str, _Group] = defaultdict(_Group)
    for node in union.nodes():
        kind, _, value = node.partition(":")
        if kind == "folder":
            group = groups[union.top(node)]
            group.folders.add(value)
            if value in mains:
                group.mains.add(value)
    for each in used:
        named = _named(each, folders)
        if not named:
            continue
        group = groups[union.top(named[0])]
        group.places.add(each.place)
        if each.place.project_id not in _NO_PROJECT:
            group.ids.add(each.place.project_id)
        if each.place.directory:
            group.used[plain_path(each.place.directory)] += each.sessions
    ordered = sorted(groups.items())
    for _, group in ordered:
        # A project that is nowhere on disk is called by its outermost folder that was worked in most.
        if not group.mains and group.folders:
            outer = [x for x in group.folders if not any(x != y and is_below(x, y) for y in group.folders)]
            group.mains = {max(sorted(outer), key=lambda folder: group.used[folder])} if outer else set()
    index = {top: at for at, (top, _) in enumerate(ordered)}
    marks = {node: index[union.top(node)] for node in union.nodes() if union.top(node) in index}
    return ProjectMap((group for _, group in ordered), marks)


def _names(groups: Sequence[_Group]) -> list[str]:
    """The last folder of each; those that are called alike with the one above it."""
    mains = [min(group.mains, key=lambda x: (-group.used[x], len(x), x)) if group.mains else "" for group in groups]
    short = [_last(main) or next(iter(sorted(group.ids)), "") for main, group in zip(mains, groups, strict=True)]
    times = Counter(short)
    return [
        name if times[name] == 1 or not main else "/".join(main.rsplit("/", 2)[-2:])
        for name, main in zip(short, mains, strict=True)
    ]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _nearest(folder: str, around: set[str]) -> str | None:
    head = folder
    while "/" in head:
        head = head.rpartition("/")[0]
        if head in around:
            return head
    return None


class _Union:
    """Sets of what belongs together."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def add(self, node: str) -> None:
        self._above.setdefault(node, node)

    def nodes(self) -> list[str]:
        return sorted(self._above)

    def top(self, node: str) -> str:
        self.add(node)
        while self._above[node] != node:
            self._above[node] = self._above[self._above[node]]
            node = self._above[node]
        return node

    def join(self, first: str, *others: str) -> None:
        for other in others:
            one, two = sorted((self.top(first), self.top(other)))
            self._above[two] = one
        self.add(first)
