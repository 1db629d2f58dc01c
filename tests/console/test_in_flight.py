"""Calls in flight, as a person sees them who wonders why something hangs."""

from __future__ import annotations

from dataclasses import replace

from evatui.console.screens.choose import Choose
from evatui.console.view.actions import View
from evatui.console.view.in_flight import age_bar, call_preview, call_rows, places_in_line
from evatui.console.view.ink import Ink, plain
from evatui.console.view.table import Query
from evatui.console.view.words import Look
from evatui.console.widgets.row_list import RowList
from tests.console.conftest import OpenConsole
from tests.console.scene import at, calls, scene

LOOK = Look(picture=True)


def test_the_age_stands_against_the_deadline() -> None:
    assert plain(age_bar(1_200, 30_000)) == "━─────── 1.2 s of 30 s"
    assert plain(age_bar(26_400, 30_000)) == "━━━━━━━━ 26.4 s of 30 s"
    assert [age_bar(age, 1000)[0][1] for age in (100, 500, 800, 5000)] == [Ink.OK, Ink.WARN, Ink.BAD, Ink.BAD]
    assert plain(age_bar(5, 0)).startswith("━━━━━━━━")


def test_a_row_says_where_the_call_is() -> None:
    snapshot = scene(calls=calls())
    rows = call_rows(snapshot, LOOK, elapsed=1.0)
    assert [plain(row.cells[2]) for row in rows] == ["◐ g41", "g42", "–"]
    assert [plain(row.cells[3]) for row in rows] == [
        "fs_read_text src/main.lua",
        "━━━───── 40 %  4 of 10  reading src",
        "waits for a slot, 1 of 1 in line",
    ]
    assert "2.2 s of 30 s" in plain(rows[1].cells[0])
    assert [row.key for row in Query.parse("draining >20s").select(rows)] == [rows[0].key]
    assert [row.key for row in Query.parse("queued").select(rows)] == [rows[2].key]


def test_the_line_before_a_limiter_is_told_by_capability() -> None:
    waiting = calls()[2]
    others = [replace(waiting, request_id=f"req_{n}", capability_id=n) for n in ("a", "b", "a")]
    snapshot = scene(calls=tuple(replace(call, request_id=f"req_{i}") for i, call in enumerate(others)))
    assert places_in_line(snapshot) == {"req_0": (1, 2), "req_1": (1, 1), "req_2": (2, 2)}


def test_the_preview_says_when_it_is_cut_and_what_it_may_have_changed() -> None:
    snapshot = scene(calls=calls())
    told = "\n".join(plain(part) for part in call_preview(snapshot.calls[0], snapshot, 60, LOOK, 0.0))
    assert "cut in 4 s" in told
    assert "which drains: it takes no new calls" in told
    assert "effects  none" in told


async def test_the_view_counts_down_and_is_empty_when_all_have_ended(console: OpenConsole) -> None:
    async with console(scene(calls=calls()), view=View.IN_FLIGHT, size=(80, 24)) as it:
        assert "26." in it.screen
        assert "5 In-flight(3)" in it.text("#tabs")
        await it.change(scene(calls=(), at=at("14:02:40")))
        assert "No call is in flight" in it.screen


async def test_the_menu_of_a_call_names_it_and_begins_with_what_can_be_done(console: OpenConsole) -> None:
    async with console(view=View.IN_FLIGHT) as it:
        await it.press("a")
        dialog = it.dialog
        assert isinstance(dialog, Choose)
        assert "the call of repo-summary" in it.screen
        actions = {action.id: action for action in it.app.actions.menu()}
        shown = [actions[row.key] for row in dialog.query_one(RowList).shown]
        order = [(it.app.why_not(action) is not None, action.whole) for action in shown]
        assert order == sorted(order)
        assert order[0] == (False, False)


async def test_a_cancel_names_moments_that_do_not_grow_old_while_one_thinks(console: OpenConsole) -> None:
    async with console(view=View.IN_FLIGHT) as it:
        await it.press("x")
        told = " ".join(it.screen.replace("│", " ").split())
        assert "repo-summary g42 since 14:02:10, its deadline is 14:02:40 for rico" in told
