"""Results of tools: output text, patches, large outputs in files of their own.

Owns ``tool_result`` blocks and the useful fields of ``toolUseResult``, which is an object, a list or a string.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Patch
from ovillo.readers.claude_code.records import Block, raw_value
from ovillo.readers.containment import ContainedPaths
from ovillo.readers.growing import ToolOutput

#: Large outputs are read up to this size (bytes); the rest stays in the client's file.
MAX_OUTPUT_BYTES = 1 << 20
_WANTED = (b'"structuredPatch"', b'"persistedOutputPath"', b'"agentId"')


@dataclass(slots=True)
class Output(ToolOutput):
    """``metadata`` names the file that holds the whole output, and how many of its bytes were not read."""

    patch: Patch | None = None
    agent_id: str | None = None


def read_output(block: Block, raw: msgspec.Raw, folder: Path) -> Output:
    """The output of ``block``; ``folder`` holds the session's large outputs. Nothing outside it is read, whatever path
    the record names."""
    output = _output_text(block)
    data = bytes(raw)
    if not any(word in data for word in _WANTED):
        return output
    details = raw_value(raw)
    if isinstance(details, dict):
        output.patch = _patch(details)
        agent = details.get("agentId")
        output.agent_id = agent if isinstance(agent, str) and agent else None
        persisted = details.get("persistedOutputPath")
        if isinstance(persisted, str) and persisted:
            _read_persisted(output, folder, persisted, details.get("persistedOutputSize"))
    return output


def _output_text(block: Block) -> Output:
    content, is_error = block.content, bool(block.is_error)
    if isinstance(content, str):
        return Output(content, is_error)
    if not isinstance(content, list):
        return Output("" if content is None else str(content), is_error)
    texts, lost = [], 0
    for item in content:
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            texts.append(item["text"])
        elif isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and isinstance(item.get("source"), dict):
            mime, size = source_facts(item["source"])
            texts.append(f"[{mime or item.get('type')}, {size} bytes]")
            lost += size
        elif isinstance(item, dict) and item.get("type") == "tool_reference":
            texts.append(f"[tool {item.get('tool_name')}]")
        else:
            texts.append(f"[{item.get('type') if isinstance(item, dict) else type(item).__name__}]")
    return Output("\n".join(texts), is_error, lost)


def source_facts(source: Any) -> tuple[str | None, int]:
    """Media type and length in characters of an embedded image or document, whose data is not kept."""
    if not isinstance(source, dict):
        return None, 0
    mime, data = source.get("media_type"), source.get("data")
    return mime if isinstance(mime, str) else None, len(data) if isinstance(data, str) else 0


def _read_persisted(output: Output, folder: Path, named: str, size: object) -> None:
    name = named.replace("\\", "/").rsplit("/", 1)[-1]
    output.metadata["output_file"] = name
    path = folder / name
    try:
        # ``folder`` is in the session's folder, and that in the project's, where the transcript was found.
        if name in {"", ".", ".."} or not path.is_file() or not ContainedPaths(folder.parent.parent).holds(path):
            raise FileNotFoundError(name)
        with path.open("rb") as file:
            data = file.read(MAX_OUTPUT_BYTES)
            unread = path.stat().st_size - len(data)
    except OSError:
        if isinstance(size, int):
            output.lost_bytes += max(0, size - len(output.text))
        return
    if unread > 0:
        output.metadata["unread_bytes"] = unread
    output.text = data.decode("utf-8", "replace")


def _patch(details: dict[str, Any]) -> Patch | None:
    path, hunks = details.get("filePath"), details.get("structuredPatch")
    if not isinstance(path, str) or not isinstance(hunks, list):
        return None
    if not hunks and details.get("type") == "create" and isinstance(details.get("content"), str):
        lines = details["content"].splitlines()
        return Patch(
            (path,), _diff("/dev/null", path, [_hunk(0, 0, 1, len(lines), ["+" + x for x in lines])]), len(lines)
        )
    parts, added, deleted = [], 0, 0
    for hunk in hunks:
        if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
            continue
        lines = [line for line in hunk["lines"] if isinstance(line, str)]
        added += sum(line[:1] == "+" for line in lines)
        deleted += sum(line[:1] == "-" for line in lines)
        old, old_lines, new, new_lines = (hunk.get(x, 0) for x in ("oldStart", "oldLines", "newStart", "newLines"))
        parts.append(_hunk(old, old_lines, new, new_lines, lines))
    return Patch((path,), _diff(path, path, parts), added, deleted) if parts else None


def _hunk(old: Any, old_lines: Any, new: Any, new_lines: Any, lines: list[str]) -> str:
    return "\n".join([f"@@ -{old},{old_lines} +{new},{new_lines} @@", *lines])


def _diff(before: str, after: str, hunks: list[str]) -> str:
    return "\n".join([f"--- {before}", f"+++ {after}", *hunks]) + "\n"
