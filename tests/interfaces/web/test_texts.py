"""The texts of the pages: complete in four languages, and nowhere in a template."""

from __future__ import annotations

import hashlib
import json
import re
import string
from pathlib import Path
from typing import Any

import pytest

from ovillo.interfaces.web import assets
from ovillo.interfaces.web.catalogues import FOLDER, catalogue
from ovillo.interfaces.web.preferences import DEFAULT, LANGUAGES
from ovillo.interfaces.web.rendering import TEMPLATES

OTHERS = sorted(set(LANGUAGES) - {DEFAULT})
_CALL = re.compile(r"""\bt\(\s*["']([\w.]+)["']\s*([,)~])""")
#: What Jinja computes, tags, comments and entities; what is left is text of a page.
_NOT_TEXT = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|<(?:pre|code|kbd)\b.*?</(?:pre|code|kbd)>|<[^>]*>|&\w+;", re.DOTALL
)
#: Names of ours and of formats are the same everywhere.
_SAME_EVERYWHERE = {"ovillo", "JSON", "API", "CSV", "HTML", "Markdown", "PDF", "MCP", "REST", "Ctrl"}


def places(text: Any) -> set[frozenset[str]]:
    forms = text.values() if isinstance(text, dict) else [text]
    return {frozenset(name for _, name, _, _ in string.Formatter().parse(form) if name) for form in forms}


@pytest.mark.requirement("WEB-3")
@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_there_in_every_language_with_the_same_places(language: str) -> None:
    own, english = catalogue(language), catalogue(DEFAULT)
    assert own.keys() == english.keys()
    for key, text in english.items():
        assert type(own[key]) is type(text), key
        assert frozenset().union(*places(own[key])) == frozenset().union(*places(text)), key
        if isinstance(text, dict):
            assert own[key].keys() == {"one", "other"}, key


def templates() -> list[Path]:
    return sorted(TEMPLATES.rglob("*.html"))


@pytest.mark.requirement("WEB-3")
def test_templates_and_handlers_ask_for_texts_that_there_are() -> None:
    known = catalogue(DEFAULT)
    for path in [*templates(), *FOLDER.parent.rglob("*.py")]:
        for key, end in _CALL.findall(path.read_text()):
            if end == "~":  # put together with a value: there has to be some text that begins so
                assert any(each.startswith(key) for each in known), f"{path.name}: {key}"
            else:
                assert key in known, f"{path.name}: {key}"


@pytest.mark.requirement("WEB-3")
def test_no_template_holds_a_text_of_its_own() -> None:
    for path in templates():
        bare = _NOT_TEXT.sub(" ", path.read_text())
        words = set(re.findall(r"[^\W\d_]{2,}", bare)) - _SAME_EVERYWHERE
        assert not words, f"{path.name}: {words}"


@pytest.mark.requirement("WEB-6")
def test_what_comes_from_others_is_what_the_lock_says() -> None:
    vendor = assets.FOLDER / "vendor"
    lock = json.loads((vendor / "vendor.lock").read_text())
    assert {each["file"] for each in lock} == {path.name for path in vendor.iterdir()} - {"vendor.lock"}
    for each in lock:
        assert hashlib.sha256((vendor / each["file"]).read_bytes()).hexdigest() == each["sha256"], each["file"]
        assert each["version"]
        assert each["licence"]
