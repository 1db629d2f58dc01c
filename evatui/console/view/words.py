"""Glyphs and words: a state is never told by its colour alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evatui.console.view.ink import Ink, Line, line
from evatui.kernel.model.lifecycle import State

__all__ = [
    "ASCII",
    "LABELS",
    "STATE_INKS",
    "WAITS",
    "Look",
    "clock",
    "count",
    "duration",
    "glyph",
    "seconds",
    "state_label",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a terminal wants it: ``ascii`` instead of symbols; as a ``picture``, times are UTC and no host is named."""

    ascii: bool = False
    picture: bool = False

    def text(self, text: str) -> str:
        """``text`` in the signs that this terminal can draw."""
        return text.translate(ASCII) if self.ascii else text


ASCII = MappingProxyType(
    str.maketrans(
        "─━│┃┘┛▸◂▴▾…◌●◐·✗⊘▌–✓→⏎×µ−Δ▁▂▃▄▅▆▇█≥≤◇•", "-=||''><^v.o*~.x!>-+>$xu-d__.-=+*#><o*"
    )  # one sign for one
)
"""What the signs of the console become under ``--ascii``."""

LABELS: Mapping[State, str] = MappingProxyType(
    {
        State.PENDING: "Pending",
        State.SHADOW: "Shadow",
        State.ACTIVE: "Active",
        State.DRAINING: "Draining",
        State.DISABLED: "Disabled",
        State.REJECTED: "Rejected",
        State.UNREGISTERED: "Gone",
    }
)

_GLYPHS: Mapping[State, str] = MappingProxyType(
    {
        State.PENDING: "…",
        State.SHADOW: "◌",
        State.ACTIVE: "●",
        State.DRAINING: "◐",
        State.DISABLED: "⊘",
        State.REJECTED: "✗",
        State.UNREGISTERED: "·",
    }
)

STATE_INKS: Mapping[State, Ink] = MappingProxyType(
    {
        State.PENDING: Ink.INFO,
        State.SHADOW: Ink.INFO,
        State.ACTIVE: Ink.OK,
        State.DRAINING: Ink.WARN,
        State.DISABLED: Ink.DIM,
        State.REJECTED: Ink.BAD,
        State.UNREGISTERED: Ink.DIM,
    }
)

WAITS: Mapping[str, str] = MappingProxyType(
    {
        "approval": "waits for approval",
        "trust": "waits for trust",
        "restart": "approved, waits for a restart",
    }
)
"""What a held version waits for, as `HeldRow` and `Beside` have it."""


def glyph(state: State, look: Look) -> str:
    if look.ascii and state is State.PENDING:
        return "?"  # its sign is also the ellipsis, which is a dot there
    return look.text(_GLYPHS[state])


def state_label(state: State, look: Look) -> Line:
    """``● Active``."""
    return line((f"{glyph(state, look)} {LABELS[state]}", STATE_INKS[state]))


def clock(at: str, look: Look, *, millis: bool = False) -> str:
    """The time of day of an RFC 3339 moment; ``–`` where it is none."""
    try:
        moment = dt.datetime.fromisoformat(at)
    except ValueError:
        return look.text("–")
    shown = moment.astimezone(dt.UTC if look.picture else None)
    return f"{shown:%H:%M:%S}.{shown.microsecond // 1000:03d}" if millis else f"{shown:%H:%M:%S}"


def count(number: int | None, look: Look) -> str:
    """A number that is not known is ``–``."""
    return look.text("–") if number is None else f"{number:,}"


def duration(ms: float) -> str:
    """Three digits and a unit: ``41 ms``, ``1.24 s``, ``3 min``."""
    if ms < 1:
        return f"{ms * 1000:.0f} µs"
    if ms < 1000:
        return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"
    if ms < 120_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms / 60_000:.0f} min"


def seconds(left: float, elapsed: float) -> str:
    """What is left of a countdown that had ``left`` seconds ``elapsed`` seconds ago."""
    return f"{max(0, round(left - elapsed))} s"
