"""Facts about source code: symbols, calls, imports, the words of bodies, files and roots. Never a body of code itself.

Owns the shapes that walkers make, stores keep and services give; standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from ovillo.model.dataclass import dataclass


class SymbolKind(StrEnum):
    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    TRAIT = "trait"
    TYPE = "type"
    NAMESPACE = "namespace"
    #: A test that has a sentence instead of a name: ``it("refunds a payment", ...)``.
    TEST = "test"


#: What can hold methods.
CLASS_KINDS = frozenset(
    (SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM, SymbolKind.TRAIT, SymbolKind.TYPE)
)
#: What runs.
FUNCTION_KINDS = frozenset((SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TEST))


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """One definition as a walker saw it. Lines count from 1, both ends included."""

    kind: SymbolKind
    name: str
    #: Names of what it stands in and its own, with dots: ``PaymentProcessor.refund``.
    qualified_name: str
    start_line: int
    end_line: int
    #: ``refund(payment_id: str) -> Result``; classes have their head.
    signature: str = ""
    #: First sentence or paragraph of its documentation.
    doc: str = ""
    #: Qualified name of what it stands in.
    parent: str | None = None
    bases: tuple[str, ...] = ()
    is_exported: bool = False
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class CodeCall:
    """``receiver.name(...)`` at ``line``; ``caller`` is the place of the calling symbol in the file's list, -1 for
    code outside of any."""

    caller: int
    name: str
    receiver: str | None
    line: int
    #: What the file says the receiver is: the name of a type (``Card``), of what made it (``make_card()``), or nothing
    #: (empty) for a local value of which it says nothing. ``None``: the name is bound nowhere around.
    receiver_type: str | None = None


@dataclass(frozen=True, slots=True)
class CodeImport:
    """``module`` as it is written; ``names`` are (name there, name here), empty when the module itself is taken;
    ``alias`` is what the module is called here."""

    module: str
    names: tuple[tuple[str, str], ...] = ()
    line: int = 0
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class CodeBody:
    """Which words stand in a definition, or in lines outside of any: terms, each once, in no order. ``symbol`` is the place of
    the definition in the file's list, -1 for lines outside of any; words of what is defined inside of it are not its own."""

    symbol: int
    first: int
    last: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class CodeFile:
    """What is kept of one file. ``skipped`` says why nothing was read of it (binary, minified, too large ...);
    ``error`` says what of it could not be understood. A file of no ``language`` is documentation, configuration, a script:
    only the words in it are kept."""

    path: str
    language: str
    size: int
    mtime_ns: int
    digest: bytes
    lines: int = 0
    symbols: tuple[CodeSymbol, ...] = ()
    calls: tuple[CodeCall, ...] = ()
    imports: tuple[CodeImport, ...] = ()
    exports: tuple[str, ...] = ()
    tickets: tuple[str, ...] = ()
    is_test: bool = False
    error: str | None = None
    skipped: str | None = None
    bodies: tuple[CodeBody, ...] = ()


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What version control knows of a file: last commit, its time (ms), ticket ids in its commits."""

    commit: str
    committed_at: int
    tickets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeRoot:
    """An indexed folder. ``facts`` are small notes of the scanner (last commit seen, say)."""

    path: str
    indexed_at: int | None = None
    files: int = 0
    symbols: int = 0
    skipped: int = 0
    errors: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """One stored definition. ``id`` grows and is never used again: a file that changed brings new ids."""

    id: int
    root: str
    #: Relative to the root, with ``/``.
    file: str
    language: str
    kind: SymbolKind
    name: str
    qualified_name: str
    signature: str
    doc: str
    start_line: int
    end_line: int
    parent: str | None
    bases: tuple[str, ...]
    is_exported: bool
    is_test: bool


@dataclass(frozen=True, slots=True)
class BodyRow:
    """Where one stored body stood when its file was read; ``symbol`` is the id of its definition, if it is one's."""

    id: int
    file: str
    symbol: int | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """One stored call; ``caller`` is the id of the calling symbol, ``None`` for code outside of any."""

    caller: int | None
    root: str
    file: str
    name: str
    receiver: str | None
    line: int
    receiver_type: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """One stored file without its symbols. ``mtime_ms`` is the file's own time, ``history`` what git knows of it."""

    root: str
    path: str
    language: str
    size: int
    lines: int
    mtime_ms: int
    imports: tuple[CodeImport, ...]
    exports: tuple[str, ...]
    tickets: tuple[str, ...]
    is_test: bool
    error: str | None
    skipped: str | None
    history: FileHistory | None
