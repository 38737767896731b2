from __future__ import annotations

import sys
import unicodedata
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import ovillo.search.embedders
from ovillo.search.embedders.wordpiece import WordPiece

VOCABULARY = files(ovillo.search.embedders) / "minilm_vocab.txt"
FIXTURES = Path(__file__).parent.parent / "fixtures"
MOST = 256


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece(VOCABULARY.read_text(encoding="utf-8").splitlines(), most=MOST)


@pytest.fixture(scope="module")
def published() -> Tokenizer:
    """The library that the model is published with."""
    tokenizer = Tokenizer(models.WordPiece.from_file(str(VOCABULARY), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.enable_truncation(MOST)
    return tokenizer


def is_known_to_both(char: str) -> bool:
    """The library's tables of characters are older than Python's: what came after Unicode 3.2 may differ in kind."""
    kind = unicodedata.category(char)
    return unicodedata.ucd_3_2_0.category(char) == kind not in ("Cn", "Co", "Cs")


TEXTS = st.text(st.characters(exclude_categories=["Cn", "Co", "Cs"]).filter(is_known_to_both), max_size=400)


def test_every_text_of_the_recorded_histories_becomes_the_numbers_of_the_published_tokenizer(
    ours: WordPiece, published: Tokenizer
) -> None:
    lines = [line[:2_500] for path in sorted(FIXTURES.rglob("*.*")) for line in lines_of(path)]
    assert len(lines) > 10_000
    theirs = published.encode_batch_fast(lines)
    assert [line for line, there in zip(lines, theirs, strict=True) if ours.numbers(line) != there.ids] == []


def lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    except UnicodeDecodeError:
        return []


@given(TEXTS)
def test_any_text_becomes_the_numbers_of_the_published_tokenizer(
    ours: WordPiece, published: Tokenizer, text: str
) -> None:
    assert ours.numbers(text) == published.encode(text).ids


def test_every_character_the_model_knows_is_read_as_the_published_tokenizer_reads_it(
    ours: WordPiece, published: Tokenizer
) -> None:
    known = set(VOCABULARY.read_text(encoding="utf-8"))
    chars = [char for char in map(chr, range(sys.maxunicode)) if char in known or is_known_to_both(char)]
    texts = [" ".join(f"a{char}b" for char in chars[at : at + 40]) for at in range(0, len(chars), 40)]
    theirs = published.encode_batch_fast(texts)
    assert [text for text, there in zip(texts, theirs, strict=True) if ours.numbers(text) != there.ids] == []
