"""The band above the console: what happens, and the board of the load; pure, but for the widget at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evatui.console.view.ink import Ink, Line, Span, fit, line, measure
from evatui.console.view.numbers import number_of
from evatui.console.view.words import Look, duration
from evatui.demo.tally import Tally

__all__ = ["Caption", "board_line", "caption_line"]


@dataclass(frozen=True, slots=True)
class Caption:
    """``text`` has at most 60 characters; ``place`` says where in the tour, ``hint`` what a key does."""

    text: str
    place: str = ""
    hint: str = ""
    ink: Ink = Ink.STRONG


def caption_line(caption: Caption, width: int, look: Look) -> Line:
    """One line of exactly ``width`` cells; the hint goes first where there is no room."""
    left = line((look.text("▌"), Ink.KEY), (f"{caption.place:<6}", Ink.DIM), (look.text(caption.text), caption.ink))
    return _ends(left, line((look.text(caption.hint), Ink.DIM)), width)


def board_line(tally: Tally, rate: float | None, numbers: Mapping[str, str], width: int, look: Look) -> Line:
    """Counters only; a ``rate`` of None is a load that goes step by step, whose speed means nothing."""
    pace = "in steps" if rate is None else f"{rate:.0f}/s"
    parts: list[Line] = [
        line((look.text("▌"), Ink.KEY), ("load ", Ink.DIM), pace),
        line(("calls ", Ink.DIM), (f"{tally.calls:,}", Ink.STRONG)),
        _nought("lost", tally.lost),
        _nought("mixed", tally.mixed),
    ]
    if tally.errors:
        parts.append(line((f"errors {tally.errors:,}", Ink.WARN)))
    if tally.swap is not None:
        old, new = (number_of(side, numbers) for side in (tally.swap.old, tally.swap.new))
        took = f" {duration(tally.swap.ms)}" if tally.swap.ms is not None else ""
        parts.append(line(("swap ", Ink.DIM), look.text(f"{old}→{new}{took}")))
    spans: list[Span] = []
    for part in parts:
        spans += [(look.text(" · "), Ink.DIM), *part] if spans else part
    return fit(tuple(spans), width)


def _nought(name: str, number: int) -> Line:
    return line((f"{name} ", Ink.DIM), (f"{number:,}", Ink.BAD if number else Ink.OK))


def _ends(left: Line, right: Line, width: int) -> Line:
    room = width - measure(right)
    return fit(left, width) if measure(left) >= room else (*fit(left, room), *right)
