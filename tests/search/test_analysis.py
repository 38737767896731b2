from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.search.analysis import TextAnalyzer, fold, index_forms, words


def terms(text: str) -> list[str]:
    return TextAnalyzer().index_terms(text)[0].split(" ")


@pytest.mark.requirement("SEARCH-1")
def test_identifiers_are_indexed_whole_and_in_their_parts() -> None:
    assert terms("parseHTTPRequest") == ["parsehttprequest", "pars", "http", "request"]
    assert terms("rate_limit2") == ["ratelimit2", "rate", "limit", "2"]
    assert terms("snake_case")[0] == terms("snakeCase")[0]


@pytest.mark.requirement("SEARCH-2")
def test_words_are_stemmed_in_the_language_of_their_text_then_folded() -> None:
    assert terms("las migraciones de la base")[0] == terms("la migración que no está en los datos")[0] == "migracion"
    assert "limit" in terms("the limiters were limited by what they had")
    assert terms("Straße") == ["strasse"]


@pytest.mark.requirement("SEARCH-3")
def test_cjk_text_becomes_pairs_of_characters_and_a_lone_one_stays() -> None:
    assert terms("再試行ロジック") == ["再試", "試行", "行ロ", "ロジ", "ジッ", "ック"]
    assert terms("字") == ["字"]
    assert terms("PostgreSQL索引")[-1] == "索引"


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_plain_text_are_what_the_expression_finds(text: str) -> None:
    assert words(text) == re.findall(r"\w+", text)


def test_composed_and_decomposed_accents_are_the_same_word() -> None:
    assert terms("cafe\u0301s") == terms("caf\u00e9s")


def test_a_text_of_little_words_has_no_terms() -> None:
    assert TextAnalyzer().index_terms("to be or not to be") == ("", 0)
    assert TextAnalyzer().index_terms("") == ("", 0)


def test_words_are_cut_at_64_characters() -> None:
    assert max(map(len, terms("x" * 500))) == 64


def test_new_surfaces_are_handed_out_once_with_their_term() -> None:
    analyzer = TextAnalyzer()
    analyzer.index_terms("Migrations running")
    assert dict(analyzer.take_new_surfaces())["migrations"] == "migrat"
    assert analyzer.take_new_surfaces() == []


def test_an_analyzer_crosses_to_another_process() -> None:
    copy = pickle.loads(pickle.dumps(TextAnalyzer()))
    assert copy.index_terms("Running tests") == TextAnalyzer().index_terms("Running tests")


@given(st.text())
def test_any_text_gives_terms_without_blanks(text: str) -> None:
    joined, count = TextAnalyzer().index_terms(text)
    found = joined.split(" ") if joined else []
    assert len(found) == count
    assert all(term and not any(c.isspace() or c == "\0" for c in term) for term in found)


@given(st.text(alphabet="abcdefghijklmnñoprstuvzáéíóúç", min_size=3, max_size=12))
def test_a_query_word_takes_the_form_that_a_text_holding_it_has(word: str) -> None:
    alone = terms(word)
    assert alone == [""] or alone[0] in index_forms(word)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
