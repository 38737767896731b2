"""``/api/code``: index folders, find definitions, follow their calls.

Owns the requests and answers of the code index. Files are named relative to the root.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools.code_shapes import (
    CallerInfo,
    IndexInfo,
    ModuleInfo,
    RootInfo,
    SymbolDetails,
    SymbolInfo,
    caller_info,
    details,
    index_info,
    module_info,
    root_info,
    symbol_info,
)
from ovillo.interfaces.tools.find_symbol import Described, described_info
from ovillo.interfaces.tools.index_code import check_may_index
from ovillo.model.code import SymbolRow
from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.quoting import named
from ovillo.security.principals import CONTEXT_READ, CONTEXT_WRITE

_TAG = "Code"


class IndexBody(Struct, kw_only=True, forbid_unknown_fields=True):
    path: str


class FindQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    name: str
    root: str | None = None
    prefix: bool = False
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class SearchQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    q: str
    root: str | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 10


class PlaceQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """A definition by ``name``, or by ``file`` and ``line``."""

    name: str | None = None
    file: str | None = None
    line: Annotated[int, Meta(ge=1)] | None = None
    root: str | None = None
    source: bool = False


class FileQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    file: str
    root: str | None = None


class RootQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    root: str | None = None


class Symbols(Struct, kw_only=True):
    symbols: list[SymbolInfo]


class Callers(Struct, kw_only=True):
    symbol: SymbolInfo
    callers: list[CallerInfo]


class Roots(Struct, kw_only=True):
    roots: list[RootInfo]


class Graph(Struct, kw_only=True):
    root: str
    modules: list[ModuleInfo]


def _index(call: Exchange[Any, IndexBody]) -> Reply:
    check_may_index(call.services, call.principal, call.body.path)
    return Reply(index_info(call.services.code.index(call.namespace, call.body.path)))


def _roots(call: Exchange[Any, None]) -> Reply:
    return Reply(Roots(roots=[root_info(root) for root in call.services.code.roots(call.namespace)]))


def _find(call: Exchange[FindQuery, None]) -> Reply:
    query = call.query
    rows = call.services.code.find(
        call.namespace, query.name, root=_root(call, query.root), is_prefix=query.prefix, limit=query.limit
    )
    return Reply(Symbols(symbols=[symbol_info(row) for row in rows]))


def _search(call: Exchange[SearchQuery, None]) -> Reply:
    query = call.query
    found = call.services.symbols.find(call.namespace, query.q, root=_root(call, query.root), limit=query.limit)
    return Reply(described_info(found))


def _file(call: Exchange[FileQuery, None]) -> Reply:
    rows = call.services.code.symbols_of(call.namespace, call.query.file, root=_root(call, call.query.root))
    return Reply(Symbols(symbols=[symbol_info(row) for row in rows]))


def _show(call: Exchange[PlaceQuery, None]) -> Reply:
    code, symbol = call.services.code, _meant(call)
    lines = None
    if call.query.source:
        symbol = code.fresh(call.namespace, symbol)
        lines = code.source_of(call.namespace, symbol).text
    return Reply(details(code.show(call.namespace, symbol), lines))


def _callers(call: Exchange[PlaceQuery, None]) -> Reply:
    symbol = _meant(call)
    found = call.services.code.callers(call.namespace, symbol)
    return Reply(Callers(symbol=symbol_info(symbol), callers=[caller_info(caller) for caller in found]))


def _graph(call: Exchange[RootQuery, None]) -> Reply:
    root = call.services.code.root(call.namespace, call.query.root)
    nodes = call.services.code.graph(call.namespace, root)
    return Reply(Graph(root=root, modules=[module_info(node) for node in nodes]))


#: Opened by itself, a picture is a page of this server: it has its own style and nothing more.
_PICTURE_ONLY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}


def _picture(call: Exchange[RootQuery, None]) -> Reply:
    root = call.services.code.root(call.namespace, call.query.root)
    drawn = call.services.code.picture(call.namespace, root)
    return Reply(drawn.encode(), content_type="image/svg+xml", headers=_PICTURE_ONLY)


def _root(call: Exchange[Any, Any], given: str | None) -> str | None:
    return None if given is None else call.services.code.root(call.namespace, given)


def _meant(call: Exchange[PlaceQuery, None]) -> SymbolRow:
    query, code = call.query, call.services.code
    root = _root(call, query.root)
    if query.name:
        rows = code.find(call.namespace, query.name, root=root)
        if rows:
            return rows[0]
        raise NotFound.named(
            "definition", query.name, hint="Index its folder, or look by a beginning with prefix=true."
        )
    if query.file is None or query.line is None:
        raise InvalidInput("Neither a name nor a place was given.", hint="Give name, or file and line.")
    found = code.function_at(call.namespace, query.file, query.line, root=root)
    if found is None:
        raise NotFound(
            f"Nothing is defined around line {query.line} of {named(query.file)}.", hint="Look at another line."
        )
    return found


_NONE = {404: "No such definition, file or folder in the index."}
_TWO = _NONE | {409: "Several files or folders could be meant."}


def _get(path: str, name: str, summary: str, handler: Any, query: type[Any], reply: type[Any] | None) -> Endpoint:
    return Endpoint("GET", path, name, summary, _TAG, CONTEXT_READ, handler, query, reply=reply, also=_TWO)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/code/index",
        "indexCode",
        "Read a folder's code, or what changed in it",
        _TAG,
        CONTEXT_WRITE,
        _index,
        body=IndexBody,
        reply=IndexInfo,
        also={404: "No such folder, or one that only the local user may add."},
    ),
    Endpoint("GET", "/api/code/roots", "codeRoots", "Indexed folders", _TAG, CONTEXT_READ, _roots, reply=Roots),
    _get("/api/code/symbols", "findSymbols", "Definitions by name", _find, FindQuery, Symbols),
    _get("/api/code/search", "searchSymbols", "Definitions by what they do", _search, SearchQuery, Described),
    _get("/api/code/file", "symbolsOfFile", "What a file defines", _file, FileQuery, Symbols),
    _get("/api/code/symbol", "showSymbol", "One definition with its calls and tests", _show, PlaceQuery, SymbolDetails),
    _get("/api/code/callers", "callersOfSymbol", "Who calls a definition", _callers, PlaceQuery, Callers),
    _get("/api/code/graph", "moduleGraph", "Which module imports which", _graph, RootQuery, Graph),
    _get("/api/code/graph.svg", "modulePicture", "The module graph as a picture", _picture, RootQuery, None),
)
