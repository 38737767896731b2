"""Kinds of questions in four languages, and the threshold each has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.memory.knowledge.questions import question_of
from ovillo.model.knowledge import QuestionType
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.settings import Settings

_F, _P, _C, _T = QuestionType.FACTUAL, QuestionType.PROCEDURAL, QuestionType.CONCEPTUAL, QuestionType.TEMPORAL


@pytest.mark.requirement("KNOW-5")
@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which port does the ferry use?", _F),
        ("How many dogs may travel?", _F),
        ("How do I refund a ticket?", _P),
        ("Why are dogs free?", _C),
        ("When does the ferry leave?", _T),
        ("¿Cuántos perros pueden viajar?", _F),
        ("¿Cómo se devuelve un billete?", _P),
        ("¿Por qué son gratis los perros?", _C),
        ("¿Cuándo sale el ferry?", _T),
        ("Combien de chiens peuvent voyager ?", _F),
        ("Comment rembourser un billet ?", _P),
        ("Pourquoi les chiens sont-ils gratuits ?", _C),
        ("Quand part le ferry ?", _T),
        ("Quantos cães podem viajar?", _F),
        ("Como se devolve um bilhete?", _P),
        ("Por que os cães são grátis?", _C),
        ("Quando sai o ferry?", _T),
        ("ferry timetable", None),
    ],
)
def test_the_kind_is_told_from_the_words(question: str, kind: QuestionType | None) -> None:
    assert question_of(question).type is kind


@pytest.mark.requirement("KNOW-5")
def test_each_kind_has_the_threshold_of_v5_unless_a_setting_says_otherwise(tmp_path: Path) -> None:
    asked = {_F: "Which port is it?", _P: "How do I go there?", _C: "Why go there?", _T: "When was it?"}
    services = open_services(Settings(data_dir=tmp_path, home=tmp_path, embedder="none", threshold_temporal=0.5))
    try:
        found = {kind: services.knowledge.search(NS, question) for kind, question in asked.items()}
    finally:
        services.close()
    assert {kind: answer.threshold for kind, answer in found.items()} == {_F: 0.78, _P: 0.72, _C: 0.65, _T: 0.5}
    assert all(answer.abstained for answer in found.values())
