"""What one pass over messages finds of use to somebody who goes on with them.

Owns collecting: turns with their conclusions, decisions, changed files, commits, checks, errors still open, todos,
pending points, open questions. What is worth how many tokens is decided in ``choosing``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ovillo.model.records import Author, Message, Part, PartType, Patch, Role, ToolStatus
from ovillo.sessions.boilerplate import is_client_command, is_no_answer, without_boilerplate
from ovillo.sessions.catalog import unquoted
from ovillo.sessions.client_summary import read_summary
from ovillo.sessions.decisions import decisions_in
from ovillo.sessions.languages import Language, identify, languages
from ovillo.sessions.summarizers.edits import edits_of
from ovillo.sessions.summarizers.runs import Run, command_of, result_line, run_of
from ovillo.sessions.summarizers.sentences import Sentence, capital, content_words, names_in, sentences
from ovillo.sessions.summarizers.todo_lists import Todo, TodoList, todos_in
from ovillo.sessions.trimming import is_prompt

_COMMIT = re.compile(r"^\[(?:[^\]\s]+ )+(?:\([^)]*\) )?([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_COMMITS = re.compile(r"(?:^|[;&|]\s*)git (?:-C \S+ )?(?:commit|push)\b", re.MULTILINE)
_DEFINES = re.compile(
    r"\s*(?:export |default |public |private |protected |static |async |pub |final |abstract |override |declare )*"
    r"(?:def|class|func|function|fn|interface|struct|enum|trait|module|create (?:table|index|function))"
    r"\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)",
    re.IGNORECASE,
)
_CALLED = re.compile(r"^[+-].*?\b([A-Za-z_]\w{3,})\(", re.MULTILINE)
#: A command of the client: /compact, /model opus.
_COMMAND = re.compile(r"/[a-z][\w:-]*(?:\s|$)")
_LABEL = re.compile(
    r"^\W*(?:decision|decided|agreed|decisión|decidido|acordado|de acuerdo|décision|d'accord|entendu|decisão|combinado|acordo)\s*:\s*",
    re.IGNORECASE,
)
#: Pending points and decisions of a session that are looked at, the newest.
_MOST_OPEN = 300
#: Messages of a very long stretch that are read whole.
_BEGINNING, _END = 100, 500
_WORD = re.compile(r"\w+")
#: Points of a client's list that a commit, or a check that passes, settles: by the verb that they begin with.
_COMMITTING = re.compile(r"\W*(?:commit|push|ship|confirmar|subir|enviar|pousser|committer)\b", re.IGNORECASE)
_CHECKING = re.compile(
    r"\W*(?:potentially |maybe |then )?(?:fix|run|re-?run|verify|check|debug|analy[sz]e|investigate|determine"
    r"|corregir|arreglar|ejecutar|probar|verificar|investigar|corriger|réparer|lancer|tester|vérifier|corrigir|consertar|rodar|testar)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|in case|si|se|au cas où|caso)\b", re.IGNORECASE)
#: Letters that a word shares with its forms; words that tell a point from another, and the share of them that a report says again.
_BEGINNING_OF_WORD, _WORDS_OF_A_POINT, _COVERED = 5, 3, 0.6
#: Sentences that close an answer.
_CLOSING = 3
_REFUSES = re.compile(r"\W*(?:no|nope|nah|non|não|neither|ninguna?|aucune?|nenhuma?)\b", re.IGNORECASE)
_IF = re.compile(r"\W*(?:if|unless|si|se|sauf|salvo|a menos)\b", re.IGNORECASE)
_NOISE = re.compile(r"__pycache__|\.pyc$|node_modules|(?:^|/)\.git/|\.lock$|-lock\.(?:json|yaml)$|\.min\.\w+$")
_PENDING_HEADING = 60
#: Fewer words than these are a heading.
_PROPOSAL_WORDS = 4


@dataclass(slots=True)
class QuotableSentence:
    """A sentence of a turn that may be worth repeating."""

    text: str
    turn: int
    #: Place in the whole, to show things in the order they happened.
    order: int
    by_human: bool
    names: frozenset[str]
    words: frozenset[str]
    outcome: bool = False
    cause: bool = False
    question: bool = False
    last: bool = False
    #: A point of a summary that the client itself wrote.
    of_client: bool = False
    #: What the person was asked, where the sentence is the answer.
    asked: str = ""


@dataclass(slots=True)
class Turn:
    prompt: str
    order: int
    #: Only an acknowledgement: "ok", "gracias".
    nod: bool = False
    answered: bool = False
    answers: list[QuotableSentence] = field(default_factory=list)
    patched: bool = False


@dataclass(slots=True)
class FileChange:
    additions: int = 0
    deletions: int = 0
    #: What was defined or changed inside, and what else the changed lines call.
    names: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    turn: int = 0


@dataclass(slots=True)
class Evidence:
    language: Language
    turns: list[Turn] = field(default_factory=list)
    decisions: list[QuotableSentence] = field(default_factory=list)
    pending: list[QuotableSentence] = field(default_factory=list)
    #: Points that were pending and no longer are.
    closed: list[QuotableSentence] = field(default_factory=list)
    #: What was tried and did not do, was given up or ruled out.
    failed: list[QuotableSentence] = field(default_factory=list)
    #: What the newest answer says it is going to do, until something is done.
    promised: list[QuotableSentence] = field(default_factory=list)
    #: What the newest summary of the client calls the goal and the next step, with its place.
    client_goal: QuotableSentence | None = None
    client_next: QuotableSentence | None = None
    #: Every word that was said, to tell which names of a change matter to people.
    spoken: set[str] = field(default_factory=set)
    changes: dict[str, FileChange] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    errors: dict[str, tuple[Run, int]] = field(default_factory=dict)
    failed_answer: str | None = None
    todos: list[str] | None = None
    #: The same list with what is done, and each entry's state.
    todo_entries: list[Todo] | None = None
    last_check: Run | None = None
    #: Names each message changed or reported done, by its place: what closes a pending point.
    done_names: dict[int, set[str]] = field(default_factory=dict)
    #: What was reported as done, in words, with its place: so are commits and entries of a todo list.
    done_words: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    #: Places of the last check that passed and of the last change.
    passed: int = -1
    changed: int = -1
    #: Place of the last commit.
    committed: int = -1
    paths: set[str] = field(default_factory=set)

    @property
    def open_question(self) -> QuotableSentence | None:
        """What the model asked last and nobody answered."""
        last = self.turns[-1].answers[-1:] if self.turns else []
        return last[0] if last and last[0].question else None


def gather(messages: Sequence[Message]) -> Evidence:
    """The evidence in ``messages``; what was taken back is left out."""
    kept = worth_reading(messages)
    found = Evidence(identify(_voices(kept)), spoken={word for text in _voices(kept) for word in _WORD.findall(text)})
    has_patches = any(part.patch for message in kept for part in message.parts)
    todos = TodoList()
    for order, message in enumerate(kept):
        _Reader(found, todos, order, has_patches=has_patches).read(message)
    _close_pending(found)
    found.decisions = found.decisions[-_MOST_OPEN:]
    return found


def worth_reading(messages: Iterable[Message]) -> list[Message]:
    """All that was not taken back, or of very many the beginning, the end, and what changed, failed or was listed between
    them: a summary has room for no more than that, and reading the rest would take seconds. What is given back gives the
    same again."""
    beginning: list[Message] = []
    between: list[Message] = []
    end: deque[Message] = deque()
    for message in messages:
        if message.reverted:
            continue
        if len(beginning) < _BEGINNING:
            beginning.append(message)
            continue
        end.append(message)
        if len(end) > _END and _left_a_trace(older := end.popleft()):
            between.append(older)
    return [*beginning, *between, *end]


def _left_a_trace(message: Message) -> bool:
    return (
        bool(message.error)
        or message.is_summary
        or any(
            part.patch is not None
            or part.type in (PartType.TODO, PartType.COMPACTION)
            or (part.tool is not None and part.tool.status is ToolStatus.ERROR)
            for part in message.parts
        )
    )


def prompt_text(message: Message) -> str:
    """What the person typed."""
    texts = [str(p.metadata.get("display_text") or p.text) for p in message.parts if _is_said(p)]
    return unquoted(without_boilerplate("\n".join(texts)))


def _is_said(part: Part) -> bool:
    return part.type is PartType.TEXT and not part.synthetic and bool(part.text.strip())


def _voices(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        if message.author is not Author.SYNTHETIC and message.role in (Role.USER, Role.ASSISTANT):
            yield from (part.text for part in message.parts if _is_said(part))


class _Reader:
    """Reads one message into the evidence."""

    def __init__(self, found: Evidence, todos: TodoList, order: int, *, has_patches: bool) -> None:
        self._found = found
        self._todos = todos
        self._order = order
        self._has_patches = has_patches

    def read(self, message: Message) -> None:
        if is_prompt(message) and not message.is_summary:
            self._prompt(message)
        elif not self._found.turns:
            self._found.turns.append(Turn("", self._order, answered=True))
        for part in message.parts:
            match part.type:
                case PartType.COMPACTION:
                    self._summary(part.text)
                case PartType.TEXT if message.is_summary:
                    self._summary(part.text)
                case PartType.TEXT if _is_said(part) and message.role is Role.ASSISTANT:
                    self._answer(part.text)
                case PartType.TOOL_CALL:
                    self._tool(part)
                    if part.tool and not self._has_patches:
                        for patch in edits_of(part.tool):
                            self._patch(patch)
                case PartType.PATCH if part.patch:
                    self._patch(part.patch)
                case PartType.TODO if part.text.strip():
                    self._found.todos = [part.text.strip()]
                    self._found.todo_entries = todos_in([{"content": part.text}])
                case _:
                    pass
        if message.error and not is_no_answer(message.error):
            self._found.failed_answer = message.error
        elif message.role is Role.ASSISTANT and message.parts:
            self._found.failed_answer = None

    # --- what was said

    def _prompt(self, message: Message) -> None:
        text = prompt_text(message)
        if not text or is_client_command(text):
            return
        found = self._found
        previous = found.turns[-1] if found.turns else None
        asked = self._choice_left_by(previous) if previous is not None else None
        spoken = _language_of(text, found.language)
        nod = len(text) < 60 and bool(spoken.acknowledge.fullmatch(text.strip()) or _COMMAND.match(text))
        found.turns.append(Turn(text, self._order, nod))
        said = list(sentences(text))
        agrees = not _COMMAND.match(text) and (nod or bool(said and _agrees(said[0].text, spoken)))
        if previous and agrees:
            self._accepted(previous)
        if previous and asked and not nod and said and self._chooses(text, said, asked, previous, agrees=agrees):
            statements = " ".join(s.text for s in said[:3] if not s.text.endswith("?"))
            self._decide(statements, human=True, asked=asked.text)
        for sentence in decisions_in("\n".join(s.text for s in said)):
            self._decide(sentence, human=True)
        found.failed += [
            self._said(s, spoken, last=False, by_human=True)
            for s in said
            if _tells_failure(s.text, spoken) or _reports(s.text, spoken)
        ]
        if not agrees:
            found.promised = []

    def _choice_left_by(self, turn: Turn) -> QuotableSentence | None:
        """Where the last answer asks for a choice, or proposes something; "in which file?" does neither."""
        last = turn.answers[-1:] and [said for said in turn.answers if said.order == turn.answers[-1].order]
        spoken = _language_of(" ".join(said.text for said in last), self._found.language)
        asks = last[-1:] and last[-1].question
        found = [
            said
            for said in reversed(last)
            if (spoken.choice if asks and said is last[-1] else spoken.proposal).search(said.text)
        ]
        # "Next options" is a heading: what stands under it is what is left to choose.
        whole = (said for said in found if said.question or len(said.words) >= _PROPOSAL_WORDS)
        return next(whole, found[0] if found else None)

    def _chooses(
        self, text: str, said: Sequence[Sentence], asked: QuotableSentence, turn: Turn, *, agrees: bool
    ) -> bool:
        """What is said to a question, or to a proposal that closes the answer, is a choice, whatever its words; to one further
        up, what takes it up. A command to the client is neither."""
        if said[0].text.endswith("?") or text.lstrip()[:1] in ("/", "!"):
            return False
        is_closing = any(each is asked for each in turn.answers[-_CLOSING:])
        if asked.question or is_closing or agrees or _REFUSES.match(text):
            return True
        words = content_words(" ".join(s.text for s in said[:3]), self._found.language.words)
        return bool({word[:_BEGINNING_OF_WORD] for word in words} & {word[:_BEGINNING_OF_WORD] for word in asked.words})

    def _accepted(self, previous: Turn) -> None:
        """A nod makes a decision of what was proposed last."""
        for said in reversed(previous.answers):
            spoken = _language_of(said.text, self._found.language)
            if said.question or len(said.words) < _PROPOSAL_WORDS:
                continue  # "Next options" proposes nothing by itself
            if decisions_in(said.text) or spoken.proposal.search(said.text):
                self._decide(said.text, human=True, order=said.order)
                return

    def _answer(self, text: str) -> None:
        found = self._found
        turn = found.turns[-1]
        turn.answered = True
        spoken = _language_of(text, found.language)
        said = list(sentences(text))
        kept = []
        found.promised = [
            self._said(s, spoken, last=False) for s in said if s.text[-1:] != "?" and spoken.promise.search(s.text)
        ]
        for position, sentence in enumerate(said):
            bare = _after_nod(sentence.text, spoken)
            if not bare or (spoken.announce.match(bare) and not spoken.outcome.search(bare)):
                continue
            each = self._said(sentence, spoken, last=position == len(said) - 1)
            kept.append(each)
            if not each.question and _is_pending(sentence, spoken):
                found.pending.append(each)
            elif each.outcome or (not each.question and spoken.reported.search(sentence.heading)):
                found.done_names.setdefault(each.order, set()).update(each.names)
                found.done_words.append((each.order, each.words))
            if _tells_failure(sentence.text, spoken):
                found.failed.append(each)
        turn.answers += kept
        labelled = [s.text for s in said if _LABEL.match(s.text)]
        for decided in (*labelled, *decisions_in("\n".join(s.text for s in said if not s.text.endswith("?")))):
            # "I replaced a by b instead of c" tells a change.
            reported = spoken.outcome.search(decided) and names_in(decided) and decided not in labelled
            if not reported and not spoken.announce.match(decided):
                self._decide(decided, human=False)

    def _said(
        self, sentence: Sentence, spoken: Language, *, last: bool, by_human: bool = False, of_client: bool = False
    ) -> QuotableSentence:
        text = sentence.text
        return QuotableSentence(
            text,
            len(self._found.turns) - 1,
            self._order,
            by_human,
            names_in(text),
            content_words(text, spoken.words),
            outcome=bool(spoken.outcome.search(text)),
            cause=bool(spoken.cause.search(text)),
            question=text.rstrip("\"'»)").endswith("?"),
            last=last,
            of_client=of_client,
        )

    def _decide(self, text: str, *, human: bool, order: int | None = None, asked: str = "") -> None:
        text = _LABEL.sub("", text)
        if not text:
            return
        text = capital(text)
        spoken = _language_of(text, self._found.language)
        turn = max(0, len(self._found.turns) - 1)
        words = content_words(text, spoken.words)
        self._found.decisions.append(
            QuotableSentence(
                text, turn, self._order if order is None else order, human, names_in(text), words, asked=asked
            )
        )

    def _summary(self, text: str) -> None:
        """A client's own summary: what its headings or words call open, failed or decided. It replaces the one before it."""
        if not text.strip():
            return
        found = self._found
        spoken = _language_of(text, found.language)
        summary = read_summary(text)
        found.pending = [said for said in found.pending if not said.of_client]
        if summary.next:
            found.promised = []

        def noted(point: str) -> QuotableSentence:
            return self._said(Sentence(point), spoken, last=False, of_client=True)

        for point in summary.failed:
            # "Discovered but not yet fixed" stands among the errors, and is open.
            (found.pending if spoken.pending.search(point[:_PENDING_HEADING]) else found.failed).append(noted(point))
        found.pending += map(noted, summary.open)
        found.client_goal = noted(summary.goal) if summary.goal else found.client_goal
        found.client_next = noted(summary.next) if summary.next else None
        for sentence in sentences(summary.rest):
            if sentence.text.endswith("?"):
                continue
            # Clients fill their summaries with sentences of their own: that something fails is not enough there.
            if _is_pending(sentence, spoken, strict=True):
                found.pending.append(self._said(sentence, spoken, last=False, of_client=True))
            elif decisions_in(sentence.text):
                self._decide(sentence.text, human=False)

    # --- what was done

    def _tool(self, part: Part) -> None:
        found = self._found
        tool = part.tool
        if tool is None:
            return
        if self._todos.read(tool) and self._todos.entries is not None:
            found.todo_entries = self._todos.entries
            found.todos = [todo.text for todo in self._todos.entries if todo.is_open]
            for todo in self._todos.entries:
                if not todo.is_open:
                    found.done_words.append((self._order, content_words(todo.text, found.language.words)))
        run = run_of(part)
        if run is None:
            return
        if not run.is_looking:
            found.promised = []
        found.paths.update(
            a
            for a in run.arguments
            if a.startswith("/") and "." in a.rsplit("/", 1)[-1] and not run.what.startswith("command ")
        )
        if run.failed:
            found.errors[f"{run.what} {run.subject}"] = (run, self._order)
        else:
            command = command_of(tool) or ""
            for key, (error, _) in list(found.errors.items()):
                # What failed alone may have worked as a piece of a longer line.
                if run.closes(error) or (command and error.what.startswith("command ") and error.subject in command):
                    del found.errors[key]
            if command:
                if commits := _COMMIT.findall(run.output):
                    found.commits.update(commits)
                    found.done_words += [
                        (self._order, content_words(subject, found.language.words)) for _, subject in commits
                    ]
                # What runs in the background, or is told to say nothing, prints no commit.
                if commits or _COMMITS.search(command):
                    found.committed = self._order
            elif not run.what.startswith("command ") and not run.is_looking:
                self._noted(tool.input)
        if run.is_check and (run.failed or result_line(run.output)):
            found.last_check = run
        if run.is_check and not run.failed:
            found.passed = self._order

    def _noted(self, given: Any) -> None:
        """A decision that was written down with a tool of memory."""
        if not isinstance(given, Mapping) or any(key in given for key in ("file_path", "filePath", "path", "content")):
            return
        for value in given.values():
            if isinstance(value, str) and len(value) < 300:
                for sentence in decisions_in(value):
                    self._decide(sentence, human=False)

    def _patch(self, patch: Patch) -> None:
        turn = len(self._found.turns) - 1
        names = _changed_names(patch.diff or "")
        for path in patch.files:
            if _NOISE.search(path):
                continue
            self._found.turns[turn].patched = True
            change = self._found.changes.setdefault(path, FileChange())
            change.turn = turn
            if len(patch.files) == 1:
                change.additions += patch.additions
                change.deletions += patch.deletions
            change.names.update(dict.fromkeys(names))
            change.called.update(dict.fromkeys(_CALLED.findall((patch.diff or "")[:20_000])))
            self._found.paths.add(path)
            self._found.changed = self._order
        self._found.done_names.setdefault(self._order, set()).update(names, patch.files)


