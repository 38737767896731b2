"""What other packages add through entry points (``ovillo.readers``, ``ovillo.tools``, ...).

Owns finding them fast: nearly nobody adds anything, and asking the library first costs every start 30 ms.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

#: Our own distribution declares the command ``ovillo`` only.
_GROUP = b"[ovillo."


@cache
def _anything_added() -> bool:
    """Whether the entry points of any installed distribution name a group of ours."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                names = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info", ".egg"))]
        except NotADirectoryError:
            return True  # a zip file: only the library can look inside
        except OSError:
            continue
        for name in names:
            try:
                if _GROUP in (Path(name) / "entry_points.txt").read_bytes():
                    return True
            except OSError:
                continue
    return False


def added(group: str) -> dict[str, Any]:
    """Entry points of a group by name; each has ``load()``."""
    if not _anything_added():
        return {}
    from importlib.metadata import entry_points  # start-up cost: see above

    return {point.name: point for point in entry_points(group=group)}
