"""Kotlin: classes, objects, interfaces, enums, functions and methods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from ovillo.code.languages.language import Language, files_of_class
from ovillo.code.languages.walker import Handler, Next, Scope, Walker, child_of_type, field, receiver_of, text, tidy
from ovillo.code.module_files import ModuleFiles
from ovillo.model.code import CodeImport, SymbolKind
from ovillo.model.extras import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAINS = frozenset({"identifier", "navigation_expression", "this_expression", "super_expression"})
_CLOSED = frozenset({"private", "protected", "internal"})


class KotlinWalker(Walker):
    def class_(self, node: Node, scope: Scope) -> Next:
        words = text(child_of_type(node, "modifiers")).split()
        kind, word = SymbolKind.CLASS, "class"
        if child_of_type(node, "interface") is not None:
            kind, word = SymbolKind.INTERFACE, "interface"
        elif "enum" in words:
            kind, word = SymbolKind.ENUM, "enum class"
        return self._container(node, scope, kind, word, text(field(node, "name") or child_of_type(node, "identifier")))

    def object_(self, node: Node, scope: Scope) -> Next:
        name = text(field(node, "name") or child_of_type(node, "identifier"))
        return self._container(node, scope, SymbolKind.CLASS, "object", name or "Companion")

    def _container(self, node: Node, scope: Scope, kind: SymbolKind, word: str, name: str) -> Next:
        listed = child_of_type(node, "delegation_specifiers")
        bases = [tidy(text(x)).partition("(")[0] for x in listed.named_children] if listed is not None else []
        is_open = self._open(node, scope, name)
        inner = self.define(
            node,
            scope,
            kind,
            name,
            signature=f"{word} {name}{tidy(text(child_of_type(node, 'primary_constructor')))}"
            + (f" : {', '.join(bases)}" if bases else ""),
            bases=[base.partition("<")[0] for base in bases],
            is_exported=is_open,
        )
        return [(x, inner) for x in node.named_children if x.type.endswith("_body")]

    def function(self, node: Node, scope: Scope) -> Next:
        name = text(field(node, "name") or child_of_type(node, "identifier"))
        parameters = child_of_type(node, "function_value_parameters")
        after = [] if parameters is None else [x for x in node.named_children if x.start_byte > parameters.end_byte]
        returns = next((x for x in after if x.type.endswith("type")), None)
        holder = next(
            (
                x
                for x in node.named_children
                if x.type == "user_type" and parameters and x.end_byte < parameters.start_byte
            ),
            None,
        )
        inner = self.define(
            node,
            scope,
            SymbolKind.METHOD if scope.is_class else SymbolKind.FUNCTION,
            name,
            signature=(f"{text(holder)}." if holder is not None else "")
            + f"{name}{tidy(text(parameters))}"
            + (f": {text(returns)}" if returns is not None else ""),
            is_exported=self._open(node, scope, name),
            is_test=any(x.endswith("Test") for x in text(child_of_type(node, "modifiers")).split() if x[:1] == "@"),
        )
        return [(x, inner) for x in node.named_children if x.type == "function_body"]

    def alias(self, node: Node, scope: Scope) -> Next:
        name = text(field(node, "type") or child_of_type(node, "identifier", "type_identifier"))
        self.define(
            node,
            scope,
            SymbolKind.TYPE,
            name,
            signature=tidy(text(node)),
            is_exported=self._open(node, scope, name),
        )
        return ()

    def constructor(self, node: Node, scope: Scope) -> Next:
        inner = self.define(
            node,
            scope,
            SymbolKind.METHOD,
            "constructor",
            signature=f"constructor{tidy(text(child_of_type(node, 'function_value_parameters')))}",
            is_exported=_CLOSED.isdisjoint(text(child_of_type(node, "modifiers")).split()),
        )
        return [(x, inner) for x in node.named_children if x.type != "function_value_parameters"]

    def call_(self, node: Node, scope: Scope) -> Next:
        function = node.named_children[0] if node.named_child_count else None
        if function is None:
            return None
        if function.type == "identifier":
            self.call(node, scope, text(function))
        elif function.type == "navigation_expression" and function.named_child_count > 1:
            *_, last = function.named_children
            self.call(node, scope, text(last), receiver_of(function.named_children[0], _CHAINS))
        return None

    def import_(self, node: Node, scope: Scope) -> Next:
        names = node.named_children
        path = text(names[0]) if names else ""
        module, _, name = path.rpartition(".")
        here = text(names[1]) if len(names) > 1 else name
        if text(node).rstrip().endswith("*"):
            module, name, here = path, "*", "*"
        self.imports.append(CodeImport(module or path, ((name, here),), node.start_point[0] + 1))
        return ()

    def _open(self, node: Node, scope: Scope, name: str) -> bool:
        is_open = _CLOSED.isdisjoint(text(child_of_type(node, "modifiers")).split())
        if is_open and scope.index < 0:
            self.exports[name] = None
        return is_open

    handlers: ClassVar[Mapping[str, Handler]] = {
        "class_declaration": class_,
        "object_declaration": object_,
        "companion_object": object_,
        "function_declaration": function,
        "type_alias": alias,
        "secondary_constructor": constructor,
        "call_expression": call_,
        "import": import_,
    }
    comments: ClassVar[frozenset[str]] = frozenset({"line_comment", "block_comment"})


class KotlinLanguage(Language):
    name = "kotlin"
    extensions = (".kt", ".kts")
    grammar = ("tree_sitter_kotlin", "language")
    extra = LANGUAGES
    walker = KotlinWalker
    test_files = re.compile(r"(?:Test|Tests|IT|Spec)\.kts?$")
    filled_folders = frozenset({".gradle"})
    sees_other_files = True
    spreads_types = True
    has_implicit_self = True
    self_words = frozenset({"this", "super"})
    above_words = frozenset({"super"})
    constructors = frozenset({"constructor"})

    def files_of(self, files: ModuleFiles, importer: str, item: CodeImport) -> list[str]:
        return files_of_class(files, importer, item, ".kt")


KOTLIN = KotlinLanguage()
