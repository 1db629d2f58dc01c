"""One action on all marked rows."""

from __future__ import annotations

from evatui.console.screens.confirm import Confirm
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import OpenConsole

MARKED = frozenset({"topic-normalize", "repo-summary", "scale-report", "gone"})


async def test_marked_rows_are_named_and_only_y_does_it_each_guarded(console: OpenConsole) -> None:
    async with console(answers={"capability.drain": {}}) as it:
        it.app.pane.rows.marks = MARKED
        await it.press("x")
        assert "Drain 2 marked things?" in it.screen
        for said in ("repo-summary", "topic-normalize", "3 calls are waited for", "left out: scale-report"):
            assert said in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.drain") == []
        await it.press("x")
        await it.armed()
        await it.press("y")
        sent = it.operator.sent("capability.drain")
        assert [one["id"] for one in sent] == ["repo-summary", "topic-normalize"]
        assert all(one["if_generation"].startswith(one["id"]) for one in sent)
        assert "drained 2 of 2" in it.status
        await it.press("at")
        assert it.screen.count("done") >= 2


async def test_what_is_harmless_alone_asks_for_y_together(console: OpenConsole) -> None:
    async with console(answers={"capability.enable": CommandFailed(ErrorKind.CONFLICT, "it is refused")}) as it:
        it.app.pane.rows.marks = MARKED
        it.app.action_act("enable")
        await it.settle()
        assert isinstance(it.dialog, Confirm)
        await it.armed()
        await it.press("enter")
        assert it.operator.commands == []
        it.app.action_act("enable")
        await it.settle()
        await it.armed()
        await it.press("y")
        assert "enabled 0 of 1" in it.status
        assert "scale-report: Conflict it is refused" in it.status


async def test_a_reload_of_marked_rows_is_one_plan(console: OpenConsole) -> None:
    plan = {"plan_digest": "feed", "changes": [{"id": "repo-summary", "action": "update"}]}
    async with console(answers={"capability.plan": plan}) as it:
        it.app.pane.rows.marks = MARKED
        await it.press("r")
        assert it.operator.sent("capability.plan") == [{"ids": ["repo-summary", "scale-report", "topic-normalize"]}]
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.reload") == []


async def test_where_none_of_them_fits_it_is_said(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.marks = frozenset({"scale-report"})
        await it.press("x")
        assert it.open_dialogs == 0
        assert "none of 1 marked: nothing of it takes calls" in it.status
