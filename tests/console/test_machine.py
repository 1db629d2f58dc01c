"""The drawing of the state machine tells the truth about the state machine."""

from __future__ import annotations

import pytest

from evatui.console.view.ink import Ink, measure, plain
from evatui.console.view.machine import DRAWN, NOT_DRAWN, WIDE, draw, drawn_edges
from evatui.console.view.words import Look
from evatui.kernel.model.lifecycle import TRANSITIONS, State

EDGES = {(old, new) for old, targets in TRANSITIONS.items() for new in targets}
COUNTS = {
    State.PENDING: 0,
    State.SHADOW: 1,
    State.ACTIVE: 11,
    State.DRAINING: 2,
    State.REJECTED: 1,
    State.DISABLED: 1,
    State.UNREGISTERED: 4,
}
PUBLISH = (State.SHADOW, State.ACTIVE)
FAIL = (State.SHADOW, State.REJECTED)


@pytest.mark.parametrize("width", [80, WIDE])
def test_every_edge_is_drawn_or_named_as_not_drawn(width: int) -> None:
    assert drawn_edges(width) == DRAWN
    assert drawn_edges(width) | NOT_DRAWN.keys() == EDGES
    assert not drawn_edges(width) & NOT_DRAWN.keys()
    assert all(NOT_DRAWN.values())


def test_wide() -> None:
    assert [plain(row) for row in draw(COUNTS, {PUBLISH}, WIDE, Look())] == [
        " … Pending   0 ─load──▸ ◌ Shadow   1 ━PUBLISH━▸ ● Active  11 ─replace─▸ ◐ Draining   2 "
        "─drained─▸ · Unregistered   4",
        "   │      ▴               │                                               │",
        "   refuse retry           fail                                            off",
        "   ▾      │               │                                               ▾",
        " ✗ Rejected   1 ◂─────────┘                                             ⊘ Disabled   1 ─on──▸ Pending",
    ]


def test_narrow() -> None:
    assert [plain(row) for row in draw(COUNTS, {FAIL}, 80, Look())] == [
        " …Pending   0 ──▸ ◌Shadow   1 ──▸ ●Active  11 ──▸ ◐Draining   2 ──▸ ·Gone   4",
        "  ▾ ▴retry         ┃FAIL                           ▾off",
        " ✗Rejected   1 ◂━━━┛                              ⊘Disabled   1 ─on▸ Pending",
    ]


def test_ascii() -> None:
    rows = [plain(row) for row in draw(COUNTS, {PUBLISH}, 80, Look(ascii=True))]
    assert rows == [
        " ?Pending   0 --> oShadow   1 ==> *Active  11 --> ~Draining   2 --> .Gone   4",
        "  v ^retry         |fail                           voff",
        " xRejected   1 <---'                              !Disabled   1 -on> Pending",
    ]
    assert all(row.isascii() for row in rows)


def test_a_lit_edge_is_reversed_and_the_others_are_not() -> None:
    for width in (80, WIDE):
        lit = [text for row in draw(COUNTS, {FAIL}, width, Look()) for text, ink in row if ink is Ink.LIT]
        assert "FAIL" in "".join(lit)
        assert not any(ink is Ink.LIT for row in draw(COUNTS, (), width, Look()) for _, ink in row)


@pytest.mark.parametrize("width", [78, 80, 100, 117, 118, 200])
def test_it_never_outgrows_the_width(width: int) -> None:
    rows = draw(dict.fromkeys(State, 123_456), EDGES, width, Look())
    assert rows
    assert max(measure(row) for row in rows) <= width


def test_too_small_a_terminal_has_no_drawing() -> None:
    assert draw(COUNTS, (), 77, Look()) == ()


def test_a_count_that_is_not_known_is_a_dash() -> None:
    assert "Active   –" in plain(draw({}, (), 80, Look())[0])
