"""What a text says without what its surroundings did to it: colours, invisible characters, escapes, margins, line wraps.

Owns the forms of a text in which secrets are looked for beside its own, and where a place of a form stands in the text.
A word and its value stand together in a terminal, but apart in what a tool recorded of it: quotes become ``\\"``, line
breaks ``\\n``, each line gets a number, a ``+``, a ``>`` or the name of a container. Rules know the plain form only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

#: JSON inside JSON inside JSON.
_LEVELS = 3
#: Longer texts are not unescaped: the rules know one level of escapes by themselves.
_LONGEST = 1 << 20

#: Characters that take no place: zero-width blanks and joiners, marks of direction, soft hyphens, the byte order mark.
_INVISIBLE = re.compile(rb"\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad")
#: What colours the output of programs; it stands between a word and its value.
_UNSEEN = re.compile(rb"(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]*[mK]|" + _INVISIBLE.pattern)
_ENTITY = re.compile(rb"&(?:quot|apos|amp|lt|gt|#3[49]);")
_ESCAPED = re.compile(rb"\\(?:[\"'/nrtbf]|u[0-9A-Fa-f]{4}|\\+(?=[\"'/nrtu\\]))|" + _ENTITY.pattern)
_SIGNS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b" ", b"f": b" "}
_ENTITIES = {
    b"&quot;": b'"',
    b"&apos;": b"'",
    b"&amp;": b"&",
    b"&lt;": b"<",
    b"&gt;": b">",
    b"&#34;": b'"',
    b"&#39;": b"'",
}
#: What tools put before each line: its number, the file it is from, a quote, a sign of a diff, the name of a container.
_MARGINS = re.compile(
    rb"(?m)^(?:[ \t]*[0-9]{1,6}(?:\xe2\x86\x92|\t|[|:] ?)|[\w./-]{1,120}[:-][0-9]{1,6}[:-]|[\w.-]{1,40}[ \t]+\| |(?:> ?)+|[+-](?!\+\+|--))"
)
#: A line break inside a word, where a terminal ran out of columns: digits and letters at both sides of it, as in no prose.
_WRAP = re.compile(rb"(?<=[0-9A-Za-z_+/=.~-]{12})\r?\n(?=[A-Za-z_+/=~-]{0,12}[0-9])")
_MIXED = re.compile(rb"[0-9][^\s]*[A-Za-z]|[A-Za-z][^\s]*[0-9]")
_NARROWEST = 40


class Form:
    """A text as it reads without something, and where each place of it stands in the text it was made from."""

    def __init__(self, data: bytes, pattern: re.Pattern[bytes], instead: Callable[[re.Match[bytes]], bytes]) -> None:
        pieces: list[bytes] = []
        #: Where each piece begins here, and where it begins and ends in the text; what is equal long was not changed.
        self._starts: list[int] = []
        self._raw: list[tuple[int, int]] = []
        done = length = 0
        for match in pattern.finditer(data):
            for piece, start, end in (
                (data[done : match.start()], done, match.start()),
                (instead(match), *match.span()),
            ):
                if piece:
                    self._starts.append(length)
                    self._raw.append((start, end))
                    pieces.append(piece)
                    length += len(piece)
            done = match.end()
        self._starts.append(length)
        self._raw.append((done, len(data)))
        self.data = b"".join([*pieces, data[done:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text ``start`` to ``end`` of this form stand."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, position: int) -> tuple[int, int]:
        index = bisect_right(self._starts, position) - 1
        start, end = self._raw[index]
        following = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.data)
        if following - self._starts[index] != end - start:
            return start, end
        start += position - self._starts[index]
        return start, start + 1


def forms_of(data: bytes, *, margins: bool = True) -> Iterator[tuple[bytes, tuple[Form, ...]]]:
    """Forms of ``data`` other than its own, each made from the one before, with what leads back from its places.

    ``margins`` matter to what goes on over several lines only."""
    if len(data) > _LONGEST:
        return
    chain: tuple[Form, ...] = ()
    for _ in range(_LEVELS):
        if not _is_escaped(data):
            break
        chain = (Form(data, _ESCAPED, _unescaped), *chain)
        yield (data := chain[0].data), chain
    if b"\n" not in data:
        return
    if margins and _has_margins(data):
        chain = (Form(data, _MARGINS, _nothing), *chain)
        yield (data := chain[0].data), chain
    if _WRAP.search(data) and _is_wrapped(data):
        chain = (Form(data, _WRAP, _nothing), *chain)
        yield chain[0].data, chain


def seen(data: bytes) -> Form:
    """``data`` as a terminal or a page shows it."""
    return Form(data, _UNSEEN, _nothing)


def _nothing(match: re.Match[bytes]) -> bytes:
    return b""


def _unescaped(match: re.Match[bytes]) -> bytes:
    written = match[0]
    if written.startswith(b"&"):
        return _ENTITIES[written]
    if written[1:2] == b"u":
        return chr(int(written[2:], 16)).encode("utf-8", "surrogatepass")
    if written[1:2] == b"\\":
        return b"\\" * (len(written) // 2)
    return _SIGNS.get(written[1:], written[1:])


def _is_escaped(data: bytes) -> bool:
    """Whether a text was written into another one; a line break in a string of source code is none of that."""
    if b"&" in data and _ENTITY.search(data):
        return True
    return b"\\" in data and (b'\\"' in data or b"\\u" in data or data.count(b"\\n") > data.count(b"\n"))


def _has_margins(data: bytes) -> bool:
    """Whether two lines of the first few begin with what a tool writes before lines."""
    least = 2 if _MARGINS.match(data) else 4
    return len(_MARGINS.findall(data, 0, 2000)) >= least


def _is_wrapped(data: bytes) -> bool:
    return any(
        match.start() - data.rfind(b"\n", 0, match.start()) > _NARROWEST
        and _MIXED.search(data, match.start() - 12, match.start()) is not None
        for match in _WRAP.finditer(data)
    )
