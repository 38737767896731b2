"""Languages that are read: which files, which grammar, which walker.

Owns the registry; adding a language is a module with a walker, a pinned grammar wheel and one line here. A grammar is
loaded when the first file of its language is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

    from ovillo.code.languages.walker import Walker


@dataclass(frozen=True, slots=True)
class Language:
    """``grammar`` is a module and its function, ``walker`` a module of this package and its class."""

    name: str
    extensions: tuple[str, ...]
    grammar: tuple[str, str]
    walker: tuple[str, str]

    def load(self) -> tuple[Grammar, type[Walker]]:
        """Raises ImportError where the grammar's wheel is not installed."""
        return _loaded(self)


LANGUAGES = (
    Language(
        "python", (".py", ".pyi", ".pyw", ".ipynb"), ("tree_sitter_python", "language"), ("python", "PythonWalker")
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        ("tree_sitter_javascript", "language"),
        ("javascript", "JavaScriptWalker"),
    ),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        ("tree_sitter_typescript", "language_typescript"),
        ("typescript", "TypeScriptWalker"),
    ),
    Language("tsx", (".tsx",), ("tree_sitter_typescript", "language_tsx"), ("typescript", "TypeScriptWalker")),
    Language("go", (".go",), ("tree_sitter_go", "language"), ("go", "GoWalker")),
    Language("rust", (".rs",), ("tree_sitter_rust", "language"), ("rust", "RustWalker")),
    Language("java", (".java",), ("tree_sitter_java", "language"), ("java", "JavaWalker")),
    Language("c", (".c", ".h"), ("tree_sitter_c", "language"), ("c", "CWalker")),
    Language(
        "cpp",
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp"),
        ("tree_sitter_cpp", "language"),
        ("c", "CppWalker"),
    ),
    Language("csharp", (".cs",), ("tree_sitter_c_sharp", "language"), ("csharp", "CSharpWalker")),
    Language("ruby", (".rb", ".rake"), ("tree_sitter_ruby", "language"), ("ruby", "RubyWalker")),
    Language("php", (".php", ".phtml"), ("tree_sitter_php", "language_php"), ("php", "PhpWalker")),
    Language("kotlin", (".kt", ".kts"), ("tree_sitter_kotlin", "language"), ("kotlin", "KotlinWalker")),
)

_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}
_BY_NAME = {language.name: language for language in LANGUAGES}


def language_of(path: str) -> Language | None:
    """By the ending of the file's name."""
    dot = path.rfind(".")
    return _BY_EXTENSION.get(path[dot:].lower()) if dot >= 0 else None


def language_named(name: str) -> Language:
    return _BY_NAME[name]


@cache
def _loaded(language: Language) -> tuple[Grammar, type[Walker]]:
    # start-up cost: only indexing pays for tree-sitter and for the grammars it meets
    from tree_sitter import Language as Grammar

    module, function = language.grammar
    grammar = Grammar(getattr(import_module(module), function)())
    home, walker = language.walker
    chosen: type[Walker] = getattr(import_module(f"{__name__}.{home}"), walker)
    return grammar, chosen
