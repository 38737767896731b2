"""Masks the numbers of Acme's badges: ``ACME-`` and eight digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BADGE = re.compile(r"\bACME-\d{8}\b")


def badges_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and kind of each; the kind stands in the marker: ``[redacted:acme_badge:3f9a1c]``."""
    for found in _BADGE.finditer(text):
        yield found.start(), found.end(), "acme_badge"
