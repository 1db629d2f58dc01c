"""Two themes of our own, and the palette: which colour or weight an ink has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.theme import BUILTIN_THEMES, Theme

from evatui.console.view.ink import Ink
from evatui.console.view.words import Look
from evatui.control.failing import CommandFailed

if TYPE_CHECKING:
    from textual.widget import Widget

__all__ = ["DARK", "LIGHT", "Palette", "ThemedApp", "theme_names"]

DARK = Theme(
    name="evatui-dark",
    primary="#7aa2d6",
    secondary="#8fb0c9",
    accent="#c9a86a",
    foreground="#d5d9de",
    background="#14171b",
    surface="#1a1e23",
    panel="#262c34",
    success="#7fb88a",
    warning="#d8b25f",
    error="#e8807f",
    dark=True,
    variables={"ink-dim": "#8a939e", "input-selection-background": "#7aa2d6 35%"},
)

LIGHT = Theme(
    name="evatui-light",
    primary="#245a9c",
    secondary="#3f6480",
    accent="#7a5510",
    foreground="#22272d",
    background="#fbfbf9",
    surface="#f1f1ee",
    panel="#dfe3e6",
    success="#226b35",
    warning="#7d5600",
    error="#a92b2b",
    dark=False,
    variables={"ink-dim": "#59626c", "input-selection-background": "#245a9c 25%"},
)

_WEIGHTS: Mapping[Ink, Style] = {
    Ink.STRONG: Style(bold=True),
    Ink.BAD: Style(bold=True),
    Ink.KEY: Style(bold=True),
    Ink.LIT: Style(bold=True, reverse=True),
    Ink.HERE: Style(bold=True),
}

_WEIGHTS_ALONE: Mapping[Ink, Style] = {
    **_WEIGHTS,
    Ink.OK: Style(bold=True),
    Ink.WARN: Style(bold=True, underline=True),
    Ink.BAD: Style(bold=True, reverse=True),
    Ink.HERE: Style(bold=True, reverse=True),
}
"""Under ``NO_COLOR``. Textual turns colours into greys there, and red becomes the faintest of them."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of one theme. ``look`` travels along, since it decides what text becomes on the way out."""

    styles: Mapping[Ink, Style]
    cursor: Style
    idle_cursor: Style
    look: Look = field(default_factory=Look)

    @classmethod
    def of(cls, theme: Theme, look: Look, *, no_color: bool) -> Palette:
        if no_color:
            plain = {ink: _WEIGHTS_ALONE.get(ink, Style.null()) for ink in Ink}
            return cls(plain, Style(reverse=True), Style(underline=True), look)
        foreground = Color.parse(theme.foreground or ("#e0e0e0" if theme.dark else "#202020"))
        background = Color.parse(theme.background or ("#121212" if theme.dark else "#f5f5f5"))
        dim = theme.variables.get("ink-dim") or foreground.blend(background, 0.35).hex
        colors = {
            Ink.PLAIN: foreground.hex,
            Ink.STRONG: foreground.hex,
            Ink.DIM: dim,
            Ink.OK: theme.success or foreground.hex,
            Ink.WARN: theme.warning or foreground.hex,
            Ink.BAD: theme.error or foreground.hex,
            Ink.INFO: theme.primary,
            Ink.KEY: theme.accent or theme.primary,
            Ink.LIT: theme.accent or theme.primary,
            Ink.HERE: foreground.hex,
        }
        styles = {ink: _colored(color) + _WEIGHTS.get(ink, Style.null()) for ink, color in colors.items()}
        panel = Color.parse(theme.panel) if theme.panel else background.blend(foreground, 0.14)
        styles[Ink.HERE] += Style(bgcolor=panel.hex6)
        return cls(styles, Style(bgcolor=panel.hex6), Style(bgcolor=background.blend(panel, 0.5).hex6), look)


def _colored(color: str) -> Style:
    parsed = Color.parse(color)
    if parsed.ansi is not None:
        return Style(color=parsed.rich_color)
    return Style(color=parsed.hex6)


def theme_names() -> tuple[str, ...]:
    """Ours, then Textual's."""
    return (DARK.name, LIGHT.name, *sorted(BUILTIN_THEMES))


class _WholeCells(ScrollBarRender):
    """A bar whose ends are no parts of a cell: there are none in ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * len(ScrollBarRender.VERTICAL_BARS)
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * len(ScrollBarRender.HORIZONTAL_BARS)


class ThemedApp(App[CommandFailed]):
    """An app with a palette that follows its theme. Its result, if any, is why the runtime could not be opened."""

    def __init__(self, look: Look, theme: str | None = None) -> None:
        super().__init__()
        self.look = look
        self.set_class(look.ascii, "-ascii")
        ScrollBar.renderer = _WholeCells if look.ascii else ScrollBarRender
        for ours in (DARK, LIGHT):
            self.register_theme(ours)
        self.theme = theme or DARK.name
        self._palette: tuple[str, Palette] | None = None

    def banner(self) -> Iterable[Widget]:
        """What stands above everything, dialogs too."""
        return ()

    def copy(self, text: str, shown: str) -> None:
        """To the clipboard, and says so; ``shown`` is what the text is called."""
        raise NotImplementedError

    @property
    def whereabouts(self) -> str:
        """What stands behind a dialog, for its title."""
        raise NotImplementedError

    @property
    def palette(self) -> Palette:
        """Of the theme that is on now."""
        if self._palette is None or self._palette[0] != self.theme:
            self._palette = (self.theme, Palette.of(self.current_theme, self.look, no_color=self.no_color))
        return self._palette[1]
