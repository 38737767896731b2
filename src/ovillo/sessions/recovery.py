"""Giving a session back after its context was compacted.

Owns what of a thread is worth its tokens and in which order: the goal, decisions, files, open errors and
todos, every earlier prompt in a line, the newest turns word for word, and ids to fetch the rest with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ovillo.model.errors import InvalidInput
from ovillo.model.limits import MAX_ANSWER_TOKENS, PASSING_CHARS
from ovillo.model.quoting import said
from ovillo.model.records import Author, Message, Namespace, Part, PartType, Role, SessionId, ToolCall, ToolStatus
from ovillo.model.text import flatten, message_chars, one_line
from ovillo.model.wording import counted
from ovillo.sessions.catalog import unquoted
from ovillo.sessions.decisions import decisions_in
from ovillo.sessions.history import History
from ovillo.sessions.results import HistoryPage, RecoveredContext, RecoveredItem
from ovillo.sessions.tokens import count_tokens, cut_to_tokens

if TYPE_CHECKING:
    from ovillo.store.protocol import SessionStore

_MIN_TOKENS = 200
#: Shares of the budget; what a section leaves unused goes to the newest turns.
_SHARES = {"goal": 0.14, "summary": 0.14, "decision": 0.14, "file": 0.08, "error": 0.07, "todo": 0.05, "prompt": 0.14}
#: However small the budget, the goal is said.
_GOAL_TOKENS = 90
#: Tokens an interface spends on an item beside its text: a kind, an id, a line break.
_ITEM_COST = 24
_PAGE = 200
#: Kept of each prompt but the first (characters).
_PROMPT_CHARS = 2_000


class Recovery:
    def __init__(self, store: SessionStore, history: History) -> None:
        self._store = store
        self._history = history

    def recover(self, namespace: Namespace, session_id: SessionId, max_tokens: int = 4_000) -> RecoveredContext:
        """The whole thread within ``max_tokens``, best first. Raises NotFound, InvalidInput."""
        if not _MIN_TOKENS <= max_tokens <= MAX_ANSWER_TOKENS:
            raise InvalidInput(f"max_tokens is {max_tokens}.", hint=f"It may be {_MIN_TOKENS} to {MAX_ANSWER_TOKENS}.")
        page = self._history.page(namespace, session_id, limit=_PAGE, max_chars=PASSING_CHARS)
        thread = _Thread()
        for message in self._messages(namespace, session_id, page):
            thread.read(message)
        thread.read_todos(page.summary.session.metadata.get("todos"))
        files = self._files(namespace, session_id, thread)
        budget = _Budget(max_tokens)
        items: list[RecoveredItem] = []
        for kind, candidates in (
            ("goal", thread.goal()),
            ("summary", thread.summaries[-1:]),
            ("decision", _newest_first(thread.decisions)),
            ("file", files),
            ("error", _newest_first(thread.open_errors.values())),
            ("todo", thread.todos),
            ("prompt", _newest_first(thread.prompts[1:])),
        ):
            items += budget.take(
                candidates, max(_GOAL_TOKENS if kind == "goal" else 0, round(max_tokens * _SHARES[kind]))
            )
        turns, quoted = self._newest_turns(thread, budget)
        items += turns
        left_out = max(0, page.total - quoted)
        if left_out:
            items.append(_pointer(page, left_out))
        return RecoveredContext(page.summary, tuple(items), budget.used, max_tokens, left_out, page.freshness)

    def _messages(self, namespace: Namespace, session_id: SessionId, page: HistoryPage) -> Iterator[Message]:
        while True:
            yield from page.messages
            if page.next_cursor is None:
                return
            page = self._history.page(
                namespace, session_id, limit=_PAGE, cursor=page.next_cursor, max_chars=PASSING_CHARS
            )

    def _files(self, namespace: Namespace, session_id: SessionId, thread: _Thread) -> list[RecoveredItem]:
        items = []
        for path, times, at in self._store.touched_files(namespace, session_id)[:40]:
            change = thread.changes.get(path)
            state = f"last change {change[0]}" if change else "read only"
            items.append(RecoveredItem("file", f"{path}: touched {times}x, {state}", change[1] if change else None, at))
        # Files that were changed tell more than files that were looked at.
        return sorted(items, key=lambda item: item.ref is None)

    def _newest_turns(self, thread: _Thread, budget: _Budget) -> tuple[list[RecoveredItem], int]:
        taken: list[RecoveredItem] = []
        for message in reversed(thread.tail):
            text = _verbatim(message)
            if not text:
                continue
            room = budget.left - _ITEM_COST
            if room < 40:
                break
            item = RecoveredItem(
                "turn",
                cut_to_tokens(text, min(room, max(200, room // 2))),
                message.id,
                message.created_at,
                message.role.value,
            )
            taken += budget.take([item], budget.left)
        return taken[::-1], len(taken)


@dataclass(slots=True)
class _Thread:
    """What one pass over a session remembers of it."""

    prompts: list[RecoveredItem] = field(default_factory=list)
    summaries: list[RecoveredItem] = field(default_factory=list)
    decisions: list[RecoveredItem] = field(default_factory=list)
    decided: set[str] = field(default_factory=set)
    open_errors: dict[tuple[str, str], RecoveredItem] = field(default_factory=dict)
    todos: list[RecoveredItem] = field(default_factory=list)
    #: path -> (what the last patch did, its part id)
    changes: dict[str, tuple[str, str]] = field(default_factory=dict)
    tail: list[Message] = field(default_factory=list)
    tail_chars: int = 0

    def read(self, message: Message) -> None:
        if message.reverted:
            return
        self.tail.append(message)
        self.tail_chars += message_chars(message)
        # Only as many as an answer could quote: the newest of a long session may be a megabyte each.
        while len(self.tail) > _PAGE or (self.tail_chars > PASSING_CHARS and len(self.tail) > 1):
            self.tail_chars -= message_chars(self.tail.pop(0))
        human = message.author is Author.HUMAN and message.role is Role.USER
        for part in message.parts:
            match part.type:
                case PartType.TEXT if not part.synthetic and message.author is not Author.SYNTHETIC:
                    self._said(message, part, human)
                case PartType.COMPACTION:
                    self._note_summary(message, part)
                case PartType.TOOL_CALL:
                    self._used(message, part)
                case PartType.PATCH if part.patch:
                    for path in part.patch.files:
                        self.changes[path] = (f"+{part.patch.additions} -{part.patch.deletions}", part.id)
                case _:
                    pass
        if message.error:
            key = ("answer", one_line(message.error, 80))
            self.open_errors[key] = RecoveredItem("error", one_line(message.error, 300), message.id, message.created_at)

    def _said(self, message: Message, part: Part, human: bool) -> None:
        if message.is_summary:
            self._note_summary(message, part)
            return
        if human:
            text = unquoted(str(part.metadata.get("display_text") or part.text))
            # The first is the goal; of the others a line is shown.
            kept = text[:_PROMPT_CHARS] if self.prompts else text
            self.prompts.append(RecoveredItem("prompt", kept, message.id, message.created_at, "user"))
        for sentence in decisions_in(part.text):
            if sentence not in self.decided:
                self.decided.add(sentence)
                self.decisions.append(
                    RecoveredItem("decision", sentence, message.id, message.created_at, message.role.value)
                )

    def _note_summary(self, message: Message, part: Part) -> None:
        if part.text.strip():
            self.summaries.append(RecoveredItem("summary", part.text.strip(), message.id, message.created_at))

    def _used(self, message: Message, part: Part) -> None:
        tool = part.tool
        if tool is None:
            return
        subject = _subject(tool)
        if tool.status is ToolStatus.ERROR:
            text = f"{tool.name} {subject}: {one_line(tool.output or 'failed', 240)}"
            self.open_errors[tool.name, subject] = RecoveredItem("error", text, part.id, message.created_at)
        elif tool.status is ToolStatus.COMPLETED:
            # The same tool on the same thing worked later: no longer open.
            self.open_errors.pop((tool.name, subject), None)
        if isinstance(tool.input, Mapping) and isinstance(tool.input.get("todos"), list):
            self.read_todos(tool.input["todos"], part.id)

    def read_todos(self, todos: Any, ref: str | None = None) -> None:
        """The latest list replaces the one before it."""
        if not isinstance(todos, list | tuple):
            return
        self.todos = [
            RecoveredItem(
                "todo", f"{one_line(str(todo.get('content', '')), 200)} ({todo.get('status', 'pending')})", ref
            )
            for todo in todos
            if isinstance(todo, Mapping) and todo.get("status") not in ("completed", "cancelled")
        ]

    def goal(self) -> list[RecoveredItem]:
        return [RecoveredItem("goal", item.text, item.ref, item.at, "user") for item in self.prompts[:1]]


class _Budget:
    """Tokens left of an answer."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens - 40  # the answer's own heading
        self.used = 40

    def take(self, items: Iterable[RecoveredItem], share: int) -> list[RecoveredItem]:
        """As many of ``items`` as fit ``share``; the first is cut rather than dropped."""
        taken: list[RecoveredItem] = []
        share = min(share, self.left)
        for item in items:
            room = share - _ITEM_COST
            if room < 16:
                break
            text = item.text if taken else cut_to_tokens(item.text, room)
            if item.kind == "prompt":
                text = one_line(text, 160)
            cost = count_tokens(text) + _ITEM_COST
            if cost > share:
                continue
            taken.append(RecoveredItem(item.kind, text, item.ref, item.at, item.role))
            share -= cost
            self.left -= cost
            self.used += cost
        # Chosen by worth, shown in the order things happened.
        return (
            sorted(taken, key=lambda item: item.at or 0) if taken and taken[0].kind in ("decision", "prompt") else taken
        )


