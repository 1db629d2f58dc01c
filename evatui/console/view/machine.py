"""The drawing of the state machine: a pure function of the counts and of the edges that are lit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evatui.console.view.ink import Ink, Line, line
from evatui.console.view.words import LABELS, STATE_INKS, Look, glyph
from evatui.kernel.model.lifecycle import State

__all__ = ["DRAWN", "NOT_DRAWN", "WIDE", "Edge", "draw", "drawn_edges"]

Edge = tuple[State, State]

WIDE = 118
"""From this width on states and edges carry their whole words."""
_NARROWEST = 78

_LOAD = (State.PENDING, State.SHADOW)
_PUBLISH = (State.SHADOW, State.ACTIVE)
_REPLACE = (State.ACTIVE, State.DRAINING)
_DRAINED = (State.DRAINING, State.UNREGISTERED)
_REFUSE = (State.PENDING, State.REJECTED)
_RETRY = (State.REJECTED, State.PENDING)
_FAIL = (State.SHADOW, State.REJECTED)
_OFF = (State.DRAINING, State.DISABLED)
_ON = (State.DISABLED, State.PENDING)

DRAWN: frozenset[Edge] = frozenset({_LOAD, _PUBLISH, _REPLACE, _DRAINED, _REFUSE, _RETRY, _FAIL, _OFF, _ON})

NOT_DRAWN: Mapping[Edge, str] = MappingProxyType(
    {
        (State.PENDING, State.DISABLED): "the manifest itself says enabled: false",
        (State.SHADOW, State.UNREGISTERED): "a candidate whose manifest went away before it was published",
        (State.REJECTED, State.UNREGISTERED): "the refused manifest was deleted",
        (State.DISABLED, State.UNREGISTERED): "the manifest of a disabled capability was deleted",
    }
)
"""Edges of the state machine that would only crowd the picture, and what each means."""


@dataclass(frozen=True, slots=True)
class _Node:
    row: int
    column: int
    state: State
    text: str


@dataclass(frozen=True, slots=True)
class _Stroke:
    """A piece of an edge; letters in it become capitals when it is lit."""

    row: int
    column: int
    text: str
    edge: Edge


_Piece = _Node | _Stroke

_WIDE_PIECES: tuple[_Piece, ...] = (
    _Node(0, 1, State.PENDING, " Pending"),
    _Stroke(0, 15, "─load──▸", _LOAD),
    _Node(0, 24, State.SHADOW, " Shadow"),
    _Stroke(0, 37, "─publish─▸", _PUBLISH),
    _Node(0, 48, State.ACTIVE, " Active"),
    _Stroke(0, 61, "─replace─▸", _REPLACE),
    _Node(0, 72, State.DRAINING, " Draining"),
    _Stroke(0, 87, "─drained─▸", _DRAINED),
    _Node(0, 98, State.UNREGISTERED, " Unregistered"),
    _Stroke(1, 3, "│", _REFUSE),
    _Stroke(1, 10, "▴", _RETRY),
    _Stroke(1, 26, "│", _FAIL),
    _Stroke(1, 74, "│", _OFF),
    _Stroke(2, 3, "refuse", _REFUSE),
    _Stroke(2, 10, "retry", _RETRY),
    _Stroke(2, 26, "fail", _FAIL),
    _Stroke(2, 74, "off", _OFF),
    _Stroke(3, 3, "▾", _REFUSE),
    _Stroke(3, 10, "│", _RETRY),
    _Stroke(3, 26, "│", _FAIL),
    _Stroke(3, 74, "▾", _OFF),
    _Node(4, 1, State.REJECTED, " Rejected"),
    _Stroke(4, 16, "◂─────────┘", _FAIL),
    _Node(4, 72, State.DISABLED, " Disabled"),
    _Stroke(4, 87, "─on──▸ Pending", _ON),
)

_NARROW_PIECES: tuple[_Piece, ...] = (
    _Node(0, 1, State.PENDING, "Pending"),
    _Stroke(0, 14, "──▸", _LOAD),
    _Node(0, 18, State.SHADOW, "Shadow"),
    _Stroke(0, 30, "──▸", _PUBLISH),
    _Node(0, 34, State.ACTIVE, "Active"),
    _Stroke(0, 46, "──▸", _REPLACE),
    _Node(0, 50, State.DRAINING, "Draining"),
    _Stroke(0, 64, "──▸", _DRAINED),
    _Node(0, 68, State.UNREGISTERED, "Gone"),
    _Stroke(1, 2, "▾", _REFUSE),
    _Stroke(1, 4, "▴retry", _RETRY),
    _Stroke(1, 19, "│fail", _FAIL),
    _Stroke(1, 51, "▾off", _OFF),
    _Node(2, 1, State.REJECTED, "Rejected"),
    _Stroke(2, 15, "◂───┘", _FAIL),
    _Node(2, 50, State.DISABLED, "Disabled"),
    _Stroke(2, 64, "─on▸ Pending", _ON),
)

_HEAVY = str.maketrans("─│┘", "━┃┛")


def drawn_edges(width: int) -> frozenset[Edge]:
    """The edges in the drawing for ``width``."""
    return frozenset(piece.edge for piece in _pieces(width) if isinstance(piece, _Stroke))


def draw(counts: Mapping[State, int], lit: Iterable[Edge], width: int, look: Look) -> tuple[Line, ...]:
    """The machine with the number of generations in each state; nothing where ``width`` is too small."""
    lighted = frozenset(lit)
    rows: dict[int, list[tuple[int, str, Ink]]] = {}
    for piece in _pieces(width):
        if isinstance(piece, _Node):
            rows.setdefault(piece.row, []).extend(_node(piece, counts.get(piece.state), look))
        else:
            rows.setdefault(piece.row, []).append(_stroke(piece, piece.edge in lighted, look))
    return tuple(_row(rows[index]) for index in sorted(rows))


def _pieces(width: int) -> tuple[_Piece, ...]:
    if width >= WIDE:
        return _WIDE_PIECES
    return _NARROW_PIECES if width >= _NARROWEST else ()


def _node(node: _Node, number: int | None, look: Look) -> Iterable[tuple[int, str, Ink]]:
    name = f"{glyph(node.state, look)}{node.text}"
    shown = look.text("–") if number is None else str(number) if number < 10_000 else "9999"
    quiet = not number
    yield node.column, name, Ink.DIM if quiet else STATE_INKS[node.state]
    yield node.column + len(name), f"{shown:>4}", Ink.DIM if quiet else Ink.STRONG


def _stroke(stroke: _Stroke, lit: bool, look: Look) -> tuple[int, str, Ink]:
    if not lit:
        return stroke.column, look.text(stroke.text), Ink.DIM
    target = LABELS[stroke.edge[1]]
    label = stroke.text.removesuffix(target)
    return stroke.column, look.text(label.upper().translate(_HEAVY) + stroke.text[len(label) :]), Ink.LIT


def _row(pieces: list[tuple[int, str, Ink]]) -> Line:
    spans: list[str | tuple[str, Ink]] = []
    column = 0
    for start, text, ink in sorted(pieces):
        spans += [" " * (start - column), (text, ink)]
        column = start + len(text)
    return line(*spans)