def _tells_failure(text: str, spoken: Language) -> bool:
    """Something that was tried and did not do; what would happen "if it still fails" did not happen."""
    return not text.endswith("?") and not _IF.match(text) and spoken.failed.search(text) is not None


def _reports(text: str, spoken: Language) -> bool:
    """What a person says does not work, by its name."""
    return not text.endswith("?") and spoken.broken.search(text) is not None and bool(names_in(text))


def _after_nod(text: str, spoken: Language) -> str:
    """A sentence without the yes or thanks in front; empty when it is nothing else."""
    nod = spoken.acknowledge.match(text)
    return text[nod.end() :].strip() if nod else text


def _agrees(text: str, spoken: Language) -> bool:
    return bool(spoken.acknowledge.match(text))


def open_todos(todos: Sequence[Any]) -> list[str]:
    """What of a todo list is still to be done."""
    return [todo.text for todo in todos_in(todos) if todo.is_open]


def _changed_names(diff: str) -> list[str]:
    """What a diff defines or changes the inside of."""
    names: dict[str, None] = {}
    inside = ""
    for line in diff[:20_000].splitlines():
        if line.startswith(("+++", "---", "Index:", "diff ")):
            continue
        body = line.rsplit("@@", 1)[-1] if line.startswith("@@") else line[1:]
        defined = _DEFINES.match(body)
        inside = defined[1] if defined else "" if line.startswith("@@") else inside
        if line.startswith(("+", "-")) and line[1:].strip() and inside:
            names[inside] = None
    return list(names)[:6]


