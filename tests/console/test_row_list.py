"""The one list: its cursor is on a thing, not on a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import ComposeResult
from textual.geometry import Region

from evatui.console.theme import ThemedApp
from evatui.console.view.ink import line
from evatui.console.view.table import Column, Row
from evatui.console.view.words import Look
from evatui.console.widgets.row_list import RowList


def row(key: str, note: str = "") -> Row:
    return Row(key=key, cells=(line(key), line(note)), order=(key, note), folded=f"{key} {note}".casefold())


def rows(*numbers: int) -> list[Row]:
    return [row(f"row-{number:04d}") for number in numbers]


class ListApp(ThemedApp):
    def __init__(self) -> None:
        super().__init__(Look())
        self.opened: list[str] = []
        self.rows = RowList((Column(title="KEY", width=10, flex=1), Column(title="NOTE", width=10)))

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        self.opened.append(message.key)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """The lines that were asked to be painted again since the last call; -1 is the whole list."""
    seen: list[int] = []
    refresh = RowList.refresh

    def spy(self: RowList, *regions: Region, **options: bool) -> RowList:
        seen.extend(line for region in regions for line in range(region.y, region.bottom)) if regions else seen.append(
            -1
        )
        return refresh(self, *regions, **options)

    monkeypatch.setattr(RowList, "refresh", spy)

    def since() -> list[int]:
        taken = sorted(seen)
        seen.clear()
        return taken

    return since


async def test_the_cursor_stays_on_its_row_through_inserts_removals_sorting_and_filters() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows(rows(*range(10, 60)))
        await pilot.pause()
        assert app.rows.move_to("row-0040")
        for numbers in (range(5, 60), range(20, 60), range(39, 60), range(90), [40]):
            app.rows.set_rows(rows(*numbers))
            await pilot.pause()
            assert app.rows.key == "row-0040"
        app.rows.set_rows(rows(*range(10, 60)))
        app.rows.sort(0, reverse=True)
        assert app.rows.key == "row-0040"
        app.rows.filter("4")
        assert app.rows.key == "row-0040"
        app.rows.filter("")
        assert app.rows.key == "row-0040"
        await pilot.pause()
        assert app.rows.scroll_offset.y <= 19 < app.rows.scroll_offset.y + 11


async def test_where_its_row_went_away_the_cursor_is_near_and_says_so() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows(rows(1, 2, 3))
        app.rows.move_to("row-0002")
        app.rows.set_rows(rows(1, 3))
        assert app.rows.key == "row-0003"
        app.rows.set_rows([])
        assert app.rows.key is None
        await pilot.pause()


async def test_a_filter_that_hides_the_cursors_row_goes_to_the_first_that_it_shows() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows([row("repo-summary"), row("config"), row("scale-report"), row("topic")])
        app.rows.move_to("topic")
        app.rows.filter("repo")
        assert app.rows.key == "repo-summary"
        app.rows.move(1)
        app.rows.filter("report")
        assert app.rows.key == "scale-report"
        app.rows.filter("nothing")
        assert app.rows.key is None
        app.rows.lead = Row(key="older", cells=(), order=(), whole=line("older on disk"))
        app.rows.filter("o")
        assert app.rows.key == "repo-summary"
        app.rows.filter("")
        app.rows.move_to("config")
        app.rows.filter("summary")
        assert [item.key for item in app.rows.shown] == ["older", "repo-summary"]
        assert app.rows.key == "repo-summary"
        await pilot.pause()


async def test_a_name_is_whole_while_its_neighbour_has_nothing_to_say(painted: Callable[[], list[int]]) -> None:
    app = ListApp()
    async with app.run_test(size=(26, 6)) as pilot:
        app.rows.set_rows([row("as-long-as-this", "abc")])
        await pilot.pause()
        assert "as-long-as-this  abc" in app.rows.render_line(1).text
        painted()
        app.rows.set_rows([row("as-long-as-this", "ten of ten")])
        assert -1 in painted()
        assert "as-long-as…  ten of ten" in app.rows.render_line(1).text


async def test_only_lines_that_differ_are_painted(painted: Callable[[], list[int]]) -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows([row("a"), row("b"), row("c")])
        await pilot.pause()
        painted()
        app.rows.set_rows([row("a"), row("b"), row("c")])
        assert painted() == []
        app.rows.set_rows([row("a"), row("b", "new"), row("c")])
        assert painted() == [2]
        app.rows.move(1)
        assert painted() == [1, 2]


async def test_following_stays_at_the_newest_until_someone_looks_back() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.follow = True
        app.rows.set_rows(rows(*range(50)))
        await pilot.pause()
        assert app.rows.key == "row-0049"
        app.rows.set_rows(rows(*range(80)))
        assert app.rows.key == "row-0079"
        app.rows.move(-1)
        app.rows.set_rows(rows(*range(99)))
        assert app.rows.key == "row-0078"
        app.rows.set_follow(True)
        assert app.rows.key == "row-0098"
        await pilot.pause()
        assert app.rows.scroll_offset.y == app.rows.max_scroll_y


async def test_matches_are_stepped_through_with_their_context_and_round_the_end() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)):
        app.rows.set_rows([row("apple"), row("pear"), row("apricot"), row("plum")])
        assert not app.rows.step_match(1)
        app.rows.filter("ap")
        assert [item.key for item in app.rows.shown] == ["apple", "apricot"]
        app.rows.filter("")
        assert len(app.rows.shown) == 4
        assert app.rows.step_match(1)
        assert app.rows.key == "apricot"
        app.rows.step_match(1)
        assert app.rows.key == "apple"
        app.rows.step_match(-1)
        assert app.rows.key == "apricot"


async def test_sorting_goes_through_the_columns_and_back_to_the_given_order() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows([row("b", "x"), row("a", "z"), row("c", "y")])
        await pilot.pause()
        orders = []
        for _ in range(3):
            app.rows.sort_next()
            orders.append("".join(item.key for item in app.rows.shown))
        assert orders == ["abc", "bca", "bac"]


async def test_a_click_moves_and_a_second_one_opens() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows(rows(1, 2, 3))
        await pilot.click(RowList, offset=(4, 3))
        assert app.rows.key == "row-0003"
        assert app.opened == []
        await pilot.click(RowList, offset=(4, 3))
        await pilot.pause()
        assert app.opened == ["row-0003"]
        await pilot.click(RowList, offset=(4, 9))
        assert app.rows.key == "row-0003"
