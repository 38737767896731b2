"""get_context and memories: what is remembered answers, labelled, the project's first, and contradictions are shown with both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.memories import Audience, Memory, Origin, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role
from ovillo.model.scope import Project, Scope
from ovillo.references.context.answer import ContextAnswer
from tests.interfaces.opened import settings_for
from tests.references.test_answers import session

PORT = "The ledger service listens on port 5433."
SHOP = Project("shop", ("/srv/shop",))


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path, embedder="minilm"))
    yield opened
    opened.close()


def remember(services: Services, text: str, of: Provenance | None = None, **given: Any) -> Memory:
    of = of or Provenance(Origin.HUMAN, author="ana", source="notes.md")
    kept: Memory = services.memories.remembering.remember(NS, text, of, **given).memory
    services.background.embed_memories(NS)
    return kept


def ask(services: Services, query: str, **given: Any) -> ContextAnswer:
    return services.context.get_context(NS, query, **{"viewer": "local", **given})


@pytest.mark.requirement("LAYER-30")
@pytest.mark.parametrize("query", ["On which port does the ledger service listen?", "Which TCP port is the ledger on?"])
def test_a_question_that_a_memory_answers_is_answered_with_its_trust_and_provenance(
    services: Services, query: str
) -> None:
    kept = remember(services, PORT)
    answer = ask(services, query)
    assert not answer.abstained
    [place] = answer.provenance
    assert (place.kind, place.id) == ("memory", kept.id)
    head, said = answer.content.split("\n", 1)
    assert kept.id in head
    assert "fact, stated, human" in head
    assert "ana" in head
    assert "notes.md" in head
    assert said == f"> {PORT}"
    services.store.memories.prune(NS, at=0)  # uses are written before what is written after them
    assert services.memories.get(NS, kept.id, viewer="local").uses == 1


@pytest.mark.requirement("LAYER-30")
def test_a_memory_about_something_else_answers_nothing(services: Services) -> None:
    kept = remember(services, PORT)
    answer = ask(services, "Who painted the logo of the shop?")
    assert answer.abstained
    assert kept.id not in answer.content
    services.store.memories.prune(NS, at=0)
    assert services.memories.get(NS, kept.id, viewer="local").uses == 0


@pytest.mark.requirement("LAYER-30")
def test_a_memory_and_a_later_session_that_says_otherwise_are_both_shown(services: Services) -> None:
    kept = remember(services, PORT)
    said = session(
        services,
        (Role.USER, "Move the ledger service to another port, please."),
        (Role.ASSISTANT, "Done. The ledger service listens on port 6001 now."),
    )
    answer = ask(services, "On which port does the ledger service listen?")
    assert {"memory", "message"} <= {place.kind for place in answer.provenance}
    assert "5433" in answer.content
    assert "6001" in answer.content
    [note] = [note for note in answer.notes if kept.id in note]
    assert note.endswith(f"the newer one is {said}.")


@pytest.mark.requirement("LAYER-30")
def test_memories_that_contradict_each_other_are_both_shown(services: Services) -> None:
    one = remember(services, "The ledger service listens on port 5433.")
    two = remember(services, "The ledger service listens on port 5434.")
    answer = ask(services, "On which port does the ledger service listen?")
    assert {place.id for place in answer.provenance} == {one.id, two.id}
    assert answer.content.count("says otherwise") == 2


@pytest.mark.requirement("LAYER-30")
def test_what_belongs_to_another_project_or_person_does_not_answer(services: Services) -> None:
    remember(services, PORT, project="bank", audience=Audience.PROJECT)
    remember(
        services,
        "Old invoices are kept in a vault in Lisbon.",
        Provenance(owner="ana"),
        audience=Audience.PERSONAL,
    )
    home = Scope(SHOP)
    assert ask(services, "On which port does the ledger service listen?", scope=home).abstained
    there = ask(services, "On which port does the ledger service listen?")
    assert [place.project for place in there.provenance] == ["bank"]
    backup = "Where are old invoices kept?"
    assert ask(services, backup).abstained
    assert services.context.get_context(NS, backup).abstained
    assert not ask(services, backup, viewer="ana").abstained


@pytest.mark.requirement("LAYER-30")
def test_the_label_speaks_the_language_of_the_question(services: Services) -> None:
    remember(services, "El servicio contable escucha en el puerto 5433.")
    answer = ask(services, "¿En qué puerto escucha el servicio contable?")
    assert answer.content.startswith("Recuerdo mem_")
