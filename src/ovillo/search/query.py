"""Reading a query as people type it: words, phrases, prefixes, exclusions, regular expressions, qualifiers.

Owns the grammar. What to ask the index for is the planner's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ovillo.model.clock import parse_when
from ovillo.model.errors import InvalidInput
from ovillo.model.records import PartType, Role, SessionId
from ovillo.search.analysis import words
from ovillo.store.protocol import DocFilter, SessionFilter

_MAX_QUERY = 2_000
_TOKEN = re.compile(
    r"""(?P<minus>-)?(?:(?P<name>[a-z]+):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))|"(?P<phrase>[^"]*)"?|(?P<word>\S+))""",
    re.IGNORECASE,
)
_REGEX = re.compile(r"(?:^|\s)/(?P<pattern>(?:[^/\\]|\\.)+)/(?=\s|$)")
_QUALIFIERS = frozenset(
    [
        "agent",
        "project",
        "source",
        "model",
        "branch",
        "type",
        "file",
        "entity",
        "tool",
        "role",
        "before",
        "after",
        "is",
        "has",
        "session",
    ]
)


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked. ``words`` are as written, in order."""

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    pattern: str | None = None
    where: DocFilter = field(default_factory=DocFilter)
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases or self.prefixes or self.pattern)


def parse_query(text: str, now: int) -> Query:
    """Raises InvalidInput for a query that is too long or a qualifier with a value it does not know."""
    if len(text) > _MAX_QUERY:
        raise InvalidInput(f"The query has {len(text)} characters.", hint=f"Keep it under {_MAX_QUERY}.")
    rest = text.replace("\0", " ")
    pattern: str | None = None
    if found := _REGEX.search(rest):
        pattern = found["pattern"].replace("\\/", "/")
        rest = rest[: found.start()] + " " + rest[found.end() :]
    query = Query(text=text, pattern=pattern)
    for token in _TOKEN.finditer(rest):
        query = _read(query, token, now)
    return query


def _read(query: Query, token: re.Match[str], now: int) -> Query:
    name = (token["name"] or "").lower()
    value = token["quoted"] if token["quoted"] is not None else token["value"]
    if name in _QUALIFIERS and value:
        return replace(query, where=_qualified(query.where, name, value, now))
    if token["phrase"] is not None:
        said = token["phrase"].strip()
        if not said:
            return query
        return (
            replace(query, excluded=(*query.excluded, said))
            if token["minus"]
            else replace(query, phrases=(*query.phrases, said))
        )
    written = token.group().strip()
    if token["minus"]:
        written = written[1:]
        return replace(query, excluded=(*query.excluded, written)) if words(written) else query
    if written.endswith("*") and len(written) > 2 and words(written):
        return replace(query, prefixes=(*query.prefixes, written[:-1]))
    return replace(query, words=(*query.words, written))


def _qualified(where: DocFilter, name: str, value: str, now: int) -> DocFilter:
    session = where.session
    match name:
        case "agent" | "project" | "source" | "model" | "branch" | "type":
            return replace(where, session=_set(session, name, value))
        case "session":
            return replace(where, session=replace(session, session_ids=(SessionId(value),)))
        case "file" | "entity":
            return replace(where, file=value)
        case "tool":
            return replace(where, tool=value)
        case "role":
            return replace(where, roles=(_role(value),))
        case "before" | "after":
            at = parse_when(value, now)
            if at is None:
                raise InvalidInput(f"{name}:{value} is no time.", hint="Write 2026-11-21, 7d, 24h, today or yesterday.")
            return replace(where, before=at) if name == "before" else replace(where, after=at)
        case "is":
            _one_of(name, value, "error")
            return replace(where, is_error=True)
        case _:
            _one_of(name, value, "patch")
            return replace(where, has_patch=True, part_types=(PartType.PATCH,))


def _set(session: SessionFilter, name: str, value: str) -> SessionFilter:
    match name:
        case "agent":
            return replace(session, agent=value)
        case "project":
            return replace(session, project=value)
        case "source":
            return replace(session, source=value)
        case "model":
            return replace(session, model=value)
        case "branch":
            return replace(session, branch=value)
        case _:
            return replace(session, type=value)


def _role(value: str) -> Role:
    try:
        return Role(value.lower())
    except ValueError:
        raise InvalidInput(f"role:{value} is unknown.", hint="Roles: user, assistant, system, tool.") from None


def _one_of(name: str, value: str, known: str) -> None:
    if value.lower() != known:
        raise InvalidInput(f"{name}:{value} is unknown.", hint=f"Write {name}:{known}.")
