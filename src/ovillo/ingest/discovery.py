"""Asking readers where their clients keep what. Owns that one broken reader costs itself only."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from ovillo.readers.protocol import Reader, Source

log = logging.getLogger(__name__)


def sources_of(readers: Iterable[Reader], environment: Mapping[str, str], home: Path) -> list[Source]:
    """Places of all these that exist now, older layouts of each first."""
    found: list[Source] = []
    for reader in readers:
        try:
            found += sorted(reader.discover(environment, home), key=lambda source: source.precedence)
        except Exception as error:  # noqa: BLE001  One client's folder, or another package's reader, costs itself only.
            log.warning("%s: looking for its stores failed: %s", reader.title, error)
    return found