def _language_of(text: str, usual: Language) -> Language:
    """A session may change its language from one message to the next; a few words alone do not."""
    language = identify([text])
    lower = text.lower().split()
    ahead = sum(word in language.words for word in lower) - sum(word in usual.words for word in lower)
    return language if ahead >= 2 else usual


def _is_pending(sentence: Sentence, spoken: Language, *, strict: bool = False) -> bool:
    under = len(sentence.heading) < _PENDING_HEADING and any(
        each.pending.search(sentence.heading) for each in (spoken, *languages())
    )
    text = sentence.text
    broken = not strict and spoken.broken.search(text) and not spoken.outcome.search(text)
    if not under and not spoken.pending.search(text) and not broken:
        return False
    rest = spoken.pending.sub(" ", sentence.text)
    return bool(names_in(rest)) or len(content_words(rest, spoken.words)) >= 3


def _close_pending(found: Evidence) -> None:
    """A point is no longer pending once something later changed, or reported done, what it names. That something
    fails is over with the next check that passes, or where it was what a change came for."""
    still: list[QuotableSentence] = []
    done: dict[str, int] = {}
    for at, names in found.done_names.items():
        for name in names:
            done.update((bare, max(at, done.get(bare, -1))) for bare in _bare(name))
    for said in found.pending[-_MOST_OPEN:]:
        (found.closed if _is_closed(found, said, done) else still).append(said)
    found.pending = still


