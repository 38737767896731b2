"""What a term says of a memory that holds it: equal in every engine, so that candidates are the same."""

from __future__ import annotations

import math


def term_weight(total: int, holding: int) -> float:
    """More the rarer it is among ``total`` memories, ``holding`` of which have it."""
    return math.log(1.0 + total / max(holding, 1))
