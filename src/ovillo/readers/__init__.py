"""Readers: one module or package per agent, and the registry of them.

Owns the list. Adding a reader is one source file, its golden tests and one line here; other packages add
theirs through the entry point group ``ovillo.readers``.
"""

from __future__ import annotations

from importlib import import_module

from ovillo.model.plugins import added
from ovillo.readers.protocol import Reader

#: Registry name -> ``module:class``. Imported when asked for: a start that reads nothing pays for none of them.
_BUILT_IN = {
    "opencode": "ovillo.readers.opencode:OpenCodeReader",
    "claude_code": "ovillo.readers.claude_code:ClaudeCodeReader",
    "codex": "ovillo.readers.codex:CodexReader",
    "gemini_cli": "ovillo.readers.gemini_cli:GeminiCliReader",
    "aider": "ovillo.readers.aider:AiderReader",
    "goose": "ovillo.readers.goose:GooseReader",
    "crush": "ovillo.readers.crush:CrushReader",
    "pi": "ovillo.readers.pi:PiReader",
    "copilot_cli": "ovillo.readers.copilot_cli:CopilotCliReader",
    "cline": "ovillo.readers.cline:ClineReader",
}


def all_readers() -> list[Reader]:
    """An instance of every reader, built-in ones first."""
    readers = [_load(path) for path in _BUILT_IN.values()]
    readers.extend(point.load()() for point in added("ovillo.readers").values())
    return readers


def reader_named(name: str) -> Reader:
    """Raises KeyError for a name nobody registered."""
    if name in _BUILT_IN:
        return _load(_BUILT_IN[name])
    reader: Reader = added("ovillo.readers")[name].load()()
    return reader


def _load(path: str) -> Reader:
    module, _, attribute = path.partition(":")
    reader: Reader = getattr(import_module(module), attribute)()
    return reader
