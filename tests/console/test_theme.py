"""Our themes can be read: every ink on every ground, and without any colour at all."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import Theme

from evatui.console.theme import DARK, LIGHT, Palette, theme_names
from evatui.console.view.ink import Ink
from evatui.console.view.words import STATE_INKS, Look


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_contrast_is_at_least_four_and_a_half(theme: Theme) -> None:
    palette = Palette.of(theme, Look(), no_color=False)
    grounds = [Color.parse(ground) for ground in (theme.background, theme.surface) if ground]
    grounds += [
        Color.from_rich_color(style.bgcolor) for style in (palette.cursor, palette.idle_cursor) if style.bgcolor
    ]
    assert len(grounds) == 4
    assert {*STATE_INKS.values()} <= {*palette.styles}
    for ink, style in palette.styles.items():
        assert style.color is not None
        color = Color.from_rich_color(style.color)
        for ground in grounds:
            assert _contrast(color, ground) >= 4.5, (ink, ground)


def _contrast(one: Color, other: Color) -> float:
    """WCAG 2."""

    def luminance(color: Color) -> float:
        parts = [part / 255 for part in color.rgb]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_without_colour_what_is_wrong_still_stands_out() -> None:
    palette = Palette.of(DARK, Look(), no_color=True)
    assert all(style.color is None and style.bgcolor is None for style in palette.styles.values())
    assert palette.styles[Ink.BAD].reverse
    assert palette.styles[Ink.WARN].bold
    assert palette.styles[Ink.OK].bold
    assert palette.cursor.reverse
    assert len({str(palette.styles[ink]) for ink in (Ink.OK, Ink.WARN, Ink.BAD, Ink.PLAIN)}) == 4


def test_every_theme_of_textual_gives_a_palette() -> None:
    from textual.theme import BUILTIN_THEMES

    for name in theme_names():
        theme = {DARK.name: DARK, LIGHT.name: LIGHT, **BUILTIN_THEMES}[name]
        assert set(Palette.of(theme, Look(), no_color=False).styles) == set(Ink)
