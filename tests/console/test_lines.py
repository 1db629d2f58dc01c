"""Lines that scroll: what comes, goes and changes among them is painted, and the scroll bar with it."""

from __future__ import annotations

from textual.app import ComposeResult

from evatui.console.theme import ThemedApp
from evatui.console.view.ink import line
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Lines
from tests.support.pilots import still


class LinesApp(ThemedApp):
    CSS = "Lines { height: 5; overflow-y: auto; }"

    def __init__(self) -> None:
        super().__init__(Look(picture=True), None)
        self.lines = Lines()

    def compose(self) -> ComposeResult:
        yield self.lines

    def tell(self, count: int) -> None:
        self.lines.show(lambda width: [line(f"line {number} of {count}") for number in range(count)])

    @property
    def drawn(self) -> list[str]:
        strips = self.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).strip() for strip in strips]


async def test_a_bar_comes_and_goes_with_what_there_is_to_scroll_and_nothing_old_stays() -> None:
    app = LinesApp()
    async with app.run_test(size=(30, 8)) as pilot:
        for count, bar in ((3, False), (9, True), (40, True), (5, False), (1, False), (6, True)):
            app.tell(count)
            await still(pilot)
            assert app.lines.show_vertical_scrollbar is bar
            assert [row.split("  ")[0] for row in app.drawn if row][: min(count, 5)] == [
                f"line {number} of {count}" for number in range(min(count, 5))
            ]
            assert sum(f"of {count}" in row for row in app.drawn) == min(count, 5)
            assert sum("line" in row for row in app.drawn) == min(count, 5)


async def test_whoever_stands_at_the_end_of_what_gets_shorter_stands_at_its_end() -> None:
    app = LinesApp()
    async with app.run_test(size=(30, 8)) as pilot:
        app.tell(40)
        await still(pilot)
        app.lines.scroll_end(animate=False)
        await still(pilot)
        assert "line 39 of 40" in app.drawn[4]
        app.tell(20)
        await still(pilot)
        assert "line 19 of 20" in app.drawn[4]
        assert app.lines.vertical_scrollbar.window_virtual_size == 20
