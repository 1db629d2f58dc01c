"""What every list can do: marks, levels, jumps to what belongs together, and a screen that stands still."""

from __future__ import annotations

from evatui.console.view.actions import View
from evatui.console.view.related import jumps
from evatui.console.view.timeline import Timeline
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import OpenConsole
from tests.console.scene import at, calls, record, reload_events, scene


async def test_marks_stay_with_their_rows_through_filters_and_are_counted(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("space", "space")
        assert it.app.pane.rows.marks == {"adapter-result-simplify", "config-validate"}
        assert it.key == "prompt-compose"
        await it.press("slash", *"weath", "enter", "asterisk")
        assert it.app.pane.rows.marks == {
            "adapter-result-simplify",
            "config-validate",
            "weather-radar",
            "weather-tides",
        }
        assert "4 marked" in it.text("#tabs")
        await it.press("escape", "u")
        assert it.app.pane.rows.marks == frozenset()


async def test_a_level_leaves_only_what_matters_more_and_marks_are_of_rows(console: OpenConsole) -> None:
    async with console(view=View.AUDIT) as it:
        await it.press("g", "space", "asterisk")
        assert it.app.pane.rows.marks == {"101", "102", "103", "104", "105"}  # and not what lies on disk
        await it.press("l", "l")
        assert [row.key for row in it.app.pane.found] == ["102"]
        assert "≥ warn" in it.text("#tabs")
        await it.press("2", "l", "l", "l")
        assert {row.cells[1][0][0] for row in it.app.pane.found} == {"✗ refused", "✗ taken back"}
        await it.press("l")
        assert len(it.app.pane.found) == 7


async def test_a_screen_that_stands_still_moves_no_row_and_counts_what_came(console: OpenConsole) -> None:
    async with console(view=View.AUDIT) as it:
        await it.press("p")
        assert "HELD" in it.text("#header")
        more = (*scene().audit, record(106, "14:02:30", "repo-summary"))
        await it.change(scene(audit=more, calls=(), at=at("14:02:30")))
        assert it.key == "105"
        assert "+1 new" in it.text("#tabs")
        assert "0 calls" in it.text("#header")
        await it.press("5")
        assert len(it.app.pane.rows.shown) == 1
        await it.press("6", "p")
        assert it.key == "106"
        assert "HELD" not in it.text("#header")
        assert "● follow" in it.text("#tabs")


def test_what_belongs_together_is_named_the_narrowest_first() -> None:
    snapshot = scene(calls=calls())
    numbers = {snapshot.audit[2].generation: "g41"}
    told = jumps(snapshot.audit[2], snapshot, numbers, View.AUDIT)
    assert [jump.label for jump in told] == [
        "the request in Audit",
        "how g41 came in Reloads",
        "the calls on g41 in In-flight",
        "the records of g41 in Audit",
        "repo-summary in Registry",
        "the reloads of repo-summary in Reloads",
        "the calls of repo-summary in In-flight",
        "the records of repo-summary in Audit",
    ]
    timeline = Timeline()
    timeline.add(reload_events())
    reload = next(iter(timeline.reloads.values()))
    assert all(jump.words != "req:" for jump in jumps(reload, snapshot, {}, View.RELOADS))
    refused = jumps(snapshot.rejections[0], snapshot, {}, View.REJECTED)
    assert [jump.view for jump in refused] == [View.REGISTRY, View.RELOADS, View.IN_FLIGHT, View.AUDIT]
    assert jumps(None, snapshot, {}, View.DEVICES) == []


async def test_o_jumps_and_minus_comes_back(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("o")
        assert "how g42 came in Reloads" in it.screen
        await it.armed()
        await it.press("1")
        assert it.app.view is View.RELOADS
        assert "/gen:g42/" in it.text("#tabs")
        await it.press("minus")
        assert (it.app.view, it.key) == (View.REGISTRY, "repo-summary")


async def test_calls_are_ended_by_enter_where_harmless_and_else_by_y(console: OpenConsole) -> None:
    answers = {"call.cancel": {"what": "x", "cancelled": []}}
    async with console(scene(calls=calls()), answers=answers) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("x")
        assert "Drain repo-summary?" in it.screen
        await it.press("escape", "5", "a")
        assert "End the call" in it.screen
        await it.press("escape", "x")
        assert "since 14:02:10, its deadline is 14:02:40" in it.screen
        assert "eva cancel req_0" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("call.cancel") == [{"what": calls()[0].request_id}]
        assert "cancelled req_0" in it.status
        it.app.pane.rows.move_to(calls()[2].request_id)
        await it.press("x")
        assert "Side effects: mutating" in it.screen
        await it.armed()
        await it.press("enter")
        assert len(it.operator.sent("call.cancel")) == 1
        it.operator.answers["call.cancel"] = CommandFailed(ErrorKind.NOT_FOUND, "no call of it is in flight")
        await it.press("g", "space", "space", "x")
        assert "Cancel 2 marked calls?" in it.screen
        await it.armed()
        await it.press("y")
        ended = [params["what"] for params in it.operator.sent("call.cancel")[1:]]
        assert ended == [call.request_id for call in calls()[:2]]
        assert "cancelled no calls, 2 had ended by then" in it.status
        await it.press("g")
        it.app.action_act("cancel-all")
        await it.settle()
        assert "Cancel all 1 call on g41?" in it.screen
