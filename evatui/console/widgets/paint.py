"""From a line of inks to a strip of the terminal: the only place where text leaves for the screen."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from evatui.console.theme import Palette
from evatui.console.view.ink import Line, fit, safe

__all__ = ["paint"]

_NOTHING = Style.null()


def paint(content: Line, width: int, palette: Palette, base: Style, over: Style = _NOTHING) -> Strip:
    """``content`` in exactly ``width`` cells over ``base``; ``over`` is laid on top of every ink.

    Blanks go with the text before them where one cannot see the difference: every change of style costs
    twenty bytes on the wire, and a line has a blank after each cell.
    """
    clean = tuple((palette.look.text(safe(text)), ink) for text, ink in content)
    runs: list[tuple[str, Style]] = []
    for text, ink in fit(clean, width):
        own = palette.styles[ink]
        if runs and (own == runs[-1][1] or (text.isspace() and _flat(own) and _flat(runs[-1][1]))):
            runs[-1] = (runs[-1][0] + text, runs[-1][1])
        else:
            runs.append((text, own))
    return Strip([Segment(palette.look.text(text), base + own + over) for text, own in runs], width)


def _flat(style: Style) -> bool:
    """Whether a blank in it looks like any other."""
    return not (style.reverse or style.underline or style.bgcolor)
