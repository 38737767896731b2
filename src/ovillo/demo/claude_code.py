"""Writes a story the way Claude Code 2.1 keeps its transcripts. Owns that layout, nothing of the story."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, assert_never

from ovillo.demo.identity import hex_of, uuid_of
from ovillo.demo.pace import Pace, unified_diff
from ovillo.demo.story import Compact, Delegate, Edit, Read, Run, Say, Story, Think, Tool

_MODEL = "claude-sonnet-5"


def write(story: Story, home: Path, unpacked_at: int) -> None:
    """``.claude/projects/<slug>/<session>.jsonl`` below ``home``."""
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", story.directory)
    folder.mkdir(parents=True, exist_ok=True)
    transcript = _Transcript(story, Pace.begin(unpacked_at, story.days_ago))
    transcript.tell()
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in transcript.lines)
    (folder / f"{transcript.session}.jsonl").write_text(text, encoding="utf-8")


class _Transcript:
    def __init__(self, story: Story, pace: Pace) -> None:
        self.story = story
        self.pace = pace
        self.session = uuid_of("claude", story.name)
        self.lines: list[dict[str, Any]] = []
        self._parent: str | None = None
        self._answers = 0

    def tell(self) -> None:
        for turn in self.story.turns:
            self.pace.on(240)
            if not any(isinstance(step, Compact) for step in turn.steps):
                self._line("user", message={"role": "user", "content": turn.prompt})
            for step in turn.steps:
                match step:
                    case Say(text):
                        self._answer([{"type": "text", "text": text}], "end_turn")
                    case Think(text):
                        self._answer([{"type": "thinking", "thinking": text, "signature": ""}], None)
                    case Compact(summary):
                        self._compact(summary)
                    case _:
                        self._use(step)
        self.lines.append({"type": "ai-title", "sessionId": self.session, "aiTitle": self.story.title})

    def _line(self, kind: str, **fields: Any) -> str:
        own = uuid_of(self.session, len(self.lines))
        self.lines.append(
            {
                "parentUuid": self._parent,
                "isSidechain": False,
                "type": kind,
                **fields,
                "uuid": own,
                "timestamp": self.pace.iso(),
                "userType": "external",
                "cwd": self.story.directory,
                "sessionId": self.session,
                "version": "2.1.329",
                "gitBranch": self.story.branch,
            }
        )
        self._parent = own
        return own

    def _answer(self, content: list[dict[str, Any]], stop: str | None) -> str:
        self.pace.on(11)
        self._answers += 1
        name = hex_of(20, self.session, self._answers)
        words = sum(len(json.dumps(block)) for block in content)
        usage = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 240 + words // 3,
            "cache_read_input_tokens": 9_000 + 700 * self._answers,
            "output_tokens": 20 + words // 4,
            "service_tier": "standard",
        }
        message = {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": _MODEL,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        return self._line("assistant", message=message, requestId=f"req_{name}")

    def _use(self, tool: Tool) -> None:
        call = f"toolu_{hex_of(24, self.session, len(self.lines))}"
        root = self.story.directory
        result: dict[str, Any] | str
        match tool:
            case Read(path, content):
                name, given, output = "Read", {"file_path": f"{root}/{path}"}, content
                result = {"type": "text", "file": {"filePath": f"{root}/{path}", "content": content}}
            case Edit(path, before, after):
                name = "Edit"
                given = {"file_path": f"{root}/{path}", "old_string": before, "new_string": after}
                output = f"The file {root}/{path} has been updated."
                patch = unified_diff(path, before, after).splitlines()[3:]
                hunk = {
                    "oldStart": 1,
                    "oldLines": before.count("\n"),
                    "newStart": 1,
                    "newLines": after.count("\n"),
                    "lines": patch,
                }
                result = {
                    "filePath": f"{root}/{path}",
                    "oldString": before,
                    "newString": after,
                    "structuredPatch": [hunk],
                }
            case Run(command, output, exit_code):
                name, given = "Bash", {"command": command}
                result = (
                    f"Error: Exit code {exit_code}\n{output}"
                    if exit_code
                    else {"stdout": output, "stderr": "", "interrupted": False}
                )
            case Delegate(description, story, output):
                name, given = (
                    "Task",
                    {"description": description, "prompt": story.turns[0].prompt, "subagent_type": "Explore"},
                )
                result = {"status": "completed", "content": [{"type": "text", "text": output}]}
            case _:
                assert_never(tool)
        asked = self._answer([{"type": "tool_use", "id": call, "name": name, "input": given}], "tool_use")
        self.pace.on(3)
        block: dict[str, Any] = {"tool_use_id": call, "type": "tool_result", "content": output}
        if isinstance(tool, Run) and tool.exit_code:
            block = {**block, "content": f"Exit code {tool.exit_code}\n{output}", "is_error": True}
        self._line(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult=result,
            sourceToolAssistantUUID=asked,
        )

    def _compact(self, summary: str) -> None:
        last, self._parent = self._parent, None
        self._line(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            logicalParentUuid=last,
            compactMetadata={"trigger": "manual", "preTokens": 48_210, "postTokens": 2_140},
        )
        text = (
            "This session is being continued from a previous conversation that ran out of context. "
            f"The summary below covers the earlier portion of the conversation.\n\nSummary:\n{summary}"
        )
        self._line(
            "user", message={"role": "user", "content": text}, isVisibleInTranscriptOnly=True, isCompactSummary=True
        )
