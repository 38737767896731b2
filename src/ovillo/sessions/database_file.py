"""The database as a file of its user's: copied, put back, looked at for damage, repaired.

Owns what of the settings that takes, for commands that run while no store is open. Each function imports what it needs:
only one of them runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ovillo.model.database_file import Copied, FileVersion, Repaired, Survey
from ovillo.settings import Settings

if TYPE_CHECKING:
    from ovillo.store.protocol import Analyzer


def back_up(settings: Settings, target: Path, passphrase: str | None, *, replace: bool) -> Copied:
    """Everything in one file, made while others write. Raises Conflict, InvalidInput, NotFound, StoreUnavailable."""
    from ovillo.store.embedded import back_up

    return back_up(settings.database, target, passphrase, replace=replace)


def is_encrypted(copy: Path) -> bool:
    """Raises NotFound and InvalidInput for what is no copy."""
    from ovillo.store.embedded import is_encrypted

    return is_encrypted(copy)


def restore(settings: Settings, copy: Path, passphrase: str | None) -> Copied:
    """Put a copy in the place of the database, which is kept aside. Raises Conflict while a server runs, and as the copy is."""
    from ovillo.store.embedded import restore

    return restore(settings.data_dir, settings.database, copy, passphrase)


def file_version(settings: Settings) -> FileVersion:
    """By which ovillo the database was made. Changes nothing. Raises IntegrityError, StoreUnavailable."""
    from ovillo.store.embedded import file_version

    return file_version(settings.database)


def survey(settings: Settings) -> Survey:
    """What is damaged and what can be read. Changes nothing. Raises NotFound, OSError."""
    from ovillo.store.embedded import survey

    return survey(settings.database)


def repair(settings: Settings, analyzer: Analyzer, say: Callable[[str], None]) -> Repaired:
    """A sound database in the place of a damaged one, which is kept aside.

    Raises Conflict while another process has it open, NotFound, StoreUnavailable, OSError; nothing has changed then."""
    from ovillo.store.embedded import repair

    return repair(settings.database, analyzer, say)
