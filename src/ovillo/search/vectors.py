"""Vectors of texts before they are kept or asked about: the mean of a namespace's texts is taken out of them.

Owns centring. How vectors are kept, and finding the nearest, is the store's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ovillo.model.records import Namespace
from ovillo.store.forms import Rows, unit

if TYPE_CHECKING:
    from ovillo.store.protocol import VectorStore

#: Fewer passages than this give no mean worth subtracting.
MEAN_NEEDS = 256


def centred(rows: Rows, mean: Rows | None) -> Rows:
    """Unit rows without the mean, unit again; a row that is nothing but the mean stays near zero."""
    rows = unit(rows)
    return rows if mean is None else unit(rows - mean)


def stored_mean(store: VectorStore, namespace: Namespace, name: str) -> Rows | None:
    """A mean says what its texts are about: it is of one namespace, and used for no other."""
    mean = store.model_state(namespace, name).get("mean")
    return np.array(mean, np.float32) if mean else None