def _newest_first(items: Iterable[RecoveredItem]) -> list[RecoveredItem]:
    return list(items)[::-1]


def _verbatim(message: Message) -> str:
    lines: list[str] = []
    for part in message.parts:
        match part.type:
            case PartType.TEXT | PartType.COMPACTION if not part.synthetic and part.text.strip():
                lines.append(unquoted(str(part.metadata.get("display_text") or part.text)))
            case PartType.TOOL_CALL if part.tool:
                outcome = one_line(part.tool.output or "", 160)
                lines.append(f"[{part.tool.name} {_subject(part.tool)} -> {part.tool.status.value}] {outcome}".rstrip())
            case PartType.PATCH if part.patch:
                lines.append(f"[patch {', '.join(part.patch.files)} +{part.patch.additions} -{part.patch.deletions}]")
            case _:
                pass
    return "\n".join(lines)


def _subject(tool: ToolCall) -> str:
    """What a tool was used on, in a few words: a path or a command before anything else."""
    given = tool.input
    if isinstance(given, Mapping):
        for key in ("file_path", "filePath", "path", "command", "cmd", "pattern", "query", "description", "prompt"):
            if given.get(key):
                return one_line(flatten(given[key]), 100)
    return one_line(flatten(given), 100)


def _pointer(page: HistoryPage, left_out: int) -> RecoveredItem:
    session_id = page.summary.session.id
    return RecoveredItem(
        "pointer",
        f"{left_out} of {counted(page.total, 'message')} are not quoted here. get_session_history(sessionID={said(session_id)}) gives them"
        " from the start; with around=<id> it opens at any id above.",
        session_id,
    )
