"""Which files belong to a client: those that lie in its folder when every link is followed.

Owns that one question. The client's folder may itself be a link, and so may the folder in it where sessions are kept: people
keep them among their dotfiles or on another disk. A link below them that leads out is not followed: whoever can write there
(an agent in a sandbox) would have any file of the user read, kept and shown to agents.
"""

from __future__ import annotations

import os
from pathlib import Path

from ovillo.model.records import SkippedRecord

LEADS_OUT = "a link that leads out of the client's folder: not followed"


class ContainedPaths:
    """Answers for one scan; folders are looked at once."""

    def __init__(self, *roots: Path) -> None:
        self._given = frozenset(map(str, roots))
        self._roots = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        self._folders: dict[str, bool] = {}

    def holds(self, path: Path | str) -> bool:
        """Whether the file or folder at ``path`` lies in the client's folder, wherever links on the way lead."""
        if str(path) in self._given:
            return True
        folder = os.path.dirname(path)  # noqa: PTH120  as below
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._is_below(folder)
        return known and (not os.path.islink(path) or self._is_below(path))  # noqa: PTH114  thousands of calls

    def refused(self, path: Path | str) -> SkippedRecord | None:
        """What to list for ``path`` when it leads out; ``None`` when it may be read, and when it leads nowhere."""
        if self.holds(path) or not os.path.exists(path):  # noqa: PTH110
            return None
        return SkippedRecord(str(path), "", LEADS_OUT)

    def _is_below(self, path: Path | str) -> bool:
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._roots)
