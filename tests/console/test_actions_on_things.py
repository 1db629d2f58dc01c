"""What each key does to the selected thing, as the runtime hears of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from textual import events

from evatui.console.screens.choose import Choose
from evatui.console.screens.confirm import Confirm
from evatui.console.screens.page import Page
from evatui.console.screens.typed import Typed
from evatui.console.view.actions import View
from evatui.console.widgets.row_list import RowList
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from tests.console.conftest import OpenConsole
from tests.console.scene import at, capability, field, generation, scene
from tests.support.pilots import press, still

SERVING = "repo-summary@1.2.0+build.20260504.042"
PLAN: dict[str, Any] = {
    "plan_digest": "feed",
    "applied": False,
    "changes": [
        {
            "id": "repo-summary",
            "action": "update",
            "from": SERVING,
            "to": None,
            "change_class": "hot",
            "diff": {
                "files": [{"path": "capabilities/tools/repo_summary.lua", "from": "a", "to": "b"}],
                "fields": [{"path": "limits.timeout_ms", "from": 30000, "to": 5000}],
            },
            "diagnostics": [],
        }
    ],
}
INSPECTED: dict[str, Any] = {
    "id": "repo-summary",
    "input_schema": {
        "type": "object",
        "required": ["path"],
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "default": 3}, "other": {}},
    },
}
ANSWERED: dict[str, Any] = {
    "response": {"ok": True, "result": {"files": 120}, "meta": None, "error": None},
    "request_id": "req_0123",
    "generation": SERVING,
    "duration_ms": 12.5,
}


async def test_reload_shows_the_plan_and_enter_applies_just_that_plan(console: OpenConsole) -> None:
    async with console(answers={"capability.plan": PLAN, "capability.reload": {**PLAN, "applied": True}}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("r")
        assert "limits.timeout_ms" in it.screen
        assert "capabilities/tools/repo_summary.lua" in it.screen
        assert it.operator.sent("capability.reload") == []
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.plan") == [{"ids": ["repo-summary"]}]
        assert it.operator.sent("capability.reload") == [{"ids": ["repo-summary"], "plan": "feed"}]
        assert "reloaded repo-summary" in it.status
        assert "eva capability reload repo-summary --plan feed" in it.status


async def test_reload_without_a_change_asks_nothing(console: OpenConsole) -> None:
    same = {"plan_digest": "feed", "changes": [{"id": "repo-summary", "action": "unchanged"}]}
    async with console(answers={"capability.plan": same}) as it:
        await it.press("r")
        assert it.open_dialogs == 0
        assert "nothing to reload" in it.status


async def test_a_plan_that_refuses_everything_cannot_be_applied(console: OpenConsole) -> None:
    refused = {
        "plan_digest": "feed",
        "changes": [{"id": "x", "action": "reject", "diagnostics": [{"code": "EVA-204"}]}],
    }
    async with console(answers={"capability.plan": refused}) as it:
        await it.press("r")
        assert isinstance(it.dialog, Page)
        assert "EVA-204" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.reload") == []


async def test_drain_says_how_many_calls_wait_and_only_y_drains(console: OpenConsole) -> None:
    async with console(answers={"capability.drain": {"from": SERVING, "to": None}}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("x")
        assert "3 calls are waited for, the longest until 14:02:22" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.open_dialogs == 0
        assert it.operator.sent("capability.drain") == []
        await it.press("x")
        await it.armed()
        await it.press("y")
        assert it.operator.sent("capability.drain") == [{"id": "repo-summary", "if_generation": SERVING}]
        assert "drained repo-summary" in it.status


async def test_a_key_typed_before_the_dialog_was_seen_confirms_nothing(console: OpenConsole) -> None:
    async with console(quick=False) as it:
        await press(it.pilot, "x", "y")
        await it.settle()
        assert isinstance(it.dialog, Confirm)
        assert it.operator.sent("capability.drain") == []


async def test_a_target_that_moved_while_the_dialog_was_open_is_refused(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("topic-normalize")
        await it.press("x")
        rows = tuple(
            capability("topic-normalize", 55) if row.id == "topic-normalize" else row for row in scene().capabilities
        )
        await it.change(scene(capabilities=rows, at=at("14:02:20")))
        await it.armed()
        await it.press("y")
        assert it.operator.sent("capability.drain") == []
        assert "moved to g55" in it.status


async def test_the_action_goes_to_the_row_that_was_seen_though_rows_moved_under_it(console: OpenConsole) -> None:
    async with console(answers={"capability.drain": {}}) as it:
        it.app.pane.rows.move_to("topic-normalize")
        await it.press("x")
        rows = tuple(row for row in scene().capabilities if row.id != "adapter-result-simplify")
        await it.change(scene(capabilities=rows, at=at("14:02:20")))
        await it.armed()
        await it.press("y")
        assert [params["id"] for params in it.operator.sent("capability.drain")] == ["topic-normalize"]


async def test_rollback_offers_what_can_be_restored_with_the_previous_one_first(console: OpenConsole) -> None:
    async with console(answers={"capability.rollback": {"from": SERVING, "to": "repo-summary@1.1.9"}}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("R")
        assert isinstance(it.dialog, Choose)
        await it.armed()
        await it.press("enter")
        assert "g41 1.1.9 serves again" in it.screen
        await it.armed()
        await it.press("y")
        assert it.operator.sent("capability.rollback") == [
            {"id": "repo-summary", "to": "g41", "if_generation": SERVING}
        ]


async def test_a_rollback_that_loses_state_wants_the_name_typed(console: OpenConsole) -> None:
    refused = CommandFailed(ErrorKind.CONFLICT, "2 keys would be lost", context={"lost_keys": ["count", "extra"]})
    async with console(answers={"capability.rollback": refused}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("R")
        await it.armed()
        await it.press("enter")
        await it.armed()
        await it.press("y")
        assert isinstance(it.dialog, Typed)
        assert "count" in it.screen
        assert "--lose-state" in it.screen
        await it.armed()
        await it.press(*"repo-summary", "enter")
        first, second = it.operator.sent("capability.rollback")
        assert "lose_state" not in first
        assert second == {**first, "lose_state": True, "typed": "repo-summary"}


async def test_an_older_generation_can_be_chosen(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("R")
        await it.armed()
        await it.press("j", "enter")
        assert "g37 1.1.8 serves again" in it.screen


async def test_what_cannot_be_done_says_why_in_the_status_line(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("weather-tides")
        await it.press("R")
        assert "no earlier generation of it can be restored" in it.status
        await it.press("x")
        assert "nothing of it takes calls: it is Rejected" in it.status


async def test_the_menu_has_enable_and_disable_with_reasons(console: OpenConsole) -> None:
    async with console(answers={"capability.disable": {}, "capability.enable": {}}) as it:
        it.app.pane.rows.move_to("topic-normalize")
        await it.press("a")
        assert "it is neither disabled nor demoted" in it.screen
        await it.armed()
        it.dialog.query_one(RowList).move_to("disable")
        await it.press("enter")
        assert "Disable topic-normalize?" in it.screen
        await it.armed()
        await it.press("y")
        assert it.operator.sent("capability.disable")[0]["id"] == "topic-normalize"
        it.app.pane.rows.move_to("scale-report")
        await it.press("a")
        await it.armed()
        it.dialog.query_one(RowList).move_to("enable")
        await it.press("enter")
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.enable") == [{"id": "scale-report"}]


async def test_what_was_demoted_can_be_taken_back(console: OpenConsole) -> None:
    moved = capability("wild", 7, marks=("demoted",), isolation="process", isolation_why="moved there after 2 timeouts")
    async with console(scene(capabilities=(moved,)), answers={"capability.enable": {}}) as it:
        await it.press("a")
        await it.armed()
        it.dialog.query_one(RowList).move_to("enable")
        await it.press("enter")
        assert "runs in the process of the runtime again" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.enable") == [{"id": "wild"}]


async def test_a_key_in_the_menu_does_what_it_does_outside(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("a")
        await it.armed()
        await it.press("x")
        assert "Drain adapter-result-simplify?" in it.screen


async def test_a_call_with_side_effects_is_asked_for_first(console: OpenConsole) -> None:
    async with console(answers={"capability.call": ANSWERED}) as it:
        it.app.pane.rows.move_to("weather-radar")
        await it.press("c")
        await it.press("ctrl+s")
        assert isinstance(it.dialog, Confirm)
        assert it.operator.sent("capability.call") == []
        await it.armed()
        await it.press("enter")
        assert len(it.operator.sent("capability.call")) == 1


async def test_the_draft_of_a_call_is_kept(console: OpenConsole) -> None:
    async with console(answers={"capability.inspect": INSPECTED}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("c", "9", "escape")
        assert it.open_dialogs == 0
        await it.press("c")
        assert '{"path": "9", "depth": 3}' in it.screen
        await it.press("ctrl+t", *'{"half', "escape", "c")
        assert '{"half' in it.screen


async def test_a_payload_that_is_no_json_is_not_sent(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("c")
        await it.press("x", "ctrl+s")
        assert "not JSON" in it.screen
        assert it.operator.sent("capability.call") == []


@pytest.mark.parametrize(
    "text",
    ['{"n": ' + "9" * 5000 + "}", '{"n": NaN}', '{"n": ' * 20_000, '{"n": "\\ud800"}', "[1]", "{"],
    ids=["digits", "nan", "deep", "surrogate", "list", "open"],
)
async def test_no_payload_that_is_pasted_ends_the_console(console: OpenConsole, text: str) -> None:
    async with console() as it:
        await it.press("c")
        it.app.post_message(events.Paste(text))
        await it.press("ctrl+s")
        assert it.app.is_running
        sent = it.operator.sent("capability.call")
        assert all(call["payload"] == {"n": "\ud800"} for call in sent)


async def test_what_is_typed_takes_the_place_of_the_suggested_payload(console: OpenConsole) -> None:
    async with console(answers={"capability.inspect": INSPECTED, "capability.call": ANSWERED}) as it:
        await it.press("c", "ctrl+t")
        await it.press(*'{"path":1}', "ctrl+s")
        assert [call["payload"] for call in it.operator.sent("capability.call")] == [{"path": 1}]


async def test_a_second_key_before_the_first_was_answered_opens_one_dialog(console: OpenConsole) -> None:
    async with console(answers={"capability.plan": PLAN, "capability.inspect": INSPECTED}) as it:
        for keys in ("cc", "dd", "rr", "dc", "cr"):
            it.operator.gate = asyncio.Event()
            await press(it.pilot, *keys)
            it.operator.gate.set()
            await it.settle()
            assert it.open_dialogs == 1, keys
            await it.press("escape")


async def test_an_error_answer_shows_kind_message_and_request_id(console: OpenConsole) -> None:
    failed = {
        "response": {"ok": False, "result": None, "error": {"kind": "HandlerError", "message": "no such place"}},
        "request_id": "req_77",
    }
    async with console(answers={"capability.call": failed}) as it:
        await it.press("c")
        await it.press("ctrl+s")
        assert "HandlerError" in it.screen
        assert "no such place" in it.screen
        assert "req_77" in it.screen
        assert "✗ HandlerError adapter-result-simplify: no such place" in it.status


async def test_a_closed_form_leaves_the_call_to_the_runtime(console: OpenConsole) -> None:
    async with console(answers={"capability.call": ANSWERED}) as it:
        await it.press("c")
        it.operator.gate = asyncio.Event()
        await press(it.pilot, "ctrl+s")
        await still(it.pilot)
        await press(it.pilot, "escape")
        await still(it.pilot)
        assert "capability.call" not in it.operator.finished
        it.operator.gate.set()
        await it.settle()
        assert it.operator.finished.count("capability.call") == 1
        assert "called adapter-result-simplify" in it.status


async def test_a_failed_command_shows_kind_message_and_suggestion(console: OpenConsole) -> None:
    failed = CommandFailed(ErrorKind.UNAVAILABLE, "the runtime is gone [/foo]", suggestion="eva status")
    async with console(answers={"capability.plan": failed, "capability.inspect": failed}) as it:
        for key in "rdc":
            await it.press(key)
            assert it.open_dialogs == 0
            assert "Unavailable" in it.status
            assert "the runtime is gone [/foo]" in it.status
            assert "eva status" in it.status
            it.app.say(())


async def test_a_defect_behind_a_command_is_no_traceback(console: OpenConsole) -> None:
    async with console() as it:
        it.operator.answers["capability.plan"] = ZeroDivisionError("secret")  # type: ignore[assignment]
        await it.press("r")
        assert "Internal" in it.status
        assert "secret" not in it.screen


async def test_describe_shows_the_capability(console: OpenConsole) -> None:
    async with console(answers={"capability.inspect": {"manifest": {"id": "repo-summary", "limits": {"a": 1}}}}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("d")
        assert isinstance(it.dialog, Page)
        assert "limits" in it.screen
        assert it.operator.sent("capability.inspect") == [{"id": "repo-summary"}]
        await it.press("escape")
        assert it.open_dialogs == 0


async def test_enter_opens_the_audit_record_whole(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("6")
        await it.press("enter")
        assert '"request_id"' in it.screen
        assert "fs_read_text" in it.screen


async def test_copy_goes_to_the_clipboard_of_the_terminal(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("C")
        assert it.app.clipboard == "adapter-result-simplify"
        assert "OSC 52" in it.status


async def test_leaving_with_calls_in_flight_says_what_stops(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("q")
        assert "1 call is" in it.screen
        await it.press("escape")
        assert it.app.is_running
        await it.press("q")
        await it.armed()
        await press(it.pilot, "enter")
        await still(it.pilot)
        assert it.app._exit


async def test_leaving_an_idle_runtime_or_an_attached_one_asks_nothing(console: OpenConsole) -> None:
    attached = replace(scene().runtime, attached=True)
    for snapshot in (scene(calls=()), scene(runtime=attached)):
        async with console(snapshot) as it:
            await press(it.pilot, "q")
            await still(it.pilot)
            assert it.app._exit


async def test_rollback_of_a_capability_that_serves_nothing_is_possible(console: OpenConsole) -> None:
    old = generation("scale-report", 7, "1.0.0", State.UNREGISTERED, restorable=True)
    row = capability("scale-report", None, state=State.REJECTED, generations=(old,))
    async with console(scene(capabilities=(row,)), answers={"capability.rollback": {}}) as it:
        await it.press("R")
        await it.armed()
        await it.press("enter")
        await it.armed()
        await it.press("y")
        assert it.operator.sent("capability.rollback") == [{"id": "scale-report", "to": "g7", "if_generation": None}]


async def test_a_rollback_shows_what_it_changes_permissions_first_and_the_code_a_scroll_away(
    console: OpenConsole,
) -> None:
    code = [["-", 1, None, "return 2"], ["+", None, 1, "return 1"], *([" ", at, at, "x"] for at in range(2, 30))]
    differs = {
        "permissions": [field("network.hosts", "narrowed", ["a.example.org"], [], lost=["a.example.org"])],
        "lines": [{"path": "a.lua", "change": "changed", "lines": code}],
    }
    async with console(answers={"capability.diff": differs}, size=(80, 24)) as it:
        await it.press("j", "j", "j", "R", "enter")
        await it.armed()
        told = [row.strip(" │") for row in it.screen.split("\n")]
        order = ["Registry ▸ Roll back to g41?", "Permissions", "3 calls are waited for, the longest until", "a.lua"]
        assert [next(n for n, row in enumerate(told) if row.startswith(each)) for each in order] == sorted(
            next(n for n, row in enumerate(told) if row.startswith(each)) for each in order
        )
        assert "j k scroll" in it.screen
        await it.press("end")
        assert "29   x" in it.screen


async def test_keys_that_come_before_the_dialog_they_asked_for_do_nothing_to_the_list(console: OpenConsole) -> None:
    async with console(answers={"capability.inspect": INSPECTED, "why": {"about": "capability"}}) as it:
        it.operator.gate = asyncio.Event()
        await press(it.pilot, "d")
        for key in ("j", "x", "2", "c", "slash"):
            await press(it.pilot, key)
        assert (it.key, it.app.view, it.open_dialogs) == ("adapter-result-simplify", View.REGISTRY, 0)
        assert "looking it up  esc leaves it" in it.status
        it.operator.gate.set()
        await it.settle()
        assert "eva capability inspect" in it.screen
        assert [command for command, _ in it.operator.commands] == ["capability.inspect"]
        await it.press("escape", "j")
        assert it.key == "config-validate"

        it.operator.gate.clear()
        await press(it.pilot, "w")
        await press(it.pilot, "escape")
        while it.app.fetches:
            await it.pilot.pause(0.02)
        await press(it.pilot, "j")
        it.operator.gate.set()
        await it.settle()
        assert (it.key, it.open_dialogs) == ("prompt-compose", 0)
