from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.search.lexicon import COLUMNS, entries, lexicon, topics, whole_lexicon
from ovillo.search.lexicon.lists import ONE_WAY


@pytest.mark.requirement("SEARCH-16")
def test_the_list_has_every_concept_in_four_languages() -> None:
    lines = files("ovillo.search.lexicon").joinpath("developer.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert len(rows) >= 600
    assert all(len(row) == len(COLUMNS) and all(cell.strip() for cell in row) for row in rows)


@pytest.mark.requirement("SEARCH-16")
def test_a_query_is_put_into_english_word_by_word() -> None:
    assert lexicon().in_english("la búsqueda es lenta") == "search slow"
    assert lexicon().in_english("recherche dans la base de données") == "search database"
    assert lexicon().in_english("why is the search slow") is None
    assert lexicon().in_english("velvet dashboard") is None


def test_a_word_that_is_english_for_something_else_is_no_translation() -> None:
    assert "file" not in lexicon().translations("queue")
    assert "cola" in lexicon().translations("queue")


def test_every_name_of_every_list_is_found_by_its_stems() -> None:
    known = whole_lexicon()
    rows = [(topic, row) for topic in topics() if topic != "everyday" for row in entries(topic)]
    for number, (topic, row) in list(enumerate(rows))[::25]:
        for language, names in zip(COLUMNS, row, strict=True):
            if topic in ONE_WAY and language == "english":
                continue
            for name in names:
                key = known.key(language, name)
                assert not key or number in [concept for concept, _ in known.named(language, key)], name


@given(st.text())
def test_any_text_can_be_looked_up(text: str) -> None:
    lexicon().in_english(text)
    lexicon().translations(text)


def test_what_a_verb_may_mean_in_english_are_no_synonyms_of_each_other() -> None:
    known = whole_lexicon()
    assert known.called(known.named("spanish", known.key("spanish", "tragar"))[0][0], "english")
    assert not known.knows("english", known.key("english", "swallow"))
