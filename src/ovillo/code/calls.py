"""Who calls whom: calls are stored by name and resolved here, when somebody asks.

Owns the rules by which a name at a place means a definition. A rule that had to guess says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ovillo.code.modules import ModuleNames
from ovillo.model.code import CLASS_KINDS, FUNCTION_KINDS, CallRow, CodeImport, ModuleRow, SymbolKind, SymbolRow
from ovillo.model.records import Namespace
from ovillo.store.protocol import Store

_SELF = frozenset({"self", "this", "cls", "super", "super()", "base", "static", "parent", "Self"})
#: Definitions of one name that are looked at; a name with more means nothing without its receiver.
_MAX_CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Resolved:
    """``rule``: ``scope`` (same class or file), ``import``, ``receiver`` (the class it is called on), ``only`` (the one
    definition of that name), or ``name`` (several could be meant: all are given)."""

    targets: tuple[SymbolRow, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Caller:
    """A place that calls something; ``symbol`` is the definition it stands in, ``None`` outside of any."""

    symbol: SymbolRow | None
    root: str
    file: str
    line: int
    receiver: str | None
    rule: str


class CallGraph:
    """One question's view of one root: what it looked up it keeps, and it is thrown away after."""

    def __init__(self, store: Store, namespace: Namespace, root: str) -> None:
        self._store = store
        self._namespace = namespace
        self._root = root
        self._named: dict[str, list[SymbolRow]] = {}

    @cached_property
    def _modules(self) -> dict[str, ModuleRow]:
        return {row.path: row for row in self._store.modules(self._namespace, self._root)}

    @cached_property
    def _names(self) -> ModuleNames:
        return ModuleNames(list(self._modules.values()))

    def callers(self, symbol: SymbolRow) -> list[Caller]:
        """Places that call ``symbol``, by file and line; those that may mean another of its name have the rule ``name``."""
        name = symbol.name
        calls = self._store.calls_named(self._namespace, self._call_name(symbol), root=self._root)
        aliases = self._aliases(symbol) if symbol.parent is None else set()
        for alias in aliases - {name}:
            calls += self._store.calls_named(self._namespace, alias, root=self._root)
        holders = self._holders(calls)
        found = []
        for call in calls:
            holder = holders.get(call.caller) if call.caller is not None else None
            resolved = self._resolve(call, holder, symbol.name if call.name != symbol.name else None)
            if any(target.id == symbol.id for target in resolved.targets):
                found.append(Caller(holder, call.root, call.file, call.line, call.receiver, resolved.rule))
        return sorted(found, key=lambda caller: (caller.file, caller.line))

    def callees(self, symbol: SymbolRow) -> list[tuple[CallRow, Resolved]]:
        """What ``symbol`` calls, in its order, each name once; names from elsewhere have no targets."""
        seen: dict[tuple[str, str | None], tuple[CallRow, Resolved]] = {}
        for call in self._store.calls_from(self._namespace, [symbol.id]):
            if (call.name, call.receiver) not in seen:
                seen[call.name, call.receiver] = (call, self._resolve(call, symbol, None))
        return list(seen.values())

    def tests_of(self, symbol: SymbolRow) -> list[SymbolRow]:
        """Tests that call it, themselves or through a function beside them."""
        found: dict[int, SymbolRow] = {}
        between: list[SymbolRow] = []
        for caller in self.callers(symbol):
            holder = self._test_around(caller.symbol)
            if holder is not None:
                found[holder.id] = holder
            elif caller.symbol is not None and self._is_test_file(caller.file):
                between.append(caller.symbol)
        for one in between[:20]:
            for caller in self.callers(one):
                holder = self._test_around(caller.symbol)
                if holder is not None:
                    found[holder.id] = holder
        return sorted(found.values(), key=lambda row: (row.file, row.start_line))

    def exercised_by(self, test: SymbolRow) -> list[SymbolRow]:
        """Definitions outside of tests that a test calls for certain."""
        found: dict[int, SymbolRow] = {}
        for _, resolved in self.callees(test):
            if resolved.rule != "name":
                found.update({x.id: x for x in resolved.targets if not self._is_test_file(x.file)})
        return list(found.values())

    # --- resolving

    def _resolve(self, call: CallRow, holder: SymbolRow | None, meant: str | None) -> Resolved:
        """``meant`` is the name there when the call uses another for it."""
        candidates = self._candidates(meant or call.name)
        if not candidates:
            return Resolved((), "none")
        if call.receiver is None:
            return self._plain(call, holder, candidates)
        return self._on_receiver(call, holder, candidates)

    def _plain(self, call: CallRow, holder: SymbolRow | None, candidates: list[SymbolRow]) -> Resolved:
        here = [x for x in candidates if x.file == call.file]
        inside = [x for x in here if holder is not None and x.parent == holder.qualified_name]
        if inside:
            return Resolved(tuple(inside), "scope")
        implicit = self._language(call.file) in ("java", "kotlin", "csharp", "cpp", "ruby", "php")
        if implicit and holder is not None and holder.parent:
            own = [x for x in candidates if x.kind is SymbolKind.METHOD and x.parent == holder.parent]
            if own:
                return Resolved(tuple(own), "scope")
        top = [x for x in here if x.kind is not SymbolKind.METHOD]
        if top:
            return Resolved(tuple(top), "scope")
        files = self._imported(call.file, call.name)
        imported = [x for x in candidates if x.file in files and x.parent is None]
        if imported:
            return Resolved(tuple(imported), "import")
        beside = [x for x in candidates if x.kind is not SymbolKind.METHOD]
        if self._language(call.file) in ("go", "java", "kotlin", "csharp", "c", "cpp", "ruby", "php"):
            folder = call.file.rpartition("/")[0]
            near = [x for x in beside if x.file.rpartition("/")[0] == folder]
            if near:
                return Resolved(tuple(near), "scope")
        return self._by_name(call, beside, certain=not implicit)

    def _on_receiver(self, call: CallRow, holder: SymbolRow | None, candidates: list[SymbolRow]) -> Resolved:
        receiver = call.receiver or ""
        if receiver in _SELF and holder is not None:
            owners = self._owners(holder)
            own = [
                x for owner in owners for x in candidates if x.parent == owner.qualified_name and x.file == owner.file
            ]
            if own:
                wanted = own[0] if not receiver.startswith(("super", "base", "parent")) else own[-1]
                return Resolved((wanted,), "scope")
            return self._by_name(call, [x for x in candidates if x.kind is SymbolKind.METHOD], certain=False)
        last = receiver.rpartition(".")[2].rstrip("()")
        owned = [x for x in candidates if x.parent is not None and x.parent.rpartition(".")[2] == last]
        if owned:
            return Resolved(tuple(self._nearest(call, owned)), "receiver")
        files = self._imported(call.file, receiver) or self._imported(call.file, receiver.partition(".")[0])
        imported = [x for x in candidates if x.file in files and x.parent is None]
        if imported:
            return Resolved(tuple(imported), "import")
        if files and not receiver.endswith(")"):
            return Resolved((), "none")
        return self._by_name(call, [x for x in candidates if x.kind in (*FUNCTION_KINDS, *CLASS_KINDS)], certain=False)

    def _by_name(self, call: CallRow, candidates: list[SymbolRow], *, certain: bool) -> Resolved:
        """``certain`` where a name means one thing in a file; a method's name alone stays a guess unless it is unique."""
        same = [x for x in candidates if _family(x.language) == _family(self._language(call.file))]
        if not same or (certain and self._is_foreign(call)):
            return Resolved((), "none")
        if len(same) == 1:
            return Resolved(tuple(same), "only")
        return Resolved(tuple(same), "name")

    def _is_foreign(self, call: CallRow) -> bool:
        """Whether the name was imported from a package that is not part of the folder."""
        row = self._modules.get(call.file)
        if row is None:
            return False
        return any(here == call.name for item in row.imports for _, here in item.names)

    def _imported(self, file: str, name: str) -> set[str]:
        """Files that ``name`` was imported from, or that it stands for."""
        row = self._modules.get(file)
        found: set[str] = set()
        for item in row.imports if row is not None else ():
            if _binds(item, name, row.language if row is not None else ""):
                found.update(self._names.files_of(file, self._language(file), item))
        return found | self._passed_on(found, name)

    def _passed_on(self, files: set[str], name: str) -> set[str]:
        """A package hands on what its own modules define; followed for a few steps."""
        found: set[str] = set()
        waiting = list(files)
        for _ in range(20):
            if not waiting:
                break
            row = self._modules.get(waiting.pop())
            for item in row.imports if row is not None else ():
                if any(here in (name, "*") for _, here in item.names):
                    new = set(self._names.files_of(row.path, row.language, item)) - found - files if row else set()
                    found |= new
                    waiting += new
        return found

    def _owners(self, holder: SymbolRow) -> list[SymbolRow]:
        """The class around a method, then its bases, as far as they are known."""
        parent, rows = holder, []
        while parent.parent is not None:
            around = [
                x
                for x in self._candidates(parent.parent.rpartition(".")[2])
                if x.qualified_name == parent.parent and (x.file == parent.file or x.kind in CLASS_KINDS)
            ]
            if not around:
                break
            parent = next((x for x in around if x.file == parent.file), around[0])
            if parent.kind in CLASS_KINDS:
                rows.append(parent)
                break
        position = 0
        while position < len(rows) < 30:
            for base in rows[position].bases:
                name = base.partition("[")[0].partition("<")[0].rpartition(".")[2].rpartition("::")[2]
                rows += [x for x in self._candidates(name) if x.kind in CLASS_KINDS and x not in rows][:3]
            position += 1
        return rows

    def _candidates(self, name: str) -> list[SymbolRow]:
        if name not in self._named:
            rows = self._store.symbols_named(self._namespace, name, root=self._root, limit=_MAX_CANDIDATES)
            self._named[name] = [x for x in rows if x.kind not in (SymbolKind.TEST, SymbolKind.NAMESPACE)]
        return self._named[name]

    def _nearest(self, call: CallRow, rows: Sequence[SymbolRow]) -> list[SymbolRow]:
        here = [x for x in rows if x.file == call.file]
        if here:
            return here
        files = {file for x in rows if x.parent for file in self._imported(call.file, x.parent.rpartition(".")[2])}
        return [x for x in rows if x.file in files] or list(rows)

    def _aliases(self, symbol: SymbolRow) -> set[str]:
        """Other names under which files import it."""
        return {
            here
            for row in self._modules.values()
            for item in row.imports
            for there, here in item.names
            if there == symbol.name and here not in (there, "*")
        }

    def _call_name(self, symbol: SymbolRow) -> str:
        """A constructor is called by the name of its class."""
        is_constructor = symbol.kind is SymbolKind.METHOD and symbol.name in ("__init__", "constructor", "initialize")
        return symbol.parent.rpartition(".")[2] if is_constructor and symbol.parent else symbol.name

    def _holders(self, calls: Sequence[CallRow]) -> dict[int, SymbolRow]:
        ids = sorted({call.caller for call in calls if call.caller is not None})
        return {row.id: row for row in self._store.symbols_by_id(self._namespace, ids)}

    def _test_around(self, symbol: SymbolRow | None) -> SymbolRow | None:
        """The test that a place stands in, seen from the innermost definition."""
        if symbol is None or symbol.is_test:
            return symbol
        if symbol.parent is None or not self._is_test_file(symbol.file):
            return None
        rows = self._store.symbols_of_file(self._namespace, symbol.root, symbol.file)
        around = [x for x in rows if x.is_test and x.start_line <= symbol.start_line and symbol.end_line <= x.end_line]
        around = [x for x in around if x.kind in FUNCTION_KINDS]
        return around[-1] if around else None

    def _is_test_file(self, path: str) -> bool:
        row = self._modules.get(path)
        return row is not None and row.is_test

    def _language(self, path: str) -> str:
        row = self._modules.get(path)
        return row.language if row is not None else ""


def _binds(item: CodeImport, name: str, language: str) -> bool:
    if any(here in (name, "*") for _, here in item.names):
        return True
    if item.names:
        return False
    last = item.module.replace("::", ".").rpartition("/" if language == "go" else ".")[2]
    return name in (item.alias, item.module) or (item.alias is None and name == last)


def _family(language: str) -> str:
    return {"tsx": "ecma", "typescript": "ecma", "javascript": "ecma", "c": "c", "cpp": "c"}.get(language, language)


def by_file(callers: Sequence[Caller]) -> list[tuple[str, list[Caller]]]:
    return [(file, list(some)) for file, some in groupby(callers, key=lambda caller: caller.file)]
