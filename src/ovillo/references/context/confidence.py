"""How likely an answer out of sessions is right: a probability, told by what was measured of its evidence.

Owns the formula. The coefficients are data with how they were made (``confidence.toml``); ``bench.calibration`` fits them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Measured:
    """Of the evidence of one question, 0..1 each."""

    #: Share of the question's words that the best passage holds, with what stands around it.
    coverage: float
    #: The same of any of the best passages, alone.
    held: float
    #: How near the best passages are in meaning.
    cosine: float
    #: What the best passage is worth in all.
    worth: float
    #: How far the best stands before the best of another turn.
    margin: float
    #: Share of the subject's words that nothing in scope holds.
    absent: float
    #: How well search ranked the best passage's turn.
    rank: float
    #: How much is asked: words of the subject.
    words: float


def probability(measured: Measured) -> float:
    """0..1; nothing found is never right."""
    if measured.worth <= 0.0:
        return 0.0
    weights = _coefficients()
    sum_ = weights["constant"] + sum(weights[name] * value for name, value in asdict(measured).items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, sum_))))


@cache
def _coefficients() -> Mapping[str, float]:
    data = tomllib.loads(files(__package__).joinpath("confidence.toml").read_text(encoding="utf-8"))
    return {name: float(value) for name, value in data["coefficients"].items()}
