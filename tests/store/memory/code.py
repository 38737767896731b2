"""The code index and vectors of symbols: files as walkers made them, by root."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ovillo.model.code import BodyRow, CallRow, CodeFile, CodeRoot, FileHistory, ModuleRow, SymbolRow
from ovillo.model.errors import NotFound
from ovillo.model.records import Namespace
from ovillo.store.forms import Row
from ovillo.store.protocol import FileStamp
from tests.store.memory.state import IndexedFile, IndexedRoot
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Code(SubStore):
    def put_root(
        self, namespace: Namespace, root: str, *, indexed_at: int | None = None, facts: Mapping[str, str] | None = None
    ) -> None:
        with self._state.writing_to(namespace) as space:
            known = space.code.setdefault(root, IndexedRoot())
            known.indexed_at = known.indexed_at if indexed_at is None else indexed_at
            known.facts = known.facts if facts is None else dict(facts)

    def remove_root(self, namespace: Namespace, root: str) -> bool:
        with self._state.writing_to(namespace) as space:
            space.code_revision += root in space.code
            return space.code.pop(root, None) is not None

    def roots(self, namespace: Namespace) -> list[CodeRoot]:
        return [_root(path, root) for path, root in sorted(self._state.space(namespace).code.items())]

    def root_paths(self, namespace: Namespace) -> list[str]:
        return sorted(self._state.space(namespace).code)

    def stamps(self, namespace: Namespace, root: str, paths: Sequence[str] | None = None) -> dict[str, FileStamp]:
        return {
            each.file.path: (each.file.size, each.file.mtime_ns, each.file.digest)
            for _, each in self._files(namespace, root)
            if paths is None or each.file.path in paths
        }

    def put_files(
        self,
        namespace: Namespace,
        root: str,
        files: Sequence[CodeFile],
        *,
        removed: Sequence[str] = (),
        restamped: Mapping[str, FileStamp] | None = None,
        at: int,
    ) -> None:
        with self._state.writing_to(namespace) as space:
            if root not in space.code:
                raise NotFound(f"The folder {root!r} is not indexed.", hint="Index it first: ovillo code index DIR.")
            known = space.code[root].files
            for path in removed:
                known.pop(path, None)
            for file in map(stored, files):
                before = known.get(file.path)
                symbol_ids = tuple(self._state.number() for _ in file.symbols)
                body_ids = tuple(self._state.number() for _ in file.bodies)
                known[file.path] = IndexedFile(file, symbol_ids, body_ids, before.history if before else None)
            for path, (size, mtime_ns, digest) in (restamped or {}).items():
                if each := known.get(path):
                    known[path] = replace(each, file=replace(each.file, size=size, mtime_ns=mtime_ns, digest=digest))
            if files or removed:
                space.code_revision += 1
                space.log("code", [root], at)

    def put_history(self, namespace: Namespace, root: str, history: Mapping[str, FileHistory]) -> None:
        with self._state.writing_to(namespace) as space:
            files = space.code[root].files if root in space.code else {}
            for path, found in history.items():
                if each := files.get(path):
                    tickets = {*found.tickets, *(each.history.tickets if each.history else ())}
                    files[path] = replace(each, history=replace(found, tickets=tuple(sorted(tickets))))
            space.code_revision += bool(files and history)

    # --- reading

    def symbols(
        self, namespace: Namespace, root: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> list[SymbolRow]:
        found = [symbol for symbol in self._symbols(namespace, root) if symbol.id > after]
        return sorted(found, key=lambda symbol: symbol.id)[:limit]

    def symbols_by_id(self, namespace: Namespace, ids: Sequence[int]) -> list[SymbolRow]:
        return [symbol for symbol in self.symbols(namespace) if symbol.id in ids]

    def symbols_named(
        self,
        namespace: Namespace,
        name: str,
        *,
        root: str | None = None,
        is_prefix: bool = False,
        any_case: bool = False,
        limit: int = 200,
    ) -> list[SymbolRow]:
        def is_named(own: str) -> bool:
            if is_prefix:
                return own.lower().startswith(name.lower())
            return own == name or (any_case and own.lower() == name.lower())

        found = [symbol for symbol in self._symbols(namespace, root) if is_named(symbol.name)]
        return sorted(found, key=lambda x: (len(x.name), x.root, x.file, x.start_line))[:limit]

    def symbols_of_file(self, namespace: Namespace, root: str, file: str) -> list[SymbolRow]:
        return [symbol for symbol in self._symbols(namespace, root) if symbol.file == file]

    def calls_named(
        self, namespace: Namespace, name: str, *, root: str | None = None, limit: int = 10_000
    ) -> list[CallRow]:
        found = [call for call in self._calls(namespace, root) if call.name == name]
        return sorted(found, key=lambda call: (call.root, call.file, call.line))[:limit]

    def calls_from(self, namespace: Namespace, symbol_ids: Sequence[int]) -> list[CallRow]:
        return [call for call in self._calls(namespace) if call.caller in symbol_ids]

    def call_names(self, namespace: Namespace, root: str) -> dict[int, tuple[str, ...]]:
        names: dict[int, tuple[str, ...]] = {}
        for call in self._calls(namespace, root):
            if call.caller is not None and call.name not in names.get(call.caller, ()):
                names[call.caller] = (*names.get(call.caller, ()), call.name)
        return names

    def calls_of_file(self, namespace: Namespace, root: str, file: str) -> list[CallRow]:
        return [call for call in self._calls(namespace, root) if call.file == file]

    def modules(self, namespace: Namespace, root: str | None = None, *, with_skipped: bool = False) -> list[ModuleRow]:
        rows = [_module(path, each) for path, each in self._files(namespace, root)]
        found = [row for row in rows if row.language and (with_skipped or row.skipped is None)]
        return sorted(found, key=lambda row: (row.root, row.path))

    def module(self, namespace: Namespace, root: str, path: str) -> ModuleRow | None:
        modules = self.modules(namespace, root, with_skipped=True)
        return next((row for row in modules if row.path == path), None)

    def module_paths(self, namespace: Namespace, root: str, ending: str, limit: int = 50) -> list[str]:
        paths = [each.file.path for _, each in self._files(namespace, root) if each.file.language]
        found = [path for path in paths if f"/{path}".endswith(f"/{ending}")]
        return sorted(found, key=lambda path: (len(path), path))[:limit]

    def bodies_holding(
        self, namespace: Namespace, root: str, terms: Collection[str], *, most: int
    ) -> Mapping[str, Sequence[int]]:
        held = {term: [row.id for row, said in self._bodies(namespace, root) if term in said] for term in terms}
        return {term: ids[:most] for term, ids in held.items() if ids}

    def bodies(
        self, namespace: Namespace, root: str, ids: Collection[int], *, symbols: Collection[int] = ()
    ) -> list[BodyRow]:
        rows = [row for row, _ in self._bodies(namespace, root) if row.id in ids or row.symbol in symbols]
        return sorted(rows, key=lambda row: row.id)

    def body_count(self, namespace: Namespace, root: str) -> int:
        return len(list(self._bodies(namespace, root)))

    def revision(self, namespace: Namespace) -> int:
        return self._state.space(namespace).code_revision

    def _files(self, namespace: Namespace, root: str | None = None) -> Iterator[tuple[str, IndexedFile]]:
        for path, known in self._state.space(namespace).code.items():
            if root in (None, path):
                for each in known.files.values():
                    yield path, each

    def _symbols(self, namespace: Namespace, root: str | None = None) -> Iterator[SymbolRow]:
        for path, each in self._files(namespace, root):
            for number, symbol in zip(each.symbol_ids, each.file.symbols, strict=True):
                yield SymbolRow(
                    *(number, path, each.file.path, each.file.language, symbol.kind, symbol.name),
                    *(symbol.qualified_name, symbol.signature, symbol.doc, symbol.start_line, symbol.end_line),
                    *(symbol.parent, symbol.bases, symbol.is_exported, symbol.is_test),
                )

    def _bodies(self, namespace: Namespace, root: str) -> Iterator[tuple[BodyRow, frozenset[str]]]:
        for _, each in self._files(namespace, root):
            for number, body in zip(each.body_ids, each.file.bodies, strict=True):
                symbol = None if body.symbol < 0 else each.symbol_ids[body.symbol]
                yield BodyRow(number, each.file.path, symbol, body.first, body.last), body.terms

    def _calls(self, namespace: Namespace, root: str | None = None) -> Iterator[CallRow]:
        for path, each in self._files(namespace, root):
            for call in each.file.calls:
                caller = None if call.caller < 0 else each.symbol_ids[call.caller]
                yield CallRow(caller, path, each.file.path, call.name, call.receiver, call.line, call.receiver_type)


class CodeVectors(SubStore):
    def known(self, namespace: Namespace, root: str, model: str) -> set[bytes]:
        return set(self._kept(namespace, root, model))

    def has_any(self, namespace: Namespace, root: str, model: str) -> bool:
        return bool(self._kept(namespace, root, model))

    def nearest(self, namespace: Namespace, root: str, model: str, vector: Row, limit: int) -> dict[bytes, float]:
        near = {meaning: float(row @ vector) for meaning, row in self._kept(namespace, root, model).items()}
        return dict(sorted(near.items(), key=lambda item: -item[1])[:limit])

    def _kept(self, namespace: Namespace, root: str, model: str) -> dict[bytes, Row]:
        known = self._state.space(namespace).code.get(root)
        return dict(known.vectors.get(model, {})) if known else {}

    def put(
        self,
        namespace: Namespace,
        root: str,
        model: str,
        vectors: Mapping[bytes, Row],
        gone: Collection[bytes] = (),
    ) -> None:
        with self._state.writing_to(namespace) as space:
            if known := space.code.get(root):
                kept = {**known.vectors.get(model, {}), **vectors}
                known.vectors[model] = {meaning: kept[meaning] for meaning in kept if meaning not in gone}


def _root(path: str, root: IndexedRoot) -> CodeRoot:
    files = [each.file for each in root.files.values()]
    return CodeRoot(
        path,
        root.indexed_at,
        files=sum(bool(file.language) and file.skipped is None for file in files),
        symbols=sum(len(file.symbols) for file in files),
        skipped=sum(file.skipped is not None for file in files),
        errors=sum(file.error is not None for file in files),
        facts=root.facts,
    )


def _module(root: str, each: IndexedFile) -> ModuleRow:
    file = each.file
    return ModuleRow(
        *(root, file.path, file.language, file.size, file.lines, file.mtime_ns // 1_000_000, file.imports),
        *(file.exports, file.tickets, file.is_test, file.error, file.skipped, each.history),
    )
