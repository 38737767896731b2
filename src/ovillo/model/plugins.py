"""What other packages add through entry points (``ovillo.readers``, ``ovillo.tools``, ...), and which of it is broken.

Owns finding it fast (nearly nobody adds anything, and asking the library first costs every start 30 ms) and loading it so
that what is broken costs itself only: it is logged once, skipped, and named by ``ovillo doctor``. What fits a group is
judged by the registry of its kind.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ovillo.model.dataclass import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

GROUPS = (
    "ovillo.readers",
    "ovillo.languages",
    "ovillo.embedders",
    "ovillo.summarizers",
    "ovillo.redactors",
    "ovillo.tools",
    "ovillo.actions",
)
#: Our own distribution declares the command ``ovillo`` only.
_GROUP = b"[ovillo."


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point: its group, its name in it, the distribution it comes from, and why it is not used."""

    group: str
    name: str
    package: str
    broken: str = ""


class Unfit(ValueError):
    """What an entry point leads to is none of its group; the message says what it lacks."""


_broken: dict[tuple[str, str], Plugin] = {}


def installed() -> list[Plugin]:
    """All of all groups. What is broken is known of those that were asked for by ``loaded`` or ``load``."""
    found = []
    for group in GROUPS:
        for name, point in _points(group).items():
            found.append(_broken.get((group, name)) or Plugin(group, name, _package(point)))
    return found


def names(group: str) -> list[str]:
    return list(_points(group))


def package_of(group: str, name: str) -> str:
    """The distribution that one comes from, with its version."""
    return _package(_points(group)[name])


def loaded(group: str, make: Callable[[str, object], _T], taken: Collection[str] = ()) -> dict[str, _T]:
    """By name what ``make`` makes of the things of a group; ``make`` raises for one that does not fit. Names that are
    ``taken`` are ovillo's own, and stay so."""
    found = {}
    for name in _points(group):
        try:
            found[name] = load(group, name, make, taken)
        except Unfit:
            continue
    return found


def load(group: str, name: str, make: Callable[[str, object], _T], taken: Collection[str] = ()) -> _T:
    """One of them. Raises KeyError for a name nobody has, Unfit with the reason for one that is broken."""
    point = _points(group)[name]
    known = _broken.get((group, name))
    if known is not None:
        raise Unfit(known.broken)
    try:
        if name in taken:
            raise Unfit(f"ovillo has {name!r} itself")
        return make(name, point.load())
    except (Exception, SystemExit) as error:  # Boundary: another package's code may raise anything.
        reason = str(error) if isinstance(error, Unfit) else f"{type(error).__name__}: {error}"
        plugin = _broken[group, name] = Plugin(group, name, _package(point), reason[:500])
        _log.warning("%s of %s (%s) is left out: %s", name, plugin.package, group, plugin.broken)
        raise Unfit(plugin.broken) from error


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    if not _anything_added():
        return {}
    from importlib.metadata import entry_points  # start-up cost: see above

    found: dict[str, EntryPoint] = {}
    # Where two have one name, the first counts, in the order of their packages and not of a folder.
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))):
        found.setdefault(point.name, point)
    return found


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


@cache
def _anything_added() -> bool:
    """Whether the entry points of any installed distribution name a group of ours."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                distributions = [x.path for x in entries if x.name.endswith((".dist-info", ".egg-info", ".egg"))]
        except NotADirectoryError:
            return True  # a zip file: only the library can look inside
        except OSError:
            continue
        for path in distributions:
            try:
                if _GROUP in (Path(path) / "entry_points.txt").read_bytes():
                    return True
            except OSError:
                continue
    return False
