"""Fits how likely an answer of ``get_context`` is right, and says how well that is told.

    python -m bench.calibration --input ITEMS.jsonl --corpus LAID_OUT [--data FOLDER] [--write]

Items and corpus are those of ``bench.answers``, with ``gold``, ``must_contain`` and ``abstain``, which are read here and only here.
Each item is asked from its own project and from every other one, where nothing answers it. For each kind of evidence (what
sessions said, code) alone: its pieces are right when a gold place is among the first three and what they quote within 2,000 tokens
holds what it must. Logistic regression with a penalty on large coefficients, by Newton's method. Reliability is printed by leaving
out one project at a time. ``--write`` puts the coefficients into the package.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.answers import TOOL, laid_out
from bench.tables import table
from ovillo.composition import Composition
from ovillo.interfaces.tools.contract import Call
from ovillo.interfaces.tools.scoping import scope_of
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.references.context import confidence
from ovillo.references.context.answer import Provenance
from ovillo.references.context.confidence import Evidence
from ovillo.references.context.fitting import fitted
from ovillo.references.context.providers import ProviderAnswer
from ovillo.security.principals import LOCAL
from ovillo.sessions.caller import CallContext

_PENALTY = 0.1
#: What a question asked elsewhere counts beside one asked at home: it is what people seldom do.
_ELSEWHERE = 0.03
_TOKENS = 2_000
#: What code is judged by. The set has few questions about code: more would fit its accidents.
_OF_CODE = ("code_sure", "code_worth", "past")
_BOTH = "code_and_session"
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)


@dataclass(frozen=True, slots=True)
class Sample:
    kind: Evidence
    features: Mapping[str, float]
    is_right: bool
    project: str
    asked_for: str
    #: How often such questions are asked beside those of home.
    weight: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="data folder to fill, or to ask again when it is filled")
    parser.add_argument("--write", action="store_true", help="put the coefficients into the package")
    arguments = parser.parse_args()
    items = [json.loads(line) for line in arguments.input.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data or Path(folder)
        with laid_out(arguments.corpus.resolve(), data) as (services, folders):
            samples = [sample for item in items for sample in samples_of(services, item, folders)]
    coefficients = {}
    for kind in Evidence:
        of_kind = [sample for sample in samples if sample.kind is kind]
        names = _OF_CODE if kind is Evidence.CODE else sorted({name for sample in of_kind for name in sample.features})
        coefficients[kind] = fit(of_kind, names)
        _report(kind, of_kind, names)
    text = _written(coefficients, samples)
    if arguments.write:
        Path(confidence.__file__).with_suffix(".toml").write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


def samples_of(services: Composition, item: Mapping[str, Any], folders: Mapping[str, str]) -> list[Sample]:
    """Of one item at home and elsewhere."""
    if item.get("kind") == "dialogue":
        return []  # what the session means comes first there
    home, asked_for = item.get("project"), str(item["kind"])
    found = []
    for place in [home, *(name for name in folders if name != home)] if home else [None]:
        roots = (folders[place],) if place else ()
        call = Call(services, LOCAL, CallContext(TOOL, {}, roots=roots, channel="mcp"))
        scope = scope_of(call, question=str(item["query"]))
        answers = services.context.evidence(DEFAULT_NAMESPACE, str(item["query"]), scope=scope)
        for kind in Evidence:
            answer = next((each for each in answers if _kind_of(each) is kind), None)
            if answer is None or not answer.items:
                continue
            is_right = place == home and not item["abstain"] and is_answered(answer, item)
            weight = 1.0 if place == home else _ELSEWHERE
            if kind is Evidence.SAID and asked_for.startswith("code_") and asked_for != _BOTH:
                continue  # whether sessions or code are asked is not what sessions are judged by
            found.append(Sample(kind, answer.features, is_right, home or "none", asked_for, weight))
    return found


def _kind_of(answer: ProviderAnswer) -> Evidence | None:
    if "code_worth" in answer.features:
        return Evidence.CODE
    return Evidence.SAID if "held" in answer.features else None


def is_answered(answer: ProviderAnswer, item: Mapping[str, Any]) -> bool:
    content, places, _ = fitted(answer.sentences, answer.items, _TOKENS)
    said = plain(content)
    holds = all(any(plain(text) in said for text in group) for group in item.get("must_contain") or [])
    foreign = any(plain(text) in said for text in item.get("must_not_contain") or [])
    at_gold = any(_is_at(place, gold) for place in places[:3] for gold in item.get("gold") or [])
    return holds and at_gold and not foreign


def _is_at(place: Provenance, gold: Mapping[str, Any]) -> bool:
    if "file" not in gold:
        return str(place.session_id or "").endswith(str(gold["session"]))
    if not (place.file or "").endswith(str(gold["file"])):
        return False
    want = gold.get("lines")
    return not want or not place.lines or (place.lines[0] <= want[-1] and want[0] <= place.lines[-1])


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFD", str(text).casefold())
    return re.sub(r"\s+", " ", "".join(c for c in folded if not unicodedata.combining(c)))


def fit(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, float]:
    matrix, right, weight = _arrays(samples, names)
    penalty = np.full(len(names) + 1, _PENALTY)
    penalty[0] = 1e-6
    beta = np.zeros(len(names) + 1)
    for _ in range(60):
        p = 1 / (1 + np.exp(-matrix @ beta))
        gradient = matrix.T @ (weight * (right - p)) - penalty * beta
        hessian = (matrix * (weight * p * (1 - p))[:, None]).T @ matrix + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return {name: round(float(value), 3) for name, value in zip(("constant", *names), beta, strict=True)}


def _arrays(
    samples: Sequence[Sample], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    rows = [[1.0, *(sample.features.get(name, 0.0) for name in names)] for sample in samples]
    right = np.array([float(sample.is_right) for sample in samples])
    return np.array(rows), right, np.array([sample.weight for sample in samples])


def _told(coefficients: Mapping[str, float], sample: Sample) -> float:
    sum_ = coefficients["constant"] + sum(
        weight * sample.features.get(name, 0.0) for name, weight in coefficients.items() if name != "constant"
    )
    return float(1 / (1 + np.exp(-sum_)))


def _report(kind: Evidence, samples: Sequence[Sample], names: Sequence[str]) -> None:
    told: list[tuple[float, Sample]] = []
    for project in sorted({sample.project for sample in samples}):
        others = fit([sample for sample in samples if sample.project != project], names)
        told += [(_told(others, sample), sample) for sample in samples if sample.project == project]
    home = [(p, sample) for p, sample in told if sample.weight == 1.0]
    rows: list[list[Any]] = []
    for low, high in pairwise(_BINS):
        inside = [(p, sample) for p, sample in home if low <= p < high]
        if inside:
            mean = sum(p for p, _ in inside) / len(inside)
            rows.append(
                [f"{low:.1f}-{min(high, 1):.1f}", len(inside), mean, sum(s.is_right for _, s in inside) / len(inside)]
            )
    print(table(f"\n{kind.value}: told, the project left out", ["confidence", "answers", "said", "right"], rows))
    rows = []
    for asked_for in sorted({sample.asked_for for _, sample in home}):
        inside = [(p, sample) for p, sample in home if sample.asked_for == asked_for]
        rows.append(
            [
                asked_for,
                len(inside),
                sum(p for p, _ in inside) / len(inside),
                sum(s.is_right for _, s in inside) / len(inside),
            ]
        )
    print(table(f"\n{kind.value}: by kind of question", ["kind", "answers", "said", "right"], rows))


def _written(coefficients: Mapping[Evidence, Mapping[str, float]], samples: Sequence[Sample]) -> str:
    lines = [
        "# Coefficients of the logistic models of confidence.py. Made by `python -m bench.calibration --write` on the shared set of",
        f"# answers: {len(samples)} samples, each question asked from its own project (weight 1) and from the",
        f"# others (weight {_ELSEWHERE:g}),"
        f" {sum(sample.is_right for sample in samples)} of them right. Penalty {_PENALTY:g}.",
    ]
    for kind, weights in coefficients.items():
        lines += [f"[{kind.value}]", *(f"{name} = {value}" for name, value in weights.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
