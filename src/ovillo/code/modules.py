"""The graph of modules: which file imports which, what each exports, which tickets it belongs to.

Owns resolving what an import names to a file of the same folder; installed packages stay names.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ovillo.model.clock import to_iso
from ovillo.model.code import CodeImport, ModuleRow

_SCRIPTS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN_AS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_ECMA = frozenset({"javascript", "typescript", "tsx"})


@dataclass(frozen=True, slots=True)
class ModuleNode:
    """One file. ``imports`` are as written, ``imports_files`` and ``imported_by`` are files of the same folder."""

    path: str
    language: str
    imports: tuple[str, ...]
    imports_files: tuple[str, ...]
    imported_by: tuple[str, ...]
    exports: tuple[str, ...]
    related_features: tuple[str, ...]
    last_modified: str | None
    is_test: bool


class ModuleNames:
    """Files of one indexed folder by what an import may call them."""

    def __init__(self, modules: Sequence[ModuleRow]) -> None:
        self._paths = {row.path: row for row in modules}
        self._tails: dict[str, list[str]] = {}
        for path in sorted(self._paths, key=lambda x: (x.count("/"), x)):
            self._tails.setdefault(path.rpartition("/")[2], []).append(path)
        self._folders: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._folders.setdefault(_folder(path), []).append(path)
        self._packages = {"/".join(folder.split("/")[:2]) for folder in self._folders}
        root = modules[0].root if modules else ""
        folders = root.replace("\\", "/").rstrip("/").split("/")
        #: What scripts of the folder may call it by: its name, or of ``x/src`` the ``x``.
        self._own_names = {folders[-1], *(folders[-2:-1] if folders[-1] in ("src", "lib") else ())}
        #: Where the folder is a package itself, its modules call it by its name.
        self._own_name = (
            root.replace("\\", "/").rstrip("/").rpartition("/")[2] if "__init__.py" in self._paths else None
        )

    def row(self, path: str) -> ModuleRow | None:
        return self._paths.get(path)

    def files_of(self, importer: str, language: str, item: CodeImport) -> list[str]:
        """Files that an import takes something from; nothing for packages from elsewhere."""
        if language == "python":
            return self._python(importer, item)
        if language in _ECMA:
            return self._first(self._script(importer, item.module))
        if language in ("c", "cpp"):
            return self._first([_join(_folder(importer), item.module)]) or self._ending(importer, item.module)
        if language == "go":
            return self._folder_files(item.module, ".go")
        if language == "rust":
            return self._rust(importer, item)
        if language == "ruby":
            module = item.module.removesuffix(".rb") + ".rb"
            if module.startswith("."):
                return self._first([_join(_folder(importer), module)])
            return self._ending(importer, module)
        if language == "php" and item.module.startswith("./"):
            return self._first([_join(_folder(importer), item.module)]) or self._ending(importer, item.module[2:])
        return self._by_class(importer, item, {"java": ".java", "kotlin": ".kt", "php": ".php"}.get(language))

    def _python(self, importer: str, item: CodeImport) -> list[str]:
        dots = len(item.module) - len(item.module.lstrip("."))
        parts = [part for part in item.module[dots:].split(".") if part]
        if dots:
            base = _folder(importer)
            for _ in range(dots - 1):
                base = _folder(base)
            whole = "/".join([*([base] if base else ()), *parts])
            return self._python_at(whole, item, exactly=True, importer=importer)
        if parts and parts[0] == self._own_name:
            return self._python_at("/".join(parts[1:]), item, exactly=True, importer=importer)
        return self._python_at("/".join(parts), item, exactly=False, importer=importer) if parts else []

    def _python_at(self, path: str, item: CodeImport, *, exactly: bool, importer: str) -> list[str]:
        """``from a import b`` takes the module ``a.b`` where there is one, else ``a``."""

        def at(stem: str) -> list[str]:
            endings = [f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"] if stem else ["__init__.py"]
            if exactly:
                return self._first(endings)
            return next((found for ending in endings if (found := self._importable(importer, ending))), [])

        found: dict[str, None] = {}
        for name, _ in item.names:
            for file in (at(f"{path}/{name}" if path else name) if name != "*" else []) or at(path):
                found[file] = None
        return list(found) or at(path)

    def _importable(self, importer: str, ending: str) -> list[str]:
        """A module by its whole name: what it begins in is no package itself, unless the importer stands beside it. A
        name of the standard library means that, unless it stands at the top or beside."""
        is_standard = ending.partition("/")[0].removesuffix(".py").removesuffix(".pyi") in sys.stdlib_module_names
        fitting = []
        for path in self._tails.get(ending.rpartition("/")[2], ()):
            if path != ending and not path.endswith(f"/{ending}"):
                continue
            base = path[: -len(ending)].rstrip("/")
            beside = base == _folder(importer)
            inside = f"{base}/__init__.py".lstrip("/") in self._paths
            fits = (beside and not is_standard) if inside else (beside or not base or not is_standard)
            if path != importer and fits:
                fitting.append(path)
        return [max(fitting, key=lambda x: (_shared(x, importer), -len(x)))] if fitting else []

    def _script(self, importer: str, module: str) -> list[str]:
        if module.startswith("."):
            path = _join(_folder(importer), module)
        elif module.startswith(("@/", "~/")):
            path = f"src/{module[2:]}"
        elif (inside := self._own_package(module)) is not None:
            path = inside
        else:
            return []
        stem, dot, ending = path.rpartition(".")
        written = [f"{stem}{x}" for x in _WRITTEN_AS.get(dot + ending, ())]
        return [path, *written, *(path + x for x in _SCRIPTS), *(f"{path}/index{x}" for x in _SCRIPTS)]

    def _own_package(self, module: str) -> str | None:
        """Where a package of this folder keeps what is imported by the package's name: ``@team/cart/prices`` in
        ``packages/cart/src/prices``. ``None`` for packages from elsewhere."""
        parts = module.split("/")
        is_scoped = module.startswith("@")
        name, rest = (parts[1:2] or [""])[0] if is_scoped else parts[0], "/".join(parts[1 + is_scoped :])
        homes = [folder for folder in (f"packages/{name}", f"libs/{name}") if folder in self._packages]
        if name and name in self._own_names:
            homes.append("")
        for home in homes:
            for below in (f"{home}/src", f"{home}/lib", home):
                path = _join(below, rest)
                if any(f"{path}{ending}" in self._paths for x in _SCRIPTS for ending in (x, f"/index{x}")):
                    return path
        return None

    def _rust(self, importer: str, item: CodeImport) -> list[str]:
        parts = [*item.module.split("::"), *(name for name, _ in item.names if name not in ("*", ""))]
        if parts[0] == "crate":
            base = importer.partition("src/")[0] + "src" if "src/" in importer else ""
        elif parts[0] in ("self", "super"):
            base = _folder(importer) if parts[0] == "self" else _folder(_folder(importer))
        else:
            return []
        parts = parts[1:]
        for length in range(len(parts), 0, -1):
            path = "/".join([*([base] if base else ()), *parts[:length]])
            if found := self._first([f"{path}.rs", f"{path}/mod.rs"]):
                return found
        return []

    def _by_class(self, importer: str, item: CodeImport, extension: str | None) -> list[str]:
        if extension is None:
            return []
        path = item.module.replace("\\", "/").replace(".", "/")
        names = [name for name, _ in item.names if name != "*"] or [""]
        found: dict[str, None] = {}
        for name in names:
            stem = f"{path}/{name}".rstrip("/")
            while "/" in stem and not (hit := self._ending(importer, stem + extension)):
                # Packages need not be folders from the top, and members are imported from inside of a class.
                stem = stem.partition("/")[2] if extension == ".php" else stem.rpartition("/")[0]
            for file in hit if "/" in stem else self._ending(importer, stem + extension)[:1]:
                found[file] = None
        return list(found)

    def _folder_files(self, module: str, extension: str) -> list[str]:
        parts = module.split("/")
        for start in range(len(parts)):
            beside = self._folders.get("/".join(parts[start:]), ())
            found = [x for x in beside if x.endswith(extension) and not x.endswith("_test.go")]
            if found:
                return found
        return []

    def _first(self, paths: Sequence[str]) -> list[str]:
        return next(([path] for path in paths if path in self._paths), [])

    def _ending(self, importer: str, ending: str) -> list[str]:
        """The file whose path ends so; of several the one that shares most folders with the importer."""
        found = [x for x in self._tails.get(ending.rpartition("/")[2], ()) if x == ending or x.endswith(f"/{ending}")]
        found = [x for x in found if x != importer]
        return [max(found, key=lambda x: (_shared(x, importer), -len(x)))] if found else []


def module_nodes(
    modules: Sequence[ModuleRow],
    edited: Collection[str] | None = (),
    said: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[ModuleNode]:
    """The graph of one folder, by path; ``edited`` as ``last_modified`` takes it, ``said`` as ``related_features`` does."""
    names = ModuleNames(modules)
    targets: dict[str, dict[str, None]] = {row.path: {} for row in modules}
    sources: dict[str, dict[str, None]] = {row.path: {} for row in modules}
    for row in modules:
        for item in row.imports:
            for file in names.files_of(row.path, row.language, item):
                if file != row.path:
                    targets[row.path][file] = None
                    sources[file][row.path] = None
    return [
        ModuleNode(
            row.path,
            row.language,
            import_names(row),
            tuple(targets[row.path]),
            tuple(sources[row.path]),
            row.exports,
            related_features(row, said),
            last_modified(row, edited),
            row.is_test,
        )
        for row in modules
    ]


def import_names(row: ModuleRow) -> tuple[str, ...]:
    """What a file imports, each once: modules, and of ``from . import x`` the ``x``."""
    found: dict[str, None] = {}
    for item in row.imports:
        if item.module and not item.module.strip("."):
            found.update(dict.fromkeys(item.module + name for name, _ in item.names))
        else:
            found[item.module] = None
    return tuple(found)


def related_features(row: ModuleRow, said: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Ticket ids of its comments, of its commits, and of the sessions that changed it (``said``, by path)."""
    of_commits = row.history.tickets if row.history else ()
    return tuple(sorted({*row.tickets, *of_commits, *said.get(row.path, ())}))


def last_modified(row: ModuleRow, edited: Collection[str] | None = ()) -> str | None:
    """ISO 8601: when it was committed last; for files that ``edited`` names, and for those without commits, when they
    were written. ``None`` for ``edited`` means that nobody knows: then the later of the two."""
    at = row.mtime_ms
    if row.history is not None and edited is None:
        at = max(row.history.committed_at, row.mtime_ms)
    elif row.history is not None and edited is not None and row.path not in edited:
        at = row.history.committed_at
    said = to_iso(at)
    return said.partition(".")[0] + "Z" if said else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, path: str) -> str:
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
