"""How likely pieces of one kind answer: a probability, told by what was measured of them.

Owns the formula. The coefficients are data with how they were made (``confidence.toml``); ``bench.calibration`` fits them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache

from ovillo.model.data_files import text_beside

#: An answer is given from this probability on that it is right.
THRESHOLD = 0.4
#: Code is shown earlier: it is read at a glance, and what it is about stands in its name.
CODE_THRESHOLD = 0.25


class Evidence(StrEnum):
    SAID = "said"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Measured:
    """Of what sessions said to one question, 0..1 each."""

    #: Share of the question's words that one of the best passages holds.
    held: float
    #: How near the best passages are in meaning.
    cosine: float
    #: What the best passage is worth in all.
    worth: float
    #: Share of the subject's words that nothing in scope holds.
    absent: float
    #: Whether one of them is written as a name is: what is called so is not spoken of here.
    absent_name: float
    #: Share of the subject's words that the best passages, taken together, do not hold.
    unheld: float
    #: How much is asked: words of the subject.
    words: float

    def features(self) -> dict[str, float]:
        return asdict(self)


def probability(kind: Evidence, features: Mapping[str, float]) -> float:
    """0..1. What was not measured counts as 0."""
    weights = _coefficients()[kind]
    sum_ = weights["constant"] + sum(
        weight * features.get(name, 0.0) for name, weight in weights.items() if name != "constant"
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, sum_))))


@cache
def _coefficients() -> Mapping[Evidence, Mapping[str, float]]:
    data = tomllib.loads(text_beside(__file__, "confidence.toml"))
    return {kind: {name: float(value) for name, value in data[kind].items()} for kind in Evidence}
