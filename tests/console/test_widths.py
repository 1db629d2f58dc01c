"""How the columns of every list share a line."""

from __future__ import annotations

from evatui.console.view.devices import DEVICE_COLUMNS
from evatui.console.view.extensions import EXTENSION_COLUMNS
from evatui.console.view.in_flight import CALL_COLUMNS
from evatui.console.view.ink import plain
from evatui.console.view.reloads import RELOAD_COLUMNS
from evatui.console.view.rows import AUDIT_COLUMNS, REGISTRY_COLUMNS, registry_rows
from evatui.console.view.table import head
from evatui.console.view.unserved import REJECTED_COLUMNS
from evatui.console.view.widths import Longest, longest_cells, shown_columns
from evatui.console.view.words import Look
from tests.console.scene import scene

ALL_COLUMNS = (
    REGISTRY_COLUMNS,
    RELOAD_COLUMNS,
    REJECTED_COLUMNS,
    DEVICE_COLUMNS,
    CALL_COLUMNS,
    AUDIT_COLUMNS,
    EXTENSION_COLUMNS,
)


def test_the_wider_the_terminal_the_more_columns_and_never_more_than_fits() -> None:
    for columns in ALL_COLUMNS:
        before = 0
        for width in (60, 77, 100, 117, 200):
            shown = shown_columns(columns, width)
            assert len(shown) >= before
            before = len(shown)
        for width in (*range(1, 130), 200):
            for longest in ((), (0,) * len(columns), (9,) * len(columns), tuple(range(90, 0, -9))):
                shown = shown_columns(columns, width, longest)
                assert sum(size for _, size in shown) + 2 * (len(shown) - 1) <= width
                assert shown == () or all(size > 0 for _, size in shown)


def test_a_long_name_is_whole_where_its_neighbours_have_room_and_takes_nothing_that_they_need() -> None:
    name, also = "adapter-result-simplify", "◐ g41 drains 2 calls, 8 s left"

    def titled(longest_name: int, longest_also: int, width: int = 77) -> dict[str, int]:
        longest = (10, longest_name, 3, 5, longest_also, 1, 5, 1, 8)
        shown = shown_columns(REGISTRY_COLUMNS, width, longest)
        return {REGISTRY_COLUMNS[index].title: size for index, size in shown}

    usual = titled(12, 0)
    assert titled(len(name), 0)["CAPABILITY"] == len(name)
    assert titled(40, 0)["CAPABILITY"] == 40
    assert titled(12, len(also)) == usual
    crowded = titled(len(name), len(also))
    assert crowded["ALSO"] == len(also)
    assert crowded["CAPABILITY"] == 20
    assert sum(crowded.values()) == sum(usual.values())
    assert titled(len(name), 60, 157)["ALSO"] == 60
    rows = registry_rows(scene(), Look(picture=True))
    assert longest_cells(rows, REGISTRY_COLUMNS)[1] == len(name)
    assert longest_cells([], REGISTRY_COLUMNS) == (0,) * len(REGISTRY_COLUMNS)


def test_on_a_narrow_screen_columns_shrink_and_the_last_ones_go_but_names_are_there() -> None:
    for columns in ALL_COLUMNS:
        shown = shown_columns(columns, 37)
        titles = {columns[index].title for index, _ in shown}
        assert titles & {"CAPABILITY", "WHAT", "DEVICE", "NAME"}
        assert len(shown) > 1
    assert "REQUEST" not in [CALL_COLUMNS[index].title for index, _ in shown_columns(CALL_COLUMNS, 117)]
    assert dict(shown_columns(CALL_COLUMNS, 197))[6] == len("req_0123456789abcdef01234567")


def test_the_arrow_of_the_sorted_column_is_seen_in_every_column() -> None:
    for columns in ALL_COLUMNS:
        shown = shown_columns(columns, 200)
        for index, _ in shown:
            assert "▴" in plain(head(columns, shown, index, False))


def test_a_list_that_is_given_again_is_measured_anew_where_a_row_is_another_one() -> None:
    longest = Longest()
    rows = registry_rows(scene(), Look(picture=True))
    for given in (rows, rows, rows[:1], rows[::-1], (), rows[1:]):
        assert longest.of(given, REGISTRY_COLUMNS) == longest_cells(given, REGISTRY_COLUMNS)
