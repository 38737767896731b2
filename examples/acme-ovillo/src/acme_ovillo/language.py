"""Starlark, which is written like Python: its grammar and its walker are Python's, its files and imports are not."""

from __future__ import annotations

import re

from ovillo.code.languages.language import Language
from ovillo.code.languages.python_walker import PythonWalker


class Starlark(Language):
    name = "starlark"
    extensions = (".bzl", ".star")
    grammar = ("tree_sitter_python", "language")
    walker = PythonWalker
    test_files = re.compile(r"_test\.(?:bzl|star)$")


STARLARK = Starlark()
