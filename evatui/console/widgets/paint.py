"""From a line of inks to a strip of the terminal: the only place where text leaves for the screen."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from evatui.console.theme import Palette
from evatui.console.view.ink import Line, fit, safe

__all__ = ["paint"]


def paint(content: Line, width: int, palette: Palette, base: Style, over: Style | None = None) -> Strip:
    """``content`` in exactly ``width`` cells over ``base``; ``over`` is laid on top of every ink."""
    clean = tuple((palette.look.text(safe(text)), ink) for text, ink in content)
    segments = []
    for text, ink in fit(clean, width):
        style = base + palette.styles[ink]
        segments.append(Segment(palette.look.text(text), style + over if over else style))
    return Strip(segments, width)
