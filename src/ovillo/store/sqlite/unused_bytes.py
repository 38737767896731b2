"""Which bytes of a database file no row uses: pure reading of SQLite's documented file format.

Owns the layout of pages as far as needed to find free space in them. Reads bytes and writes nothing; who zeroes them, and
when that is safe, is ``scrubbing``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

#: First byte of a page of a tree -> length of its header. A page that continues a long value, and one that lists free
#: pages, begin with a page number below 2**25, thus with 0 or 1.
_HEADER_OF = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
_MOST_PAGES = 1 << 25
_MAGIC = b"SQLite format 3\0"
#: First free block, number of cells, beginning of the cells.
_FREE_CELLS_START = Struct(">xHHH").unpack_from
_BLOCK = Struct(">HH").unpack_from
_TRUNK = Struct(">II").unpack_from
_ZEROS = bytes(1 << 16)

Span = tuple[int, int]


class Layout(NamedTuple):
    """Of a file; ``first_trunk`` begins the list of free pages (0: none)."""

    page_size: int
    first_trunk: int
    free: int

    @classmethod
    def of(cls, header: bytes, size: int) -> Layout | None:
        """From the first 100 bytes; ``None`` for a file whose pages may mean something else: an encrypted one, one with
        ``auto_vacuum``, whose maps of pages look like pages of a tree, and one of more than 2**25 pages."""
        if len(header) < 100 or not header.startswith(_MAGIC) or any(header[52:56]) or header[20]:
            return None
        page_size = int.from_bytes(header[16:18], "big")
        page_size = 1 << 16 if page_size == 1 else page_size
        if size >= _MOST_PAGES * page_size:
            return None
        return cls(page_size, *_TRUNK(header, 32))


def spans_in_use_of_nobody(data: bytes, at: int, page_size: int) -> list[Span]:
    """Unused spans of the page at ``data[at]`` that are not all zeros, as offsets in ``data``."""
    header = _HEADER_OF.get(data[at])
    if header is None:
        return []
    block, cells, start = _FREE_CELLS_START(data, at)
    spans = []
    begin, end = at + header + 2 * cells, at + (start or 1 << 16)
    if begin < end <= at + page_size and not data.startswith(_ZEROS[: end - begin], begin):
        spans.append((begin, end))
    # A block's first four bytes are the next block's offset, and its own length. They ascend.
    before = 0
    while before < block <= page_size - 4:
        before = block
        block, length = _BLOCK(data, at + before)
        begin, end = at + before + 4, at + before + length
        if begin < end <= at + page_size and not data.startswith(_ZEROS[: end - begin], begin):
            spans.append((begin, end))
    return spans


def spans_on_free_pages(layout: Layout, size: int, read: Callable[[int, int], bytes]) -> Iterator[Span]:
    """Spans of the file on free pages that are not all zeros; ``read(offset, length)`` gives its bytes."""
    page_size, trunk, _ = layout
    seen = set()
    while 0 < trunk <= size // page_size and trunk not in seen:
        seen.add(trunk)
        begin = (trunk - 1) * page_size
        page = read(begin, page_size)
        trunk, leaves = _TRUNK(page)
        leaves = min(leaves, page_size // 4 - 2)
        if any(page[8 + 4 * leaves :]):
            yield begin + 8 + 4 * leaves, begin + page_size
        for number in Struct(f">{leaves}I").unpack_from(page, 8):
            at = (number - 1) * page_size
            if 0 < number <= size // page_size and not _ZEROS.startswith(read(at, page_size)):
                yield at, at + page_size
