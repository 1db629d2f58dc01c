"""The painted lines of a list, kept as long as they look the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from evatui.console.theme import Palette
from evatui.console.view.ink import Ink, line
from evatui.console.view.table import Column, Row, lay_out
from evatui.console.widgets.paint import paint

__all__ = ["RowLook", "RowStrips"]

_CACHED = 512


@dataclass(frozen=True, slots=True)
class RowLook:
    """All that a painted row depends on, but for what it says: ``here`` is the cursor."""

    here: bool
    focused: bool
    marked: bool
    width: int
    base: Style
    palette: Palette

    @property
    def same_as(self) -> tuple[object, ...]:
        return (self.here, self.here and self.focused, self.marked, self.width, self.base, id(self.palette))


class RowStrips:
    """By the key of the row."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Row, object, Strip]] = {}

    def clear(self) -> None:
        self._kept.clear()

    def strip(self, row: Row, look: RowLook, columns: Sequence[Column], shape: Sequence[tuple[int, int]]) -> Strip:
        kept, same = self._kept.get(row.key), look.same_as
        if kept is not None and kept[1] == same and (kept[0] is row or kept[0] == row):
            return kept[2]
        gutter = ("▌" if look.here else " ", Ink.INFO), ("+" if look.marked else " ", Ink.KEY)
        palette = look.palette
        over = (palette.cursor if look.focused else palette.idle_cursor) if look.here else Style.null()
        strip = paint(line(*gutter, *lay_out(row, columns, shape)), look.width, palette, look.base, over)
        if len(self._kept) >= _CACHED:
            self._kept.clear()
        self._kept[row.key] = (row, same, strip)
        return strip
