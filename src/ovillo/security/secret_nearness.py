"""Secrets that stand near a word for one in running text, however the sentence goes.

Owns the walk from such a word to its value, in both directions: over words, names of hosts, addresses and quotes, not
over code, and no further than a few words. People say it in too many ways to list them ("use X when it asks for the
password", "la contraseña, que era X, caduca"), but say it beside the word, and what they choose looks like no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ovillo.security.plain_words import IDENTIFIED
from ovillo.security.secret_rules import Check
from ovillo.security.secret_values import is_secret

#: How far to look (bytes, words) behind the word and before it, and behind the end of its sentence.
_BEHIND, _BEFORE = 160, 110
_WORDS_BEHIND, _WORDS_BEFORE, _WORDS_OF_NEXT = 9, 7, 4
#: Words of the line that answers, before the answer.
_WORDS_OF_ANSWER = 3

_PUBLIC = re.compile(
    rb"(?i)public|publishable|fingerprint|recv-key|primary|foreign|cache|sort|partition|idempotency|host[ _-]key|websocket"
)
_KIND_OF_KEY = re.compile(
    rb"(?i)(?:api|app|access|secret|private|auth|encryption|signing|master|account|storage|admin|service|deploy|shared|"
    rb"server|licen[cs]e)[ _-]$"
)
_TOKEN = re.compile(r"\[redacted:[^\]\s]*\]|[^\s\"'`«»“”‘’()<>|\[\]→]+|→")
#: Something in it is no letter: a digit, or a sign that words do not carry. Most lines end here.
_MAYBE = re.compile(r"[0-9!#$%&@*?^~+]")
#: What stands between words of a sentence; anything else is code.
_WALKED = re.compile(
    r"[^\W_]+(?:[-'’./@_][^\W_]+)*[,:;.!?…]*|[-–—→*•&/+,:;.!?…]+|->|=>|<-|\[redacted:[a-z_0-9]+:[0-9a-f]{6}\]\S{0,3}"
)
_SENTENCE_END = re.compile(r"[.!?…][*_]*$")
_TAIL = ".,;:!?…*_"
#: A key may be plain hexadecimal, or a UUID, with so many words between.
_DIRECTLY = 2
_END = re.compile(rb"[\s\"'`<>()|\[\]]|\Z")
#: Tokens are no longer (bytes).
_LONGEST = 4096
#: The line ends with a question or a colon, or soon after the word; and the line that answers, perhaps below an empty one.
_ASKS = re.compile(r"[^\n=]{0,100}?[?:][ \t*_]*$|[ \t]*(?:[^\W\d_]+[ \t]*){0,2}$")
_ANSWER = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)?(?:[ \t]*```\w*[ \t]*\r?\n)?([^\n]{6,80}?)[ \t]*(?:\r?\n|$)")
#: Who answers, and how an answer begins.
_SPEAKER = re.compile(
    r"(?i)\[?\d{1,2}:\d\d(?::\d\d)?\]?|\d{1,2}[.)]|[\w.-]{1,16}:|[-–—*•>]+|é|es|est|it['’]s|c['’]est|is"
)


def near(data: bytes, start: int, end: int, check: Check) -> Iterator[tuple[int, int]]:
    """Where in ``data`` secrets stand that the word from ``start`` to ``end`` speaks of."""
    if _PUBLIC.search(data, max(0, start - 24), end):
        return
    # A key of a table, an object or a cache is no secret; a number in hexadecimal beside it is its value.
    plain = check is Check.NEAR_KEY and data[start:end].lower() in (b"key", b"keys")
    if plain and _KIND_OF_KEY.search(data, max(0, start - 14), start):
        plain = False
    if plain and data[start - 1 : start] in (b'"', b"'"):
        return
    line_start = data.rfind(b"\n", max(0, start - _BEFORE), start) + 1
    line_start = line_start or max(0, start - _BEFORE)
    before, behind = _text(data[line_start:start]), _text(data[end : _whole(data, end + _BEHIND)])
    line = behind.split("\n", 1)[0]
    # Called like this: what stands in the brackets are its arguments.
    if _MAYBE.search(line) and not (line.startswith("(") and data[start - 1 : start] in (b"_", b".")):
        yield from _placed(line, _forward(line, check, not plain), end)
    if _MAYBE.search(before):
        yield from _placed(before, _backward(before, check), line_start)
    if len(line) < len(behind) and _ASKS.match(line) and (answer := _ANSWER.match(behind, len(line))):
        yield from _placed(behind, _answered(answer, check), end)


def _whole(data: bytes, position: int) -> int:
    """Where the word at ``position`` ends: half a secret masked would be half told."""
    found = _END.search(data, position, position + _LONGEST)
    return found.start() if found else position


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _placed(text: str, found: Iterator[tuple[int, int]], offset: int) -> Iterator[tuple[int, int]]:
    for start, end in found:
        if text.isascii():
            yield offset + start, offset + end
        else:
            first = offset + len(text[:start].encode("utf-8", "surrogateescape"))
            yield first, first + len(text[start:end].encode("utf-8", "surrogateescape"))


def _forward(line: str, check: Check, exact: bool) -> Iterator[tuple[int, int]]:
    left, found, last = _WORDS_BEHIND, False, ""
    for match in _TOKEN.finditer(line):
        direct = exact and left >= _WORDS_BEHIND - _DIRECTLY and last not in IDENTIFIED
        if span := _secret(line, match, check, direct=direct):
            yield span
            found, left = True, min(left, 3)
        elif not _walks(line, match) or (found and not _JOINS.fullmatch(match[0])):
            return
        elif _SENTENCE_END.search(match[0]):
            left = min(left, _WORDS_OF_NEXT)
        last = match[0].lower().rstrip(_TAIL)
        left -= 1
        if left <= 0:
            return


def _walks(line: str, match: re.Match[str]) -> bool:
    """Whether the sentence goes on behind this word: it is no code, and calls nothing."""
    return _WALKED.fullmatch(match[0]) is not None and line[match.end() : match.end() + 1] not in ("(", "<", "|", "[")


#: Between a first and a second value.
_JOINS = re.compile(
    r"(?i)to|a|à|en|por|para|pra|or|o|ou|and|y|et|e|not|pero|but|no|→|->|=>|/|,|par|instead|now|is|es|est|é"
)


def _backward(line: str, check: Check) -> Iterator[tuple[int, int]]:
    if line.endswith(("=", "{", "}", "[", "$", "_", "-", ".", "/", "\\")):
        return  # The end of a longer name.
    left = _WORDS_BEFORE
    for match in reversed(list(_TOKEN.finditer(line))):
        if span := _secret(line, match, check):
            yield span
            return
        if not _walks(line, match) or _SENTENCE_END.search(match[0]):
            return
        left -= 1
        if left <= 0:
            return


def _answered(answer: re.Match[str], check: Check) -> Iterator[tuple[int, int]]:
    tokens = list(_TOKEN.finditer(answer.string, *answer.span(1)))
    if not tokens or len(tokens) > _WORDS_OF_ANSWER + 1 or not all(_SPEAKER.fullmatch(one[0]) for one in tokens[:-1]):
        return
    if len(tokens) == 1:
        check = Check.BOUND
        if tokens[0][0].endswith((":", ",", "{", "(")):
            return
    elif check is not Check.NEAR_KEY and not tokens[-2][0].endswith(":"):
        check = Check.NEAR_ANSWER
    if span := _secret(answer.string, tokens[-1], check, direct=True):
        yield span


def _secret(text: str, match: re.Match[str], check: Check, *, direct: bool = False) -> tuple[int, int] | None:
    if not _MAYBE.search(match[0]):
        return None
    start, end = match.span()
    value = match[0].lstrip(",;:=*_–—")
    start = end - len(value)
    # A password may end with the sign that ends the sentence: both are tried.
    kept = value.rstrip(".,;:…*_")
    if is_secret(kept, check, following=text[start + len(kept) : start + len(kept) + 1], direct=direct):
        return start, start + len(kept)
    return None
