"""The console on a runtime of its own, opened on a workspace that nobody trusts yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.screens import dialog as dialogs
from evatui.console.view.ink import plain
from evatui.console.widgets.lines import Lines
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.workspace.home import OperatorHome
from tests.support.pilots import press
from tests.support.workspaces import EVERYTHING, GREETER, tool, write

ANN = Actor(CallerType.USER, "ann")
OK = "function invoke(ctx, request) return {ok = true, result = 1} end"
NETWORK = "{network: {hosts: [a.org]}}"


class Sitting:
    """A person before a console over ``operator``."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[Any], operator: Operator) -> None:
        self.app, self.pilot, self.operator = app, pilot, operator

    async def until(self, holds: Callable[[], object]) -> None:
        give_up = asyncio.get_running_loop().time() + 60
        while not holds():
            assert asyncio.get_running_loop().time() < give_up, self.text("#status")
            await self.pilot.pause(0.02)

    def text(self, selector: str) -> str:
        widget = self.app.screen_stack[0].query_one(selector, Lines)
        return "\n".join(plain(row) for row in widget.lines)

    async def answer(self, *keys: str) -> None:
        """Once the dialog on top takes them."""
        await self.until(lambda: isinstance(self.app.screen, dialogs.Dialog) and self.app.screen.armed)
        await press(self.pilot, *keys)

    async def calls(self, name: str) -> bool:
        try:
            answer = await self.operator.run("capability.call", name=name, payload={"name": "bob"})
        except CommandFailed:
            return False
        return bool(answer["response"]["ok"])


Sit = Callable[..., AbstractAsyncContextManager[Sitting]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    policy = {"capabilities/policies/all.yaml": EVERYTHING}
    write(root, {**GREETER, **policy, **tool("net", OK, permissions=NETWORK)})
    return root


@pytest.fixture
def sit(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Sit:
    monkeypatch.setattr(dialogs, "ARM_AFTER_S", 0.02)
    home = OperatorHome(workspace.parent / "config")

    @asynccontextmanager
    async def sitting(mode: OpenMode = OpenMode.HOLD, *, readonly: bool = False) -> AsyncIterator[Sitting]:
        operator = await open_workspace(workspace, state_dir=None, mode=mode, actor=ANN, readonly=readonly, home=home)

        async def opened() -> Operator:
            return operator

        app = ConsoleApp(opened, readonly=readonly)
        try:
            async with app.run_test(size=(100, 30)) as pilot:
                await app.first_snapshot.wait()
                yield Sitting(app, pilot, operator)
        finally:
            await operator.close()

    return sitting


async def test_not_now_is_calm_and_nothing_ungranted_runs_until_an_attached_console_trusts(sit: Sit) -> None:
    async with sit() as own:
        await own.answer("enter")
        await own.until(lambda: "T asks again" in own.text("#status"))
        assert "UNTRUSTED" in own.text("#header")
        assert await own.calls("text.greet")
        assert not await own.calls("test.net")
        async with sit(OpenMode.ATTACH, readonly=True) as looks:
            assert "UNTRUSTED" in looks.text("#header")
            assert not isinstance(looks.app.screen, dialogs.Dialog)
            with pytest.raises(CommandFailed):
                await looks.operator.run("trust.give")
        async with sit(OpenMode.ATTACH) as attached:
            await attached.answer("y")
            await attached.until(lambda: "UNTRUSTED" not in attached.text("#header"))
            assert await attached.calls("test.net")
        await own.until(lambda: "UNTRUSTED" not in own.text("#header"))
    async with sit() as again:
        assert "UNTRUSTED" not in again.text("#header")
        assert not isinstance(again.app.screen, dialogs.Dialog)


async def test_what_moved_under_the_question_is_not_trusted(sit: Sit, workspace: Path) -> None:
    async with sit() as it:
        await it.until(lambda: isinstance(it.app.screen, dialogs.Dialog))
        write(workspace, tool("net", OK, permissions="{network: {hosts: [a.org, b.org]}}"))
        await it.operator.run("capability.reload", ids=["net"])
        await it.answer("y")
        await it.until(lambda: "Conflict" in it.text("#status"))
        assert not await it.calls("test.net")


async def test_a_version_that_changed_under_the_dialog_is_not_approved(sit: Sit, workspace: Path) -> None:
    async with sit() as it:
        await it.answer("y")
        await it.until(lambda: "UNTRUSTED" not in it.text("#header"))
        write(workspace, tool("greet2", OK, permissions=NETWORK))
        await it.operator.run("capability.reload", ids=["greet2"])
        await it.until(lambda: it.app.snapshot is not None and it.app.snapshot.held)
        it.app.pane.rows.move_to("greet2")
        it.app.action_act("approve")
        await it.until(lambda: isinstance(it.app.screen, dialogs.Dialog))
        write(workspace, tool("greet2", OK, permissions="{network: {hosts: [evil.org]}}"))
        await it.operator.run("capability.reload", ids=["greet2"])
        await it.answer(*"greet2", "enter")
        await it.until(lambda: "Conflict" in it.text("#status"))
        assert not await it.calls("test.greet2")
        it.app.action_act("approve")
        await it.answer(*"greet2", "enter")
        await it.until(lambda: "approved greet2" in it.text("#status"))
        assert await it.calls("test.greet2")
