"""Code and pages keep to one word per idea: the glossary says which."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
MODULES = sorted((ROOT / "src" / "ovillo").rglob("*.py"))


def section(title: str) -> list[list[str]]:
    """Rows of the table below a heading, cells without their blanks."""
    text = GLOSSARY.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def classes() -> dict[str, Path]:
    """Every class with the module it is defined in."""
    return {
        node.name: path
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}


@pytest.mark.requirement("PROJ-7")
def test_what_the_glossary_names_in_code_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    named = [name for row in section("What the code is made of") for name in re.findall(r"`(\w+)`", row[1])]
    assert len(named) > 20
    assert [name for name in named if not re.search(rf"^\s*(class )?{name}\b", source, re.MULTILINE)] == []


@pytest.mark.requirement("PROJ-7")
def test_no_class_and_no_module_bears_a_word_that_was_replaced() -> None:
    rows = [row[0].partition(" (alone)") for row in section("Words that are not used")]
    nowhere = {word for words, alone, _ in rows if not alone for word in words.split(", ")}
    alone = {word for words, alone, _ in rows if alone for word in words.split(", ")}
    assert len(nowhere) > 8
    names = {**classes(), **{path.stem: path for path in MODULES}}
    assert {
        name: path.relative_to(ROOT).as_posix()
        for name, path in names.items()
        if words(name) & nowhere or name.strip("_").lower() in alone
    } == {}


@pytest.mark.requirement("PROJ-7")
def test_no_variable_and_no_parameter_bears_a_word_that_was_replaced() -> None:
    rows = [row[0].partition(" (alone)") for row in section("Words that are not used")]
    replaced = {word for words, alone, _ in rows if not alone for word in words.split(", ")}
    #: Plain English, or a field of answers that clients read.
    said_in_other_senses = {"place", "places", "calling", "unit", "views", "touches"}
    bearing = {
        (token.string, path.relative_to(ROOT).as_posix())
        for path in MODULES
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        if token.type == tokenize.NAME and token.string.strip("_") in replaced - said_in_other_senses
    }
    assert bearing == set()
