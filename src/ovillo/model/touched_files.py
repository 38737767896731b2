"""Which files a part touched, read from what the client recorded.

Owns the rule; commands in a shell are not guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping

from ovillo.model.records import Part

#: Argument names under which the agents' own file tools take a path.
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "file", "filename")
_MAX_PATH = 1024


def touched_paths(part: Part) -> tuple[str, ...]:
    """Paths named by a file tool's input, a patch or a file part; each once, in order."""
    found: dict[str, None] = {}
    if part.tool and isinstance(part.tool.input, Mapping):
        for key in _PATH_KEYS:
            value = part.tool.input.get(key)
            if isinstance(value, str) and _looks_like_file(value):
                found[value] = None
    if part.patch:
        found.update((path, None) for path in part.patch.files if 0 < len(path) <= _MAX_PATH)
    if part.file and 0 < len(part.file.path) <= _MAX_PATH and not part.file.path.startswith("data:"):
        found[part.file.path] = None
    return tuple(found)


def _looks_like_file(path: str) -> bool:
    if not 0 < len(path) <= _MAX_PATH or "\n" in path:
        return False
    tail = path.replace("\\", "/").rsplit("/", 1)[-1]
    return "." in tail.strip(".") or tail in {"Makefile", "Dockerfile", "LICENSE", "Justfile", "Rakefile", "Gemfile"}


_EDITING = """
    edit multiedit write notebookedit apply_patch patch replace write_file write_to_file replace_in_file
    edit_file str_replace_editor str_replace_based_edit_tool str_replace create create_file
    insert_edit_into_file search_replace delete_file move_file rename_file text_editor developer__text_editor
    """
#: The agents' own tools that change files, in lower case. Sources: the tool lists of Claude Code, OpenCode, Codex,
#: Gemini CLI, Cline, Copilot and Goose.
EDITING_TOOLS = frozenset(_EDITING.split())
