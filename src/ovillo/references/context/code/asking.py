"""Telling a question about code, and which one: where something is defined, who calls it, what tests it, what happens when.

Owns reading the question's grammar (``asks.toml``: four languages) and the names in it. Knows no project: whether a name exists
is found out by ``subjects``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from ovillo.model.data_files import text_beside
from ovillo.references.context.asking import asks_what_happened
from ovillo.search.analysis import fold, fold_with_offsets


class Ask(StrEnum):
    TESTS = "tests"
    CALLERS = "callers"
    CALLEES = "callees"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    SIGNATURE = "signature"
    CHANGED = "changed"
    WHY = "why"
    BEHAVIOUR = "behaviour"
    DEFINITION = "definition"
    NONE = "none"


#: How surely a question of this grammar is one about code, before anything is known of what it names.
_SURE = {
    Ask.TESTS: 0.6,
    Ask.CALLERS: 0.65,
    Ask.CALLEES: 0.65,
    Ask.IMPORTERS: 0.75,
    Ask.IMPORTS: 0.75,
    Ask.SIGNATURE: 0.6,
    Ask.CHANGED: 0.2,
    Ask.WHY: 0.3,
    Ask.BEHAVIOUR: 0.5,
    Ask.DEFINITION: 0.45,
    Ask.NONE: 0.25,
}
#: Asked of code and of what was said about it.
OF_BOTH = frozenset((Ask.WHY, Ask.CHANGED))
#: Asks that nothing but the code answers.
OF_CODE_ONLY = frozenset((Ask.CALLERS, Ask.CALLEES, Ask.IMPORTERS, Ask.IMPORTS, Ask.SIGNATURE))
#: Asks that are of sessions where their tense is past.
_TOLD_IN_PAST = frozenset((Ask.NONE, Ask.WHY, Ask.CHANGED, Ask.BEHAVIOUR))
_NAMED, _NOUN, _OF_SESSION, _OF_BOTH_SURE = 0.35, 0.15, 0.45, 0.45

#: Names that cannot be words: in backticks, dotted, with underscores or inner capitals, called, of a file, all capitals with ``_``.
_NAME = re.compile(
    r"`(?P<quoted>[^`\n]{2,120})`"
    r"|(?P<file>(?:[\w.@-]+/)*[\w-]+\.(?:py|pyi|tsx?|jsx?|mjs|cjs|go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|php|sql|md|ya?ml|toml|json|sh|ini|cfg|html|css|vue|svelte|proto|graphql|prisma|tf))\b(?!\()"
    r"|(?P<dotted>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)+)(?:\(\))?"
    r"|(?P<called>[A-Za-z_$][\w$]*)\(\)"
    r"|(?P<cased>\b\w*[^\W_]_\w+\b|\b_+[^\W\d_]\w*|\b[^\W\d_]*[a-z0-9][A-Z]\w*\b|\b[A-Z]{2,}[a-z]\w+\b)"
)
#: Abbreviations with dots that are no names.
_NO_NAME = frozenset(["e.g", "i.e", "p.ej", "p.ex", "etc", "node.js", "vue.js", "next.js", "asp.net"])
_SPACES = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """``names`` are written as code is; ``object`` is the word that stands where a name is expected (``who calls refund?``),
    which is a name when the code has it."""

    text: str
    ask: Ask
    names: tuple[str, ...]
    #: Paths, or names of files.
    files: tuple[str, ...]
    object: str | None
    #: 0..1, by grammar alone.
    sure: float
    #: Whether it asks for what was said or done, not for what the code does.
    of_session: bool
    #: Whether it speaks of code, by a noun of it or because it asks for the code beside what was said.
    speaks_of_code: bool = False
    #: Whether it asks for what was said and for the code as it is now.
    of_both: bool = False
    #: Whether it asks how many or how much.
    of_number: bool = False
    #: Whether it speaks of an edit.
    of_edit: bool = False
    #: What stands before and behind the words that ask: of callers, what sort of them, and of what.
    before: str = ""
    behind: str = ""

    def is_for_sessions(self, past: bool) -> bool:
        """Whether only sessions can answer it: it asks for what was said or done, and speaks of nothing that code has. ``past``
        says whether its tense is one of what happened."""
        if self.names or self.files or self.speaks_of_code:
            return False
        return self.of_session or (past and self.ask in _TOLD_IN_PAST)

    @property
    def described(self) -> str:
        """What is left when the words that only ask are left out; the whole question where nothing is left."""
        return _without_asking(self.text)

    @property
    def called(self) -> str:
        """Of a question for callers: what is called, as it is described."""
        telling = [word for word in self.behind.split() if _plain_word(word) not in _carriers()]
        return _without_asking(self.behind) if len(telling) > 1 else self.described


def read(question: str) -> CodeQuestion:
    plain, offsets = fold_with_offsets(question)
    plain = plain.replace("’", "'")
    ask, found = next(((ask, match) for ask, pattern in _asks() if (match := pattern.search(plain))), (Ask.NONE, None))
    names, paths = names_in(question)
    of_session = bool(_signs("session").search(plain))
    has_noun = bool(_signs("code").search(plain))
    of_both = bool(
        _signs("both").search(plain) or ((of_session or asks_what_happened(question)) and _signs("still").search(plain))
    )
    sure = _SURE[ask] + (_NAMED if names or paths else 0.0) + (_NOUN if has_noun else 0.0)
    if of_session:
        sure -= _OF_SESSION / 3 if ask in OF_CODE_ONLY and (names or paths) else _OF_SESSION
        if of_both:
            sure = max(sure, _OF_BOTH_SURE)
    end = offsets[found.end()] if found is not None and found.end() < len(offsets) else len(question)
    named = _object(question, ask)
    sure = max(0.0, min(sure, 1.0))
    speaks_of_code = has_noun or of_both
    signs = (of_session, speaks_of_code, of_both, bool(_signs("number").search(plain)))
    of_edit = bool(_signs("edited").search(plain))
    return CodeQuestion(question, ask, names, paths, named, sure, *signs, of_edit, question[:end], question[end:])


def names_in(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and paths of files as they are written, each once."""
    names: dict[str, None] = {}
    paths: dict[str, None] = {}
    for found in _NAME.finditer(question):
        kind = found.lastgroup
        said = found[kind] if kind else ""
        if kind == "quoted":
            said = said.strip().removesuffix("()")
            if inner := _NAME.fullmatch(said):
                kind = inner.lastgroup or kind
        if said.lower() in _NO_NAME:
            continue
        (paths if kind == "file" else names)[said] = None
    return tuple(names), tuple(paths)


