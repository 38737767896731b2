"""The project that a question names in its own words ("in cipher-box, who decides ...").

Owns telling a name from a word that happens to be one: a folder may be called ``shop`` or ``docs``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ovillo.model.scope import Project

#: Names with these are nobody's everyday word.
_PLAINLY_A_NAME = re.compile(r"[-_.\d/]|[a-z][A-Z]")
_PROJECT = "project|repository|repo|codebase|proyecto|repositorio|projet|dépôt|depot|projeto|repositório"
_MIN_NAME = 3


def named_in(question: str, projects: Sequence[Project]) -> Project | None:
    """The one that is named; ``None`` for none, and for several: then nobody knows which is asked about."""
    found = [project for project in projects if any(_is_named(question, name) for name in _names(project))]
    return found[0] if len(found) == 1 else None


def _names(project: Project) -> set[str]:
    return {name for name in (project.name, project.name.rpartition("/")[2]) if len(name) >= _MIN_NAME}


def _is_named(question: str, name: str) -> bool:
    folded = question.casefold()
    if name.casefold() not in folded:
        return False
    said = rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)"
    if _PLAINLY_A_NAME.search(name):
        return re.search(said, question, re.IGNORECASE) is not None
    cue = (
        # "in shop, ...", at the head of a sentence or at the end of it; "the shop project", "el proyecto shop".
        rf"(?:^|[.?!¿¡;]\s*)(?:in|en|dans|em|no|na|for|para|pour)\s+{said}\s*[,:]"
        rf"|(?:{_PROJECT})\s+[\"'`«]?{said}|{said}[\"'`»]?\s+(?:{_PROJECT})\b"
        rf"|\b(?:in|en|dans|em)\s+[\"'`«]?{said}[\"'`»]?\s*[?.!]?\s*$"
    )
    return re.search(cue, question.strip(), re.IGNORECASE) is not None
