"""What is done can be taken back: ``z``, the log of the session, and what the status line says about both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evatui.console.screens.choose import Choose
from evatui.console.screens.confirm import Confirm
from evatui.console.screens.page import Page
from evatui.console.screens.session import SessionLog
from evatui.console.view.actions import View
from evatui.console.view.ink import plain
from evatui.console.view.outcome import outcome
from evatui.console.view.sent import Sent
from evatui.console.view.session import Session
from evatui.console.view.undo import Undo, undo_of
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import AuditRow
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from tests.console.conftest import OpenConsole
from tests.console.scene import at, record, scene

PLAN = {"undoes": {"action": "drain", "at": at("14:02:20"), "actor": "rico"}, "by": "switching it on", "to": None}


def sent(command: str, data: dict[str, Any] | None = None, **params: Any) -> Sent:
    return Sent(command=command, params=params, request_id=f"req_{command}", took_ms=1.0, data=data or {})


def order(seq: int, code: str, who: str = "ann", kind: str = "cli", request: str = "req_9", **more: Any) -> AuditRow:
    row = record(seq, "14:03:00", more.pop("id", "repo-summary"), code=code, took=0)
    whole = {**row.record, "actor": {"type": kind, "id": who}}
    return replace(row, actor=who, record=whole, request_id=request)


def reloaded(action: str) -> Sent:
    return sent("capability.reload", {"changes": [{"id": "x", "action": action}]})


@pytest.mark.parametrize(
    ("done", "undo"),
    [
        (sent("capability.drain", id="x"), Undo("undo", "undo", "x")),
        (sent("capability.promote", id="x"), Undo("undo", "undo", "x")),
        (sent("runtime.freeze"), Undo("thaws", "thaw")),
        (sent("trust.give"), Undo("takes it back", "distrust")),
        (sent("capability.approve", {"to": "x@1"}, id="x"), Undo("rolls back", "rollback", "x")),
        (sent("capability.approve", {"to": None}, id="x"), Undo("takes it back", "revoke", "x")),
        (
            sent("capability.reload", {"changes": [{"id": "x", "action": "update"}]}),
            Undo("rolls back", "rollback", "x"),
        ),
        (sent("capability.reload", {"changes": [{"id": "x", "action": "add"}]}), None),
        (sent("capability.undo", id="x"), None),
        (sent("capability.call", name="x"), None),
    ],
)
def test_how_it_is_taken_back(done: Sent, undo: Undo | None) -> None:
    assert undo_of(done) == undo
    assert (undo is not None) == ("z " in plain(outcome(done)))


def test_what_failed_is_not_taken_back() -> None:
    failed = CommandFailed(ErrorKind.CONFLICT, "no")
    assert undo_of(Sent(command="capability.drain", params={"id": "x"}, took_ms=1.0, failed=failed)) is None


def test_the_session_has_orders_of_others_once_each_by_what_tells_the_most() -> None:
    session = Session()
    session.learn(
        [order(1, "capability.drained"), order(2, "capability.published"), order(3, "capability.rolled_back")]
    )
    session.learn([order(4, "capability.drained"), order(5, "call.ok", request="req_10")])
    session.learn([order(6, "capability.published", "watch", "kernel", "req_11")])
    (done,) = session.all
    assert (done.who, done.what, done.command) == ("ann", "rollback", "eva capability rollback repo-summary")


def test_what_this_console_did_is_its_own_and_is_not_told_twice() -> None:
    session = Session()
    session.add(sent("capability.drain", id="repo-summary"), at("14:00:00"))
    session.add(sent("capability.inspect", id="repo-summary"), at("14:00:00"))
    session.learn([order(1, "capability.drained", "rico", "user", "req_capability.drain")])
    (done,) = session.all
    assert (done.who, done.what, done.outcome) == ("you", "drain", "done")
    session.add(sent("capability.undo", id="repo-summary"), at("14:00:01"))
    first, _ = session.all
    assert first.undone
    assert first.undo is None


async def test_z_undoes_what_was_just_done_with_its_plan(console: OpenConsole) -> None:
    answers = {"capability.drain": {}, "capability.undo_plan": PLAN, "capability.undo": {"note": "undid the drain"}}
    async with console(answers=answers) as it:
        it.app.pane.rows.move_to("topic-normalize")
        await it.press("x")
        await it.armed()
        await it.press("y")
        assert "z undo" in it.status
        assert "eva capability drain topic-normalize" in it.status
        await it.press("z")
        assert isinstance(it.dialog, Confirm)
        assert "switching it on" in it.screen
        await it.armed()
        await it.press("enter")
        (undone,) = it.operator.sent("capability.undo")
        assert undone["id"] == "topic-normalize"
        assert "undid the last order for topic-normalize" in it.status


async def test_z_goes_back_to_the_thing_that_it_undoes(console: OpenConsole) -> None:
    async with console(answers={"runtime.freeze": {}}) as it:
        it.app.action_act("freeze")
        await it.settle()
        await it.armed()
        await it.press("enter", "3")
        await it.press("z")
        assert "select a capability" in it.status
        it.app.action_act("freeze")
        await it.settle()
        await it.armed()
        await it.press("enter", "z")
        assert "it is not frozen" in it.status  # as the snapshot has it


async def test_a_drain_that_ends_while_its_undo_is_asked_for_is_undone_all_the_same(console: OpenConsole) -> None:
    first, *others = scene().capabilities
    drains = replace(first, state=State.DRAINING)
    ended = replace(first, state=State.DISABLED, generation=None, number=None)
    answers = {"capability.undo_plan": PLAN, "capability.undo": {}}
    async with console(scene(capabilities=(drains, *others)), answers=answers) as it:
        await it.press("z")
        await it.change(scene(capabilities=(ended, *others), at=at("14:02:20")))
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.undo") == [{"id": first.id}]


async def test_z_without_an_offer_is_about_the_selected_thing(console: OpenConsole) -> None:
    nothing = CommandFailed(ErrorKind.CONFLICT, "nothing was ordered of repo-summary that could be undone")
    async with console(answers={"capability.undo_plan": nothing}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("z")
        assert it.open_dialogs == 0
        assert "nothing was ordered of repo-summary" in it.status


async def test_the_session_shows_both_and_undoes_an_entry_of_mine(console: OpenConsole) -> None:
    answers = {"capability.disable": {}, "capability.undo_plan": PLAN}
    async with console(answers=answers) as it:
        it.app.pane.rows.move_to("topic-normalize")
        it.app.action_act("disable")
        await it.settle()
        await it.armed()
        await it.press("y")
        await it.press("at")
        assert isinstance(it.dialog, SessionLog)
        assert "eva capability disable topic-normalize" in it.screen
        more = (*scene().audit, order(106, "capability.rolled_back"))
        await it.change(scene(audit=more, at=at("14:03:01")))
        assert "ann" in it.screen
        await it.armed()
        await it.press("z")
        assert it.open_dialogs == 1
        assert "Undo the last order for topic-normalize?" in it.screen


async def test_why_tells_the_story_of_the_selected_thing(console: OpenConsole) -> None:
    story = {
        "about": "capability",
        "id": "repo-summary",
        "state": State.ACTIVE.value,
        "since": at("14:00:00"),
        "marks": [],
        "serving": {
            "number": "g42",
            "version": "1.2.0",
            "since": at("14:00:00"),
            "actor": {"type": "cli", "id": "ann"},
        },
        "on_disk": {"status": "rejected", "diagnostics": [{"code": "EVA-204", "message": "bad [/x]", "place": "a:1"}]},
        "transitions": [
            {"at": at("14:00:00"), "number": "g42", "from": None, "to": State.PENDING.value, "actor": "watch"}
        ],
        "next": [{"do": "mend", "command": None, "place": "a:1"}],
    }
    async with console(answers={"why": story}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("w")
        assert isinstance(it.dialog, Page)
        for said in ("g42 1.2.0 serves", "ann (cli)", "EVA-204", "mend this", "new → Pending"):
            assert said in it.screen
        await it.press("escape", "6", "w")
        assert it.operator.sent("why")[-1]["what"].startswith("req_")
        await it.press("escape", "colon", *"why g7", "enter")
        assert it.operator.sent("why")[-1] == {"what": "g7"}


async def test_undo_of_a_reload_is_a_rollback_with_the_one_before_first(console: OpenConsole) -> None:
    changed = {"applied": True, "plan_digest": "feed", "changes": [{"id": "repo-summary", "action": "update"}]}
    async with console(answers={"capability.plan": changed, "capability.reload": changed}) as it:
        it.app.pane.rows.move_to("repo-summary")
        await it.press("r")
        await it.armed()
        await it.press("enter")
        assert "z rolls back" in it.status
        await it.press("z")
        assert isinstance(it.dialog, Choose)
        assert "Roll back repo-summary" in it.screen
        assert it.app.view is View.REGISTRY
