"""Languages that are read, and the registry of them.

Owns the list. Adding a language is one source file with its walker and its rules, its tests, and one line here, beside the
pinned wheel of its grammar; other packages add theirs through the entry point group ``ovillo.languages``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ovillo.code.languages.language import Language
from ovillo.model.plugins import added

#: Name -> ``module:language``. A grammar is loaded when the first file of its language is read.
_BUILT_IN = {
    "python": "ovillo.code.languages.python:PYTHON",
    "javascript": "ovillo.code.languages.javascript:JAVASCRIPT",
    "typescript": "ovillo.code.languages.typescript:TYPESCRIPT",
    "tsx": "ovillo.code.languages.typescript:TSX",
    "go": "ovillo.code.languages.go:GO",
    "rust": "ovillo.code.languages.rust:RUST",
    "java": "ovillo.code.languages.java:JAVA",
    "c": "ovillo.code.languages.c:C",
    "cpp": "ovillo.code.languages.c:CPP",
    "csharp": "ovillo.code.languages.csharp:CSHARP",
    "ruby": "ovillo.code.languages.ruby:RUBY",
    "php": "ovillo.code.languages.php:PHP",
    "kotlin": "ovillo.code.languages.kotlin:KOTLIN",
}


@cache
def all_languages() -> tuple[Language, ...]:
    """Every language, built-in ones first."""
    return tuple(language_named(name) for name in (*_BUILT_IN, *added("ovillo.languages")))


def language_of(path: str) -> Language | None:
    """By the ending of the file's name."""
    dot = path.rfind(".")
    return _by_extension().get(path[dot:].lower()) if dot >= 0 else None


@cache
def language_named(name: str) -> Language:
    """For a name that nobody registered (any more), a language of which nothing is known."""
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        found = getattr(import_module(module), attribute)
    else:
        point = added("ovillo.languages").get(name)
        found = point.load() if point is not None else None
    return found if isinstance(found, Language) else Language(name)


def filled_folders() -> frozenset[str]:
    """Names of folders that the tools of any language fill by themselves."""
    return frozenset().union(*(language.filled_folders for language in all_languages()))


@cache
def _by_extension() -> dict[str, Language]:
    return {extension: language for language in all_languages() for extension in language.extensions}
