"""One table: everything a key does is in it, with its danger, and read-only takes it away at the root."""

from __future__ import annotations

from collections import Counter

import pytest

from evatui.console.app import ConsoleApp
from evatui.console.view.actions import ACTIONS, Actions, View
from evatui.console.view.typed import understood
from evatui.console.widgets.row_list import RowList
from evatui.control.commands import COMMANDS, Danger
from evatui.control.failing import CommandFailed
from evatui.control.operator import Operator
from tests.console.conftest import OpenConsole
from tests.support.pilots import press, still

CHANGING = [action for action in ACTIONS if action.changes]


async def never() -> Operator:
    raise AssertionError("not opened here")


def test_every_command_that_is_named_exists() -> None:
    assert {action.command for action in ACTIONS if action.command} <= COMMANDS.keys()


def test_every_action_does_something_and_nothing_else_does() -> None:
    assert ConsoleApp(never).dispatch_table.handlers.keys() == {action.id for action in ACTIONS}


def test_no_key_means_two_things_in_one_view() -> None:
    for view in View:
        keys = Counter(
            key for action in ACTIONS if action.key and view in action.views for key in action.key.split(",")
        )
        assert [key for key, times in keys.items() if times > 1] == []


def test_the_levels_are_those_of_the_commands() -> None:
    levels = {action.id: action.danger for action in ACTIONS if action.command}
    assert levels == {
        "reload": Danger.PLAN,
        "rollback": Danger.DIALOG,
        "drain": Danger.DIALOG,
        "disable": Danger.DIALOG,
        "enable": Danger.PLAN,
        "promote": Danger.DIALOG,
        "abort": Danger.DIALOG,
        "pause": Danger.DIALOG,
        "resume": Danger.PLAN,
        "retry": Danger.PLAN,
        "undo": Danger.PLAN,
        "drain.force": Danger.TYPED,
        "reload.all": Danger.DIALOG,
        "why": Danger.FREE,
        "approve": Danger.TYPED,
        "revoke": Danger.PLAN,
        "trust": Danger.DIALOG,
        "distrust": Danger.DIALOG,
        "restart": Danger.DIALOG,
        "freeze": Danger.PLAN,
        "thaw": Danger.DIALOG,
        "call": Danger.FREE,
        "cancel": Danger.PLAN,
        "cancel-all": Danger.DIALOG,
        "tools.approve": Danger.TYPED,
        "tools.revoke": Danger.PLAN,
        "probe": Danger.FREE,
        "bind": Danger.DIALOG,
        "claim": Danger.DIALOG,
        "release": Danger.DIALOG,
        "release.force": Danger.TYPED,
        "rescan": Danger.FREE,
        "describe": Danger.FREE,
        "diff": Danger.FREE,
    }
    assert {action.id for action in CHANGING if action.command} == levels.keys() - {"describe", "diff", "why", "rescan"}
    assert {action.id: action.danger for action in CHANGING if not action.command} == {"fix": Danger.PLAN}


def test_a_readonly_table_has_nothing_that_changes_or_calls() -> None:
    for action in Actions(readonly=True).all:
        assert action.danger is Danger.FREE
        assert action.command is None or not COMMANDS[action.command].effects


async def test_a_readonly_console_answers_every_key_and_sends_no_command(console: OpenConsole) -> None:
    harmless = {"leave", "edit"}
    async with console(readonly=True) as it:
        it.app.pane.rows.move_to("repo-summary")
        for action in (action for action in ACTIONS if action.key and action.id not in harmless):
            await it.press(action.key.split(",")[0])
            for _ in range(it.open_dialogs):
                assert ":drain" not in it.screen
                await it.armed()
                await it.press("escape")
            if it.app.frame.prompt.is_open:
                await it.press("escape")
            it.app.pane.rows.move_to("repo-summary")
        sent = {COMMANDS[command] for command, _ in it.operator.commands}
        assert [command.name for command in sent if command.effects or command.danger] == []


async def test_from_now_on_it_only_looks(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"readonly", "enter")
        assert "READ-ONLY" in it.text("#header")
        assert it.operator.readonly
        shown = {action.id for action in it.app.actions.all}
        assert shown == {action.id for action in Actions(readonly=True).all}
        for action in CHANGING:
            assert f"no command {action.word}" in str(understood(action.word, it.app.actions))
            if action.key:
                await press(it.pilot, action.key.split(",")[0])
                assert "READ-ONLY" in it.status
                it.app.say(())
        await it.press("colon", *"drain", "enter")
        assert "no command drain" in it.status
        await it.press("ctrl+p")
        found = {row.key for row in it.dialog.query_one(RowList).shown}
        assert not found & {action.id for action in CHANGING}
        await it.press("escape", "a")
        assert not {row.key for row in it.dialog.query_one(RowList).shown} & {action.id for action in CHANGING}
        assert it.operator.commands == []
        for name, command in COMMANDS.items():
            if command.effects or command.danger:
                with pytest.raises(CommandFailed, match="read-only"):
                    await it.operator.run(name)


async def test_what_readonly_took_away_is_not_reached_by_its_name(console: OpenConsole) -> None:
    async with console(readonly=True) as it:
        for action in CHANGING:
            it.app.say(())
            assert "READ-ONLY" not in it.status
            it.app.action_act(action.id)
            await still(it.pilot)
            assert "READ-ONLY" in it.status, action.id
            assert it.open_dialogs == 0, action.id
            assert it.operator.commands == [], action.id
