"""Where text goes: stdout for what was asked for, stderr for what is said about it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from evatui.cli.columns import GAP, fitting, whole
from evatui.cli.streams import silence_stdout
from evatui.kernel.model.text import clean, clean_line

__all__ = ["Screen"]

_NO_WRAP = 100_000
"""Columns of a pipe: whoever reads it decides where lines end."""


class Screen:
    """Styled where a terminal reads it, plain where a program does; a reader that went away is no error."""

    def __init__(self, *, color: bool = True) -> None:
        self.closed = False
        self._console = _console(sys.stdout, color)
        self._notes = _console(sys.stderr, color)

    def show(self, *parts: RenderableType) -> None:
        """Writes each part as lines, without trailing blanks."""
        with self._console.capture() as captured:
            for part in parts:
                self._console.print(part)
        self.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def line(self, text: str, style: str = "") -> None:
        """One line of outside text."""
        self.show(Text(clean_line(text), style))

    def block(self, text: str) -> None:
        """Outside text that has lines of its own, such as a rendered diagnostic."""
        self.show(Text(clean(text, 100_000)))

    def document(self, text: str) -> None:
        """Outside text as it is for a program that reads it; on a terminal without what could steer that."""
        shown = clean(text, len(text) + 1) if sys.stdout.isatty() else text
        self.write(f"{shown.rstrip()}\n" if shown.strip() else "")

    def value(self, value: Any) -> None:
        """A JSON value, indented. Characters that could steer a terminal are replaced."""
        text = json.dumps(value, indent=2, ensure_ascii=False)
        self.write(clean(text, len(text)) + "\n")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], spare: Sequence[str] = ()) -> None:
        """A terminal that is too narrow goes without the columns ``spare``, the first one first, and says so."""
        cells = [[cell if isinstance(cell, Text) else Text(clean_line(cell)) for cell in row] for row in rows]
        room = self._console.width
        shown = fitting(columns, cells, spare, room)
        names, cells = [columns[index] for index in shown], [[row[index] for index in shown] for row in cells]
        words = whole(names, cells, room)
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        for index, name in enumerate(names):
            table.add_column(name, overflow="fold", no_wrap=index in words)
        for row in cells:
            table.add_row(*row)
        self.show(table)
        left = [name for name in columns if name in spare and name not in names]
        if left:
            self.note(f"no room for {', '.join(left)}: a wider terminal shows it, and so does -o json")

    def note(self, text: str, style: str = "dim") -> None:
        """One line on stderr."""
        self._notes.print(Text(clean_line(text, 2000), style), soft_wrap=True)

    def object(self, value: Mapping[str, Any]) -> None:
        """One JSON object on one line, all in ASCII: lossless, and nothing in it can steer a terminal."""
        self.write(json.dumps(value, separators=(",", ":")) + "\n")

    def write(self, text: str) -> None:
        if self.closed:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self.closed = True
            silence_stdout()


def _console(file: TextIO, color: bool) -> Console:
    terminal = file.isatty()
    return Console(
        file=file,
        width=None if terminal else _NO_WRAP,
        no_color=not color,
        color_system="auto" if terminal and color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
