"""Writes a story the way Codex CLI 0.63 keeps its rollouts. Owns that layout, nothing of the story."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ovillo.demo.identity import hex_of, uuid_of
from ovillo.demo.pace import Pace
from ovillo.demo.story import Compact, Delegate, Edit, Read, Run, Say, Story, Think, Tool


def write(story: Story, home: Path, unpacked_at: int) -> None:
    """``.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`` below ``home``."""
    pace = Pace.begin(unpacked_at, story.days_ago)
    folder = home / ".codex" / "sessions" / pace.day_folder()
    folder.mkdir(parents=True, exist_ok=True)
    rollout = _Rollout(story, pace)
    name = f"rollout-{pace.local_name()}-{rollout.thread}.jsonl"
    rollout.tell()
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rollout.lines)
    (folder / name).write_text(text, encoding="utf-8")


class _Rollout:
    def __init__(self, story: Story, pace: Pace) -> None:
        self.story = story
        self.pace = pace
        self.thread = uuid_of("codex", story.name)
        self.lines: list[dict[str, Any]] = []
        self._total = {
            "input_tokens": 0,
            "cached_input_tokens": 0,
            "output_tokens": 0,
            "reasoning_output_tokens": 0,
            "total_tokens": 0,
        }

    def tell(self) -> None:
        story = self.story
        self._line(
            "session_meta",
            id=self.thread,
            timestamp=self.pace.iso(),
            cwd=story.directory,
            originator="codex_cli_rs",
            cli_version="0.63.0",
            instructions=None,
            source="cli",
            model_provider="openai",
            git={"commit_hash": hex_of(40, story.name), "branch": story.branch},
        )
        for turn in story.turns:
            self.pace.on(180)
            self._item("message", role="user", content=[{"type": "input_text", "text": turn.prompt}])
            self._event("user_message", message=turn.prompt, images=[])
            self._line(
                "turn_context", cwd=story.directory, approval_policy="on-request", model="gpt-5.1-codex", summary="auto"
            )
            for step in turn.steps:
                self.pace.on(9)
                match step:
                    case Say(text):
                        self._event("agent_message", message=text)
                        self._count(len(text))
                        self._item("message", role="assistant", content=[{"type": "output_text", "text": text}])
                    case Think(text):
                        self._event("agent_reasoning", text=text)
                        self._item(
                            "reasoning",
                            summary=[{"type": "summary_text", "text": text}],
                            content=None,
                            encrypted_content="",
                        )
                    case Compact(summary):
                        self._line("compacted", message=summary)
                    case _:
                        self._use(step)

    def _line(self, kind: str, **payload: Any) -> None:
        self.lines.append({"timestamp": self.pace.iso(), "type": kind, "payload": payload})

    def _item(self, kind: str, **payload: Any) -> None:
        self._line("response_item", type=kind, **payload)

    def _event(self, kind: str, **payload: Any) -> None:
        self._line("event_msg", type=kind, **payload)

    def _count(self, characters: int) -> None:
        output = 20 + characters // 4
        last = {
            "input_tokens": 6_400 + 40 * len(self.lines),
            "cached_input_tokens": 5_120,
            "output_tokens": output,
            "reasoning_output_tokens": 0,
            "total_tokens": 6_400 + 40 * len(self.lines) + output,
        }
        self._total = {name: self._total[name] + value for name, value in last.items()}
        info = {"total_token_usage": self._total, "last_token_usage": last, "model_context_window": 258_400}
        self._event("token_count", info=info, rate_limits=None)

    def _use(self, tool: Tool) -> None:
        call = f"call_{hex_of(24, self.thread, len(self.lines))}"
        if isinstance(tool, Edit):
            body = "".join(f"-{line}\n" for line in tool.before.splitlines()) + "".join(
                f"+{line}\n" for line in tool.after.splitlines()
            )
            patch = f"*** Begin Patch\n*** Update File: {tool.path}\n@@\n{body}*** End Patch\n"
            self._item("custom_tool_call", status="completed", call_id=call, name="apply_patch", input=patch)
            output = json.dumps(
                {"output": f"Success. Updated the following files:\nM {tool.path}\n", "metadata": {"exit_code": 0}}
            )
            self._item("custom_tool_call_output", call_id=call, output=output)
            self._count(len(patch))
            return
        command, code, output = _command(tool)
        self._item(
            "function_call",
            name="shell_command",
            arguments=json.dumps({"command": command}, ensure_ascii=False),
            call_id=call,
        )
        self.pace.on(2)
        self._item(
            "function_call_output", call_id=call, output=f"Exit code: {code}\nWall time: 2 seconds\nOutput:\n{output}\n"
        )
        self._count(len(command))


def _command(tool: Read | Run | Delegate) -> tuple[str, int, str]:
    if isinstance(tool, Read):
        return f"cat {tool.path}", 0, tool.content
    if isinstance(tool, Run):
        return tool.command, tool.exit_code, tool.output
    return f"codex exec {tool.description!r}", 0, tool.answer
