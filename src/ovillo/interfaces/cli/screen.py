"""A console whose every piece of text is fit for a terminal, whatever it is made of.

Owns the last look at what rich is about to print. Apart from ``output``, because rich costs 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ovillo.model.quoting import printable

if TYPE_CHECKING:
    from rich.progress import TextColumn


class Screen(Console):
    """Sequences that rich makes itself (styles, moving the cursor of a bar) are no text and pass."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def bar_text(text_format: str) -> TextColumn:
    """A column of a progress bar; square brackets in it are brackets."""
    from rich.progress import TextColumn  # start-up cost: only a terminal gets a bar

    return TextColumn(text_format, markup=False)