def _object(question: str, ask: Ask) -> str | None:
    """The last word that could be a name, of a question as short as those about one name are."""
    if ask in (Ask.NONE, Ask.BEHAVIOUR, Ask.WHY, Ask.CHANGED):
        return None
    words = [word for word in _SPACES.split(question) if word]
    telling = [word for word in words if fold(word) not in _carriers() and len(word) > 1]
    return telling[-1] if 1 <= len(telling) <= 2 else None


@cache
def _tables() -> dict[str, dict[str, object]]:
    return tomllib.loads(text_beside(__file__, "asks.toml"))


@cache
def _asks() -> tuple[tuple[Ask, re.Pattern[str]], ...]:
    tables = _tables()
    return tuple((Ask(name), _pattern(tables[name])) for name in tables if name not in ("signs", "carriers", "asking"))


@cache
def _signs(name: str) -> re.Pattern[str]:
    table = _tables()["signs"][name]
    assert isinstance(table, dict)
    return _pattern(table)


def _without_asking(text: str) -> str:
    kept = [word for word in text.split() if _plain_word(word) not in _asking()]
    return " ".join(kept) if any(_plain_word(word) not in _little() for word in kept) else text


def _plain_word(word: str) -> str:
    return fold(word).strip("¿?¡!.,;:()\"'«»").replace("’", "'").rpartition("'")[2]


@cache
def _asking() -> frozenset[str]:
    return frozenset(" ".join(str(text) for text in _tables()["asking"].values()).split())


@cache
def _little() -> frozenset[str]:
    from ovillo.search.stopwords import ALL_STOP_WORDS

    return frozenset(map(fold, ALL_STOP_WORDS)) | {""}


@cache
def _carriers() -> frozenset[str]:
    """Words that only carry a question about one name."""
    said = " ".join(str(text) for text in _tables()["carriers"].values())
    return frozenset(said.split()) | _little()


def _pattern(table: dict[str, object]) -> re.Pattern[str]:
    return re.compile(
        "|".join(str(one) for some in table.values() for one in (some if isinstance(some, list) else [some]))
    )
