"""Looking round: views, filter, follow, zoom, what is empty, what is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from evatui.console.view.actions import View
from evatui.console.view.ink import plain
from evatui.console.view.leaving import what_stops
from evatui.console.view.words import Look
from evatui.control.client_sessions import ClientRow
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import Console, OpenConsole
from tests.console.scene import at, calls, record, scene


async def test_keys_change_the_view_and_minus_goes_back(console: OpenConsole) -> None:
    async with console() as it:
        for key, view in (("3", View.REJECTED), ("6", View.AUDIT), ("minus", View.REJECTED), ("1", View.REGISTRY)):
            await it.press(key)
            assert it.app.view is view
            assert it.app.focused is it.app.pane.rows


async def test_escape_goes_up_and_never_leaves(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("enter", "escape", "escape", "escape")
        assert it.app.is_running
        assert "q leaves" in it.status


async def test_the_filter_narrows_while_typing_and_is_recalled(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("slash", *"weath")
        assert [row.key for row in it.app.pane.rows.shown] == ["weather-radar", "weather-tides"]
        assert "2 of 8" in it.text("#tabs")
        await it.press("enter")
        assert it.app.focused is it.app.pane.rows
        await it.press("slash")
        assert it.app.frame.prompt.value == "weath"
        await it.press("escape")
        assert len(it.app.pane.rows.shown) == 8
        await it.press("n")
        assert it.key in ("weather-radar", "weather-tides")


@pytest.mark.parametrize("elsewhere", ["tab", "click"])
async def test_the_filter_is_done_when_the_keys_go_elsewhere(console: OpenConsole, elsewhere: str) -> None:
    async with console() as it:
        await it.press("slash", *"weath")
        if elsewhere == "tab":
            await it.press("tab")
        else:
            await it.pilot.click("#registry-rows", offset=(6, 2))
            await it.settle()
        assert not it.app.frame.prompt.is_open
        assert it.app.focused is it.app.pane.rows
        assert len(it.app.pane.rows.shown) == 2
        await it.press("escape")
        assert len(it.app.pane.rows.shown) == 8


async def test_a_view_chosen_while_the_filter_is_open_is_not_filtered(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("slash", *"weath")
        it.app.action_act("view.audit")
        await it.settle()
        assert not it.app.frame.prompt.is_open
        assert not it.app.pane.rows.query_text
        await it.press("1")
        assert len(it.app.pane.rows.shown) == 2


async def test_letters_in_the_filter_are_letters(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("slash", *"xrq6")
        assert it.open_dialogs == 0
        assert it.app.view is View.REGISTRY
        assert it.operator.commands == []


async def test_the_audit_follows_until_someone_looks_back(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("6")
        assert it.key == "105"
        more = (*scene().audit, record(106, "14:02:30", "repo-summary"))
        await it.change(scene(audit=more, at=at("14:02:30")))
        assert it.key == "106"
        await it.press("k")
        more = (*more, record(107, "14:02:31", "repo-summary"), record(108, "14:02:31", "repo-summary"))
        await it.change(scene(audit=more, at=at("14:02:31")))
        assert it.key == "105"
        assert "+2 new" in it.text("#tabs")
        await it.press("f")
        assert it.key == "108"
        assert "follow" in it.text("#tabs")


async def test_records_are_kept_while_another_view_is_on(console: OpenConsole) -> None:
    async with console() as it:
        more = (*scene().audit, record(106, "14:02:30", "repo-summary"))
        await it.change(scene(audit=more, at=at("14:02:30")))
        await it.press("6")
        assert [row.key for row in it.app.pane.rows.shown] == ["older", *map(str, range(101, 107))]


async def test_every_record_that_is_listed_can_be_opened_also_where_room_for_more_is_left(
    console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.console.panes.audit._KEPT", 60)
    rows = [record(seq, "14:02:30", "repo-summary") for seq in range(11, 111)]
    async with console(scene(audit=tuple(rows[:40])), view=View.AUDIT) as it:
        listed = it.app.pane.rows
        assert (listed.total, it.app.pane.preview_lines(80) != []) == (40, True)
        await it.press("home", "j")
        assert "#11 " in it.status
        await it.press("f")
        await it.change(scene(audit=tuple(rows), at=at("14:02:40")))
        assert (listed.total, listed.shown[0].key, listed.shown[1].key) == (60, "older", "51")
        await it.press("home", "j")
        assert "#51 " in it.status


async def test_zoom_leaves_the_list_alone_on_the_screen(console: OpenConsole) -> None:
    async with console() as it:
        height = it.app.pane.rows.size.height
        await it.press("plus")
        assert it.app.pane.rows.size.height > height
        assert "Unregistered" not in it.screen
        await it.press("escape")
        assert it.app.pane.rows.size.height == height


async def test_a_transition_lights_its_edge_for_three_seconds(console: OpenConsole) -> None:
    async with console() as it:
        assert "PUBLISH" in it.screen
        await it.change(scene(at=at("14:02:15")))
        assert "PUBLISH" not in it.screen
        assert "publish" in it.screen


async def test_a_running_drain_counts_down_by_itself(console: OpenConsole) -> None:
    def left(it: Console) -> int:
        return int(it.screen.partition(" s left")[0].split()[-1])

    async with console() as it:
        first = left(it)
        while left(it) == first:
            await it.pilot.pause(0.1)
        assert left(it) < first <= 8
        assert len(it.operator.pulls) == 1


async def test_a_refusal_shows_its_card_and_who_serves(console: OpenConsole) -> None:
    async with console(size=(80, 24)) as it:
        assert "3 Rej(2)" in it.text("#tabs")
        await it.press("3")
        assert "goes on answering" in it.screen
        assert "not a limit" in it.screen
        await it.press("j")
        assert "Nothing answers in its place" in it.screen


async def test_empty_views_say_what_would_fill_them(console: OpenConsole) -> None:
    empty: ConsoleSnapshot = scene(capabilities=(), rejections=(), audit=(), transitions=(), calls=())
    async with console(empty, size=(80, 24)) as it:
        assert "No capabilities yet" in it.screen
        await it.press("3")
        assert "Nothing is refused" in it.screen
        await it.press("6")
        assert "No records yet" in it.screen
        await it.press("enter", "d", "x", "c")
        assert it.open_dialogs == 0


async def test_what_went_by_unread_is_counted(console: OpenConsole) -> None:
    async with console(scene(dropped=7)) as it:  # of the first snapshot: nobody's to read
        await it.change(scene(dropped=100, at=at("14:02:30")))
        await it.change(scene(dropped=20, at=at("14:02:31")))
        assert "dropped 120" in it.text("#header")


async def test_a_lost_runtime_is_shown_as_lost_and_found_again(console: OpenConsole) -> None:
    async with console() as it:
        answer = it.operator.snapshot

        async def gone(since: Cursor) -> ConsoleSnapshot:
            raise CommandFailed(ErrorKind.UNAVAILABLE, "gone")

        it.operator.snapshot = gone  # type: ignore[method-assign]
        it.operator.change(scene())
        while "LOST" not in it.text("#header"):
            await it.pilot.pause(0.05)
        assert it.app.has_class("-lost")
        it.operator.snapshot = answer  # type: ignore[method-assign]
        while "live" not in it.text("#header"):
            await it.pilot.pause(0.05)
        assert not it.app.has_class("-lost")


async def test_a_small_terminal_still_has_list_status_and_keys(console: OpenConsole) -> None:
    async with console(size=(50, 12)) as it:
        assert "repo-summary" in it.screen
        assert "q leave" in it.screen
        await it.press("x")
        assert "Drain" in it.screen


async def test_a_resize_lays_everything_out_again(console: OpenConsole) -> None:
    async with console(size=(80, 24)) as it:
        await it.pilot.resize_terminal(140, 40)
        await it.settle()
        assert "Unregistered" in it.screen
        await it.pilot.resize_terminal(40, 10)
        await it.press("j")
        await it.pilot.resize_terminal(140, 40)
        await it.settle()
        assert "Generations" in it.screen  # beside the list there is room for them
        await it.pilot.resize_terminal(60, 20)
        await it.settle()
        assert all(len(strip) == 60 for strip in it.strips())


async def test_another_host_name_does_not_push_the_health_out(console: OpenConsole) -> None:
    long = replace(scene().runtime, host="a-very-long-host-name.example.org", workspace="workspace" * 5)
    async with console(scene(runtime=long), size=(80, 24)) as it:
        assert it.text("#header").endswith("● live")


async def test_ctrl_c_and_ctrl_q_ask_as_q_does(console: OpenConsole) -> None:
    async with console() as it:
        for key in ("ctrl+c", "ctrl+q"):
            await it.press(key)
            assert "Leave?" in it.screen
            await it.press("escape")
        await it.press("x", "ctrl+q")
        assert it.app.is_running
        assert not it.app._exit


def test_whoever_leaves_is_told_what_stops_with_the_console() -> None:
    client = ClientRow(
        id="1", principal="ann", transport="http", client="c 1", protocol="2026-07-28", since="", last_seen=""
    )
    quiet, served = scene(calls=()), scene(calls=(), clients=(client, client))
    assert what_stops(quiet) == what_stops(None) == ()
    assert what_stops(replace(served, runtime=replace(served.runtime, attached=True))) == ()
    told = [plain(part) for part in what_stops(served)]
    assert told[1].startswith("2 MCP clients are connected")
    assert not any("in flight" in part for part in told)
    assert "1 MCP client is" in plain(what_stops(replace(served, clients=(client,)))[1])
    seen = replace(quiet, runtime=replace(quiet.runtime, consoles=("ann", "rico")))
    assert "2 other consoles are attached (ann, rico)" in plain(what_stops(seen)[1])


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_with_ascii_nothing_else_is_drawn(console: OpenConsole, size: tuple[int, int]) -> None:
    async with console(look=Look(ascii=True, picture=True), size=size) as it:
        for keys in ("1", "3", "6", "1 x", "escape c", "escape a"):
            await it.press(*keys.split())
            assert [strip for strip in it.strips() if not strip.isascii()] == []


async def test_the_wheel_stops_following(console: OpenConsole) -> None:
    audit = tuple(record(seq, "14:02:30", "repo-summary") for seq in range(1, 90))
    async with console(scene(audit=audit), size=(80, 24), view=View.AUDIT) as it:
        assert it.app.pane.rows.follow
        it.app.pane.rows.post_message(events.MouseScrollUp(it.app.pane.rows, 5, 5, 0, -1, 0, False, False, False, 5, 5))
        await it.settle()
        assert not it.app.pane.rows.follow


@pytest.mark.parametrize("view", [View.REJECTED, View.IN_FLIGHT, View.AUDIT, View.EXTENSIONS])
async def test_what_an_empty_view_says_is_wrapped_and_never_cut(console: OpenConsole, view: View) -> None:
    nothing = scene(rejections=(), calls=(), events=(), audit=())
    async with console(nothing, size=(80, 24), view=view) as it:
        said = [row for row in it.strips()[4:-2] if row.strip()]
        assert len(said) > 1
        assert not any("…" in row for row in said)


async def test_one_of_a_kind_is_not_many(console: OpenConsole) -> None:
    async with console(view=View.IN_FLIGHT) as it:
        assert "1 call in flight" in it.text("#tabs")
        await it.change(scene(at=at("14:02:13"), calls=calls()))
        assert "3 calls in flight" in it.text("#tabs")


async def test_a_long_message_on_the_status_line_is_wrapped_until_it_goes(console: OpenConsole) -> None:
    long = "there is one kept generation; name two of those that the history has, or one and the disk"
    failed = CommandFailed(ErrorKind.NOT_FOUND, long, suggestion="eva capability history repo-summary")
    async with console(size=(80, 24), answers={"capability.plan": failed}) as it:
        await it.press("r")
        assert "history repo-summary" in " ".join(it.status.split())
        assert "q leave" in it.strips()[-1]
        await it.press("j")
        assert "\n" not in it.status
