"""Memories by meaning: paraphrases in four languages, nothing where nothing fits, and what happens without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.memory.automatic.near_search import ByVectors
from ovillo.memory.automatic.query import build_query
from ovillo.memory.recalling import Recalled
from ovillo.model.clock import system_clock
from ovillo.model.memories import Audience, MemoryFilter, MemoryId, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace
from ovillo.security.principals import LOCAL
from tests.interfaces.opened import settings_for

HERE = Provenance(author="claude")
SAID = (
    "The nightly export is written at four in the morning, Madrid time.",
    "Ana does not want comments that repeat the code.",
    "El servidor de pruebas se reinicia cada domingo.",
    "La fuite de mémoire venait d'un abonnement jamais annulé.",
    "O relatório mensal é enviado no primeiro dia útil.",
    "We use tabs in Go files.",
)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path, embedder="minilm"))
    yield opened
    opened.close()


def remember(services: Services, text: str, of: Provenance = HERE, namespace: Namespace = NS, **given: Any) -> MemoryId:
    found: MemoryId = services.memories.remembering.remember(namespace, text, of, **given).memory.id
    return found


def recall(services: Services, query: str, **given: Any) -> list[Recalled]:
    return services.memories.recalling.recall(NS, query, **{"viewer": "local", **given})


def texts(found: list[Recalled]) -> list[str]:
    return [each.memory.text for each in found]


def embed(services: Services) -> int:
    return sum(services.background.embed_memories(each) for each in services.background.namespaces())


@pytest.mark.requirement("LAYER-29")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("When does the dump that runs every night begin?", SAID[0]),
        ("Does she like redundant remarks in source code?", SAID[1]),
        ("When does the test server restart?", SAID[2]),
        ("What caused the memory leak?", SAID[3]),
        ("¿Qué provocaba la fuga de memoria?", SAID[3]),
        ("Quand le rapport mensuel est-il envoyé ?", SAID[4]),
        ("Spaces or tabulators for Go sources?", SAID[5]),
    ],
)
def test_a_question_in_other_words_or_in_another_language_finds_what_was_put_down(
    services: Services, asked: str, said: str
) -> None:
    for text in SAID:
        remember(services, text)
    assert embed(services) == len(SAID)
    found = recall(services, asked)
    assert texts(found)[0] == said
    assert found[0].score <= 1


@pytest.mark.requirement("LAYER-29")
def test_where_nothing_fits_nothing_is_recalled(services: Services) -> None:
    for text in SAID:
        remember(services, text)
    embed(services)
    for asked in (
        "Who painted the logo?",
        "¿Qué antivirus tienen los portátiles?",
        "What is the name of the office dog?",
    ):
        assert recall(services, asked) == []


@pytest.mark.requirement("LAYER-29")
def test_what_waits_for_its_vector_is_found_by_words_and_later_by_meaning(services: Services) -> None:
    assert not services.memories.meaning.waits(NS)
    remember(services, SAID[0])
    assert services.memories.meaning.waits(NS)
    assert services.memories.meaning.share(NS) == (0, 1)
    assert texts(recall(services, "when is the nightly export written")) == [SAID[0]]
    assert recall(services, "at what hour does the dump run") == []
    embed(services)
    assert not services.memories.meaning.waits(NS)
    [found] = recall(services, "at what hour does the export of the night run")
    assert "near in meaning" in found.why
    remember(services, SAID[1])
    assert services.memories.meaning.waits(NS)
    assert embed(services) == 1
    assert embed(services) == 0


@pytest.mark.requirement("LAYER-29")
def test_what_has_all_the_words_is_recalled_however_far_its_meaning_seems(services: Services) -> None:
    remember(services, "zq81 zq82")
    remember(services, "The port of the frobnicator is 8443")
    embed(services)
    assert texts(recall(services, "zq81")) == ["zq81 zq82"]
    assert texts(recall(services, "8443")) == ["The port of the frobnicator is 8443"]


@pytest.mark.requirement("LAYER-29")
def test_vectors_show_nobody_what_is_anothers(services: Services) -> None:
    remember(services, SAID[0], Provenance(owner="ana"), audience=Audience.PERSONAL)
    remember(services, SAID[0], namespace=Namespace("team"))
    services.background.embed_memories(NS)
    services.background.embed_memories(Namespace("team"))
    asked = "When does the dump that runs every night begin?"
    assert recall(services, asked) == []
    assert texts(recall(services, asked, viewer="ana")) == [SAID[0]]


@pytest.mark.requirement("LAYER-28")
def test_with_the_memory_its_vector_goes(services: Services) -> None:
    gone = remember(services, SAID[0])
    embed(services)
    services.memories.forgetting.forget(LOCAL, "test", MemoryFilter(ids=(gone,)))
    assert services.memories.meaning.share(NS) == (0, 0)
    assert services.memories.meaning.near(NS, SAID[0], MemoryFilter(), 9) == {}


@pytest.mark.requirement("LAYER-28")
def test_another_model_makes_vectors_of_its_own(services: Services, tmp_path: Path) -> None:
    remember(services, SAID[0])
    embed(services)
    services.close()
    other = open_services(
        settings_for(tmp_path, embedder="openai", embedder_url="http://127.0.0.1:9", embedder_model="other")
    )
    try:
        assert other.memories.meaning.waits(NS)
        assert other.memories.meaning.share(NS) == (0, 1)
        assert texts(recall(other, "nightly export")) == [SAID[0]]
        assert recall(other, "When does the dump that runs every night begin?") == []
    finally:
        other.close()


@pytest.mark.requirement("LAYER-29")
def test_automatic_recall_finds_by_meaning_once_the_model_is_there(services: Services) -> None:
    remember(services, SAID[0])
    embed(services)
    search = ByVectors(services.store.memories, system_clock, services.memories.meaning)
    query = build_query("Bash", {"command": "dump --all", "description": "Dump what is exported every night"})
    assert search.of_tool(NS, query, "local") == []  # nobody waits for a model
    services.memories.meaning.warm()
    [found] = search.of_tool(NS, query, "local")
    assert (found.memory.text, found.origin) == (SAID[0], "json")
    assert found.similarity
    assert search.of_conversation(NS, build_query("Bash", {"command": "npm install"}), "ses_x", "local") == []
