"""Java: classes, records, interfaces, enums, their methods and constructors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from ovillo.code.languages.language import Language, files_of_class, type_before_name
from ovillo.code.languages.walker import Handler, Next, Scope, Walker, child_of_type, field, receiver_of, text, tidy
from ovillo.code.module_files import ModuleFiles
from ovillo.model.code import CodeImport, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAINS = frozenset({"identifier", "field_access", "this", "super", "scoped_identifier"})
_KINDS = {
    "class_declaration": (SymbolKind.CLASS, "class"),
    "record_declaration": (SymbolKind.CLASS, "record"),
    "interface_declaration": (SymbolKind.INTERFACE, "interface"),
    "annotation_type_declaration": (SymbolKind.INTERFACE, "@interface"),
    "enum_declaration": (SymbolKind.ENUM, "enum"),
}
_TESTS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"})


class JavaWalker(Walker):
    def type_(self, node: Node, scope: Scope) -> Next:
        kind, word = _KINDS[node.type]
        name = text(field(node, "name"))
        is_open = self._open(node, scope)
        if is_open and scope.index < 0:
            self.exports[name] = None
        bases = [
            text(x)
            for part in node.children
            if part.type in ("superclass", "super_interfaces", "extends_interfaces")
            for found in part.named_children
            for x in (found.named_children if found.type == "type_list" else [found])
        ]
        given = text(field(node, "type_parameters")) + tidy(text(field(node, "parameters")))
        inner = self.define(
            node,
            scope,
            kind,
            name,
            signature=f"{word} {name}{given}" + (f" : {', '.join(bases)}" if bases else ""),
            bases=[base.partition("<")[0] for base in bases],
            is_exported=is_open,
        )
        body = field(node, "body")
        return [(body, inner)] if body is not None else ()

    def method(self, node: Node, scope: Scope) -> Next:
        name, made = text(field(node, "name")), text(field(node, "type"))
        given = f"{name}{text(field(node, 'type_parameters'))}{tidy(text(field(node, 'parameters')))}"
        inner = self.define(
            node,
            scope,
            SymbolKind.METHOD,
            name,
            signature=f"{tidy(made)} {given}" if made else given,
            is_exported=self._open(node, scope),
            is_test=not _TESTS.isdisjoint(_annotations(node)),
        )
        body = field(node, "body")
        return [(body, inner)] if body is not None else ()

    def call_(self, node: Node, scope: Scope) -> Next:
        self.call(node, scope, text(field(node, "name")), receiver_of(field(node, "object"), _CHAINS))
        return None

    def creation(self, node: Node, scope: Scope) -> Next:
        self.call(node, scope, text(field(node, "type")).partition("<")[0].rpartition(".")[2])
        return None

    def import_(self, node: Node, scope: Scope) -> Next:
        path = text(child_of_type(node, "scoped_identifier", "identifier"))
        if child_of_type(node, "asterisk"):
            self.imports.append(CodeImport(path, (("*", "*"),), node.start_point[0] + 1))
        else:
            module, _, name = path.rpartition(".")
            self.imports.append(CodeImport(module or path, ((name, name),), node.start_point[0] + 1))
        return ()

    def _open(self, node: Node, scope: Scope) -> bool:
        words = text(child_of_type(node, "modifiers")).split()
        return "public" in words or (scope.kind is SymbolKind.INTERFACE and "private" not in words)

    handlers: ClassVar[Mapping[str, Handler]] = {
        **dict.fromkeys(_KINDS, type_),
        "method_declaration": method,
        "constructor_declaration": method,
        "compact_constructor_declaration": method,
        "annotation_type_element_declaration": method,
        "method_invocation": call_,
        "object_creation_expression": creation,
        "import_declaration": import_,
    }
    comments: ClassVar[frozenset[str]] = frozenset({"line_comment", "block_comment"})


def _annotations(node: Node) -> list[str]:
    modifiers = child_of_type(node, "modifiers")
    found = [x for x in modifiers.named_children if x.type.endswith("annotation")] if modifiers is not None else []
    return [text(field(x, "name")).rpartition(".")[2] for x in found]


class JavaLanguage(Language):
    name = "java"
    extensions = (".java",)
    grammar = ("tree_sitter_java", "language")
    walker = JavaWalker
    test_files = re.compile(r"(?:Test|Tests|IT|Spec)\.java$|^Test\w*\.java$")
    filled_folders = frozenset({".gradle"})
    sees_other_files = True
    has_implicit_self = True
    self_words = frozenset({"this", "super"})
    above_words = frozenset({"super"})

    def files_of(self, files: ModuleFiles, importer: str, item: CodeImport) -> list[str]:
        return files_of_class(files, importer, item, ".java")

    def returned_type(self, name: str, signature: str) -> str:
        return type_before_name(name, signature)


JAVA = JavaLanguage()
