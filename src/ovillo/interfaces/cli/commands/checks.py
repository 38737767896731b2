"""What ``ovillo doctor`` looks at. Every check is a function that gives its finding and raises nothing.

Owns the checks of ovillo itself; ``client_checks`` looks at the clients.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from ovillo import __version__
from ovillo.interfaces.cli.state import State
from ovillo.model import plugins
from ovillo.model.dataclass import dataclass
from ovillo.model.errors import IntegrityError, InvalidInput, OvilloError
from ovillo.model.extras import EXTRAS
from ovillo.model.wording import counted
from ovillo.security.exposure import exposures
from ovillo.security.principals import LOCAL
from ovillo.sessions.database_file import survey
from ovillo.sessions.disk import disk_space
from ovillo.sessions.failing_work import FailingWork
from ovillo.settings import Settings

_LOW_WATCHES = 8_192
_REPAIR = (
    "End all ovillo servers, then run `ovillo doctor --repair`: it keeps the damaged file, saves what can be read and makes the "
    "rest again."
)


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    level: Level
    detail: str
    #: What to do; empty when all is well.
    hint: str = ""
    #: The same for programs, where there is more to say.
    facts: Mapping[str, Any] | None = None


def all_checks(state: State) -> Iterator[Check]:
    """Findings one after another, so that they show while later checks still run."""
    yield _python()
    try:
        settings = state.settings()
    except OvilloError as error:
        yield Check("settings", Level.FAIL, error.message, error.hint or "")
        return
    yield _settings(settings)
    yield _sqlite()
    yield _data_folder(settings)
    yield _disk(settings)
    yield from _guarded("database", lambda: _database(state))
    yield from _guarded("histories", lambda: _places(state))
    yield from _guarded("secrets", lambda: _secrets(state, settings))
    yield from _guarded("embedder", lambda: _embedder(state, settings))
    if settings.uses_chroma:
        yield from _guarded("Chroma", lambda: _chroma(state, settings))
    yield _extras()
    yield _watches()
    yield _background(settings)
    yield from _plugins(settings)


def _guarded(name: str, check: Callable[[], Check]) -> Iterator[Check]:
    try:
        yield check()
    except OvilloError as error:
        yield Check(name, Level.FAIL, error.message, error.hint or "")
    except Exception as error:  # noqa: BLE001  Check boundary: a doctor that dies of what it finds helps nobody.
        yield Check(name, Level.FAIL, f"the check itself failed ({type(error).__name__})", "Run it with --verbose.")


def _python() -> Check:
    system = f"{platform.system()} {platform.machine()}"
    return Check("Python", Level.OK, f"{platform.python_version()} on {system}, ovillo {__version__} in {sys.prefix}")


def _settings(settings: Settings) -> Check:
    if settings.warnings:
        return Check(
            "settings", Level.WARN, "; ".join(settings.warnings), "`ovillo config show` prints what is in force."
        )
    return Check("settings", Level.OK, "valid")


def _sqlite() -> Check:
    try:
        import apsw  # start-up cost: named here only to say its version

        options = set(apsw.compile_options)
    except ImportError:
        return Check("SQLite", Level.FAIL, "the package apsw-sqlite3mc is not installed", "Install ovillo again.")
    if "ENABLE_FTS5" not in options:
        return Check("SQLite", Level.FAIL, f"{apsw.sqlite_lib_version()} without FTS5", "Install apsw-sqlite3mc again.")
    return Check("SQLite", Level.OK, f"{apsw.sqlite_lib_version()} with FTS5")


def _data_folder(settings: Settings) -> Check:
    folder = settings.data_dir
    there = folder if folder.exists() else next((x for x in folder.parents if x.exists()), folder)
    if not there.is_dir():
        return Check("data folder", Level.FAIL, f"{there} is no folder", "Name a folder with OVILLO_DATA_DIR.")
    if not os.access(there, os.W_OK):
        return Check(
            "data folder", Level.FAIL, f"{folder} cannot be written", "Correct its rights, or set OVILLO_DATA_DIR."
        )
    for exposure in exposures(settings):
        return Check("data folder", Level.FAIL, exposure.what.rstrip("."), exposure.hint)
    if folder.exists() and os.name == "posix" and folder.stat().st_mode & 0o077:
        return Check(
            "data folder",
            Level.WARN,
            f"{folder} can be read by other users",
            f"Keep your history to yourself: chmod 700 {folder}",
        )
    return Check("data folder", Level.OK, f"{folder}{'' if folder.exists() else ' (made by the first scan)'}")


def _disk(settings: Settings) -> Check:
    disk = disk_space(settings.data_dir)
    if disk is None:
        return Check("disk", Level.WARN, f"no folder above {settings.data_dir} exists", "Set OVILLO_DATA_DIR.")
    shown = f"{disk.free / 1e9:.1f} GB free"
    if disk.is_low:
        return Check("disk", Level.WARN, shown, "A scan needs about as much as the histories it reads; make room.")
    return Check("disk", Level.OK, shown)


def _database(state: State) -> Check:
    settings = state.settings()
    if not settings.database.exists():
        return Check("database", Level.WARN, f"{settings.database} does not exist yet", "Run `ovillo scan`.")
    try:
        status = state.services().status
        problems = status.quick_check()
        size = f"{status.size_on_disk() / 1e6:.1f} MB" if not problems else ""
    except IntegrityError as error:
        problems = [error.message]
    if problems:
        return Check("database", Level.FAIL, _damage_of(settings, problems), _REPAIR)
    return Check("database", Level.OK, f"sound, {size}")


def _damage_of(settings: Settings, problems: list[str]) -> str:
    """Which tables and indexes are hit, and what can still be read."""
    found = survey(settings)
    damage = found.damage
    hit = ["the header of the file"] * damage.header + ["the schema"] * damage.schema
    hit += ["the write-ahead log"] * bool(damage.log_frames) + damage.names
    named = f"in {', '.join(hit)}" if hit else "; ".join(problems[:3])
    kept = ", ".join(f"{count:,} {what}" for what, count in found.readable.items() if what != "settings and secrets")
    return f"damaged: {named}. Can be read: {kept or 'nothing'}"


def _places(state: State) -> Check:
    if not state.settings().database.exists():
        return Check("histories", Level.OK, "looked for by the first scan")
    reports = state.services().ingest.sources()
    found = ", ".join(f"{x.title} ({counted(x.sessions, 'session')})" for x in reports if x.status != "gone")
    damaged = sum(len(x.skipped) + (x.error is not None) for x in reports)
    if not found:
        home = state.settings().home
        return Check(
            "histories", Level.WARN, f"no agent history found in {home}", "Use an agent once, then `ovillo scan`."
        )
    if any(x.status == "new" for x in reports):
        return Check("histories", Level.WARN, f"{found}; some are not scanned yet", "Run `ovillo scan`.")
    if damaged:
        return Check(
            "histories", Level.WARN, f"{found}; {counted(damaged, 'record')} unreadable", "`ovillo sources` lists them."
        )
    return Check("histories", Level.OK, found)


def _secrets(state: State, settings: Settings) -> Check:
    if settings.redaction == "off":
        return Check("secrets", Level.WARN, "not masked: switched off", "OVILLO_REDACTION=mask switches it on.")
    if not settings.database.exists():
        return Check("secrets", Level.OK, "masked")
    now = state.services().status.masking()
    if now.left:
        hint = "`ovillo scan` does it now; a running server (`ovillo serve`, or an agent's) in the background."
        return Check("secrets", Level.WARN, now.told, hint)
    return Check("secrets", Level.OK, f"all {now.done:,} stored texts are masked by the rules of this version")


def _embedder(state: State, settings: Settings) -> Check:
    if settings.embedder == "none":
        return Check("embedder", Level.OK, "switched off; search works by words")
    from ovillo.search.embedders import kind_of  # start-up cost: only this check asks

    try:
        missing = kind_of(settings).missing_modules()
    except InvalidInput as error:
        return Check("embedder", Level.WARN, f"{error.message} Search works by words only.", error.hint or "")
    if missing:
        return Check(
            "embedder",
            Level.WARN,
            f"not installed: {', '.join(missing)}; search works by words only",
            "Install ovillo again, or set embedder to none.",
        )
    embedded = state.services().status.embedded(LOCAL.namespace) if settings.database.exists() else None
    if embedded is None:
        return Check("embedder", Level.OK, settings.embedder)
    done, eligible = embedded
    share = f"{settings.embedder}; {done:,} of {eligible:,} texts searchable by meaning"
    if eligible and done < eligible / 2:
        return Check("embedder", Level.OK, share, "A running server does the rest; `ovillo embed` does it now.")
    return Check("embedder", Level.OK, share)


def _chroma(state: State, settings: Settings) -> Check:
    index = state.services().status.outside_index() if settings.database.exists() else None
    if index is None:
        return Check("Chroma", Level.OK, "asked when there are memories")
    if not index.is_reachable:
        return Check(
            "Chroma",
            Level.WARN,
            index.told,
            "Start it, or unset CHROMA_HOST and CHROMA_PORT; nothing is lost meanwhile.",
        )
    if index.behind:
        return Check(
            "Chroma", Level.WARN, index.told, "A running server sends the rest; `ovillo migrate chroma` does it now."
        )
    if index.behind is None:
        return Check("Chroma", Level.WARN, index.told, "Name another collection with CHROMA_COLLECTION.")
    return Check("Chroma", Level.OK, index.told)


def _extras() -> Check:
    """They are left out on purpose: nothing to warn of."""
    missing = [extra for extra in EXTRAS if not extra.is_installed()]
    there = ", ".join(extra.name for extra in EXTRAS if extra not in missing) or "none"
    if not missing:
        return Check("extras", Level.OK, there)
    named = ", ".join(f"{extra.name} ({extra.gives[0].lower()}{extra.gives[1:]})" for extra in missing)
    command = f"pip install 'ovillo[{','.join(extra.name for extra in missing)}]'"
    return Check("extras", Level.OK, f"{there}; not installed: {named}", f"Where you want them: {command}")


def _watches() -> Check:
    try:
        limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return Check("watching", Level.OK, "the system's own mechanism")
    if limit < _LOW_WATCHES:
        return Check(
            "watching",
            Level.WARN,
            f"the system allows only {limit:,} watches",
            f"Raise it: sysctl fs.inotify.max_user_watches={_LOW_WATCHES * 8}; until then changes are found by looking.",
        )
    return Check("watching", Level.OK, f"up to {limit:,} folders")


def _background(settings: Settings) -> Check:
    failing = FailingWork(settings.data_dir).told()
    if failing:
        named = "; ".join(f"process {process}: {what}" for process, what in failing)
        return Check(
            "servers",
            Level.WARN,
            f"work in the background fails in {named}",
            "It is tried again by itself, within a minute.",
        )
    return Check("servers", Level.OK, "no work in the background fails")


def _plugins(settings: Settings) -> Iterator[Check]:
    if not plugins.installed():
        return
    # start-up cost: only this check asks every kind for all it has
    from ovillo.code.languages import all_languages
    from ovillo.interfaces.tools.registry import all_tools
    from ovillo.readers import all_readers
    from ovillo.search import embedders
    from ovillo.security.secret_finders import secret_finders
    from ovillo.sessions import summarizers

    for ask in (
        all_languages,
        all_tools,
        secret_finders,
        embedders.load_others,
        summarizers.load_others,
    ):
        ask()
    failing = []
    for reader in all_readers():
        try:
            reader.discover(settings.environment, settings.home)
        except Exception as error:  # noqa: BLE001  Boundary: another package's code.
            failing.append((reader.name, f"{type(error).__name__}: {error}"))
    found = plugins.installed()
    broken = [f"{x.name} of {x.package} ({x.group}): {x.broken}" for x in found if x.broken]
    broken += [f"{name} (ovillo.readers) finds nothing: {reason}" for name, reason in failing]
    if broken:
        hint = "Update or remove the package; everything else works without it."
        yield Check("plug-ins", Level.WARN, f"left out: {'; '.join(broken)}", hint)
    else:
        named = ", ".join(f"{x.name} of {x.package} ({x.group})" for x in found)
        yield Check("plug-ins", Level.OK, named)
