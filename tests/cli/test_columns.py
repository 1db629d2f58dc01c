"""Tables in a terminal that is too narrow for them: ids stay whole, and what can be spared goes first."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from evatui.cli.columns import GAP, fitting, whole
from evatui.cli.screen import Screen
from tests.cli.stream import Stream

NAMES = ("ID", "NOTE", "MORE", "LAST")
CELL = st.text("ab c", max_size=12).map(Text)
ROWS = st.lists(st.tuples(*[CELL] * len(NAMES)), max_size=4)


@given(ROWS, st.permutations(NAMES[1:]), st.integers(1, 60))
def test_no_more_goes_than_must_and_the_first_to_be_spared_first(
    rows: list[tuple[Text, ...]], spare: list[str], room: int
) -> None:
    def needed(columns: tuple[int, ...]) -> int:
        widths = [max(len(NAMES[one]), *(row[one].cell_len for row in rows), 0) for one in columns]
        return sum(widths) + GAP * (len(widths) - 1)

    shown = fitting(NAMES, rows, spare, room)
    everything = tuple(range(len(NAMES)))
    empty = [one for one in everything if not any(row[one].plain for row in rows)]
    order = [*empty, *(one for one in map(NAMES.index, spare) if one not in empty)]
    gone = order[: len(everything) - len(shown)]
    assert set(shown) == set(everything) - set(gone)
    assert needed(shown) <= room or gone == order
    if gone:
        assert needed(tuple(sorted({*shown, gone[-1]}))) > room


def test_words_are_whole_where_there_is_room_for_all_of_them() -> None:
    rows = [(Text("a-long-id"), Text("some prose of several words"), Text("x"), Text("y"))]
    assert whole(NAMES, rows, 40) == {0, 2, 3}
    assert whole(NAMES, rows, 20) == frozenset()


def test_a_narrow_terminal_shows_ids_whole_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Stream(terminal=True), Stream(terminal=True)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    for name, value in {"COLUMNS": "44", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    identity = "an-id-of-twenty-five-long"
    rows = [(identity, "", "x" * 30, "words that may be broken")]
    Screen(color=False).table(("ID", "EMPTY", "SPARE", "NOTE"), rows, ("SPARE",))
    head, *lines = out.said.splitlines()
    assert head.split() == ["ID", "NOTE"]
    assert lines[0].startswith(identity)
    assert " ".join(line.removeprefix(identity).strip() for line in lines) == "words that may be broken"
    assert all(len(line) <= 44 for line in lines)
    assert "no room for SPARE" in err.said
