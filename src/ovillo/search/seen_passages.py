"""Passages that were embedded a moment ago, so that equal ones are embedded once.

Owns remembering what the store keeps of each, a fifth of a kilobyte, and forgetting the oldest. Of the passages of a large
history every second one stood in another text before it, most of them long before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

from ovillo.store.forms import Rows, pack, repacked

#: Passages remembered, about half a kilobyte each with all that belongs to it. Nearly all equal ones of a history of 300 MB
#: are within this distance; with 10,000 a third more would be embedded.
MOST = 65_536


class SeenPassages:
    """By any key; not thread-safe."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        #: Sign bits and values as one.
        self._packed: OrderedDict[bytes, bytes] = OrderedDict()

    def __contains__(self, key: bytes) -> bool:
        return key in self._packed

    def add(self, keys: Iterable[bytes], rows: Rows) -> None:
        self._packed.update((key, bits + values) for key, (bits, values) in zip(keys, pack(rows), strict=True))

    def rows(self, keys: Sequence[bytes]) -> Rows:
        """Vectors of passages that are remembered, as the store keeps them for those that were added."""
        for key in keys:
            self._packed.move_to_end(key)
        forms = np.frombuffer(b"".join(self._packed[key] for key in keys), np.uint8).reshape(len(keys), -1)
        # A sign takes one bit of a component, its value four.
        signs = forms.shape[1] // 5
        # Not before: what this piece needs must not go to make room for itself.
        while len(self._packed) > self._most:
            self._packed.popitem(last=False)
        return repacked(forms[:, :signs], forms[:, signs:])

    def forget(self) -> None:
        self._packed.clear()