def _is_closed(found: Evidence, said: QuotableSentence, done: Mapping[str, int]) -> bool:
    if any(done.get(bare, -1) > said.order for name in said.names for bare in _bare(name)):
        return True
    if said.of_client:
        return (
            (_COMMITTING.match(said.text) is not None and found.committed > said.order)
            or (found.passed > said.order and _hangs_on_a_check(said.text, found.language))
            or any(order > said.order and _covers(words, said.words) for order, words in found.done_words)
        )
    spoken = _language_of(said.text, found.language)
    return not spoken.pending.search(said.text) and max(found.passed, found.changed) > said.order


def _hangs_on_a_check(text: str, spoken: Language) -> bool:
    """A check that was to be run, and what was to be done if something still failed."""
    condition = _CONDITION.search(text)
    return bool(_CHECKING.match(text) or (condition and _fails(text[condition.end() :], spoken)))


def _fails(text: str, spoken: Language) -> bool:
    return any(each.search(text) for each in (spoken.broken, spoken.failed, spoken.types["bugfix"]))


def _covers(done: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether most of what was to be done is reported, by the beginnings of words: "remove" as "removed"."""
    wanted = {word[:_BEGINNING_OF_WORD] for word in asked}
    held = {word[:_BEGINNING_OF_WORD] for word in done}
    return len(wanted) >= _WORDS_OF_A_POINT and len(wanted & held) >= _COVERED * len(wanted)


def _bare(name: str) -> set[str]:
    """Names under which something may be spoken of again: ``src/a.py`` as ``a.py``, ``Handler.save`` as ``save``."""
    last = name.rsplit("/", 1)[-1].removesuffix("()").lower()
    tail = last.rsplit(".", 1)[-1]
    return {last, tail} if len(tail) > 3 and "/" not in name and not last.startswith(".") else {last}
