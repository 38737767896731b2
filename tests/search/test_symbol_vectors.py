"""Definitions found by meaning: what words cannot find, made in the background, kept as long as it is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.search.embedders import model_id
from ovillo.settings import Settings
from tests.code.projects import write

FILES = {
    "door.py": '''
def deny_access(visitor):
    """Refuse entry to a guest who is not on the list."""


def ring_bell(times):
    """Make the bell sound."""


def paint_wall(colour):
    """Put paint on a wall."""
''',
    "test_door.py": "def test_deny_access(): ...\n",
}
#: Says it in words that no definition has.
QUESTION = "where do we turn unwanted people away"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "house"
    root.mkdir()
    write(root, FILES)
    return root


@pytest.fixture
def services(tmp_path: Path, project: Path) -> Iterator[Services]:
    opened = open_services(Settings(tmp_path / "data", tmp_path, embedder="minilm"))
    opened.code.index(NS, project)
    yield opened
    opened.close()


def _found(services: Services, question: str) -> list[tuple[str, str]]:
    return [(one.symbol.name, one.found_by) for one in services.symbols.find(NS, question).symbols]


@pytest.mark.requirement("SYMBOLS-11")
def test_what_no_word_finds_is_found_by_meaning_once_it_is_embedded(services: Services) -> None:
    assert "deny_access" not in dict(_found(services, QUESTION))
    assert services.symbols.vectors.wait(NS)
    assert services.symbols.vectors.embed_all(NS) == 4
    assert not services.symbols.vectors.wait(NS)
    assert _found(services, QUESTION)[0] == ("deny_access", "meaning")
    (first, *_) = services.symbols.find(NS, QUESTION).symbols
    assert first.worth < 0.5
    assert services.symbols.described(NS, QUESTION) == []


@pytest.mark.requirement("SYMBOLS-11")
def test_names_and_words_still_come_first(services: Services) -> None:
    services.symbols.vectors.embed_all(NS)
    assert _found(services, "ring_bell")[0] == ("ring_bell", "name")
    assert _found(services, "paint the wall")[0] == ("paint_wall", "words")
    assert _found(services, "la función que pinta la pared")[0] == ("paint_wall", "words")


@pytest.mark.requirement("SYMBOLS-11")
def test_only_what_changed_is_embedded_again(services: Services, project: Path) -> None:
    services.symbols.vectors.embed_all(NS)
    moved = FILES["door.py"].replace("def ring_bell", "\n\ndef ring_bell")
    write(project, {"door.py": moved.replace("paint_wall", "paint_fence")})
    services.code.index(NS, project)
    assert services.symbols.vectors.wait(NS)
    assert services.symbols.vectors.embed_all(NS) == 1
    assert _found(services, QUESTION)[0][0] == "deny_access"
    model = model_id(services.settings)
    assert model is not None
    assert len(services.store.code_vectors.known(NS, str(project), model)) == 4
    services.code.forget(NS, project)
    assert services.symbols.find(NS, QUESTION).symbols == ()
