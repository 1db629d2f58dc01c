"""A console for hours: silent where nothing happens, sparing where much does, and no larger for what went by."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from evatui.console.app import ConsoleApp
from evatui.console.settings import Settings
from evatui.console.view.actions import View
from tests.console.churning import moment
from tests.console.fake_operator import FakeOperator
from tests.console.scene import record
from tests.console.terminal import Terminal
from tests.support.painted import bytes_a_second, until_quiet, written
from tests.support.workspaces import GREETER, write

_IDLE_S = 30.0
_MOST = 40 * 1024
_RECORDS = 100_000
_AT_ONCE = 1_000


def test_thirty_seconds_without_an_event_are_thirty_seconds_without_a_byte(tmp_path: Path) -> None:
    write(tmp_path / "ws", GREETER)
    home = {"EVA_CONFIG_DIR": str(tmp_path / "home"), "COLORTERM": "truecolor"}
    terminal = Terminal("-m", "evatui", str(tmp_path / "ws"), env=home)
    try:
        terminal.read_until("greet")
        until_quiet(terminal, 3.0)
        assert written(terminal, _IDLE_S) == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("view", [View.REGISTRY, View.IN_FLIGHT, View.AUDIT])
def test_a_view_is_sparing_while_all_of_it_changes(tmp_path: Path, view: View) -> None:
    home = {"EVA_CONFIG_DIR": str(tmp_path / "home"), "COLORTERM": "truecolor"}
    terminal = Terminal("-m", "tests.console.churning", view.value, env=home)
    try:
        terminal.read_until("live")
        written(terminal, 2.0)
        assert bytes_a_second(terminal, 10.0) <= _MOST
    finally:
        terminal.close()


async def test_a_hundred_thousand_records_take_no_more_than_those_that_are_kept() -> None:
    operator = FakeOperator(moment(0, ()))

    async def open_operator() -> FakeOperator:
        return operator

    app = ConsoleApp(open_operator, settings=Settings(view=View.AUDIT))
    async with app.run_test(size=(120, 36)) as pilot:
        await app.first_snapshot.wait()
        tracemalloc.start()
        taken = []
        for first in range(1, _RECORDS, _AT_ONCE):
            rows = tuple(record(seq, "14:02:30", f"thing-{seq % 50}") for seq in range(first, first + _AT_ONCE))
            operator.change(moment(first, rows))
            while not app.pane.rows.shown or app.pane.rows.shown[-1].key != str(rows[-1].seq):
                await pilot.pause(0.01)
            taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        half = len(taken) // 2
        assert max(taken[half:]) <= 1.05 * max(taken[:half])
