"""Another holds the workspace: a second console offers to attach, and goes over to the next runtime."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from evatui.console.app import ConsoleApp
from evatui.console.screens import dialog as dialogs
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType
from tests.console.conftest import Console
from tests.support.workspaces import GREETER, write


async def test_it_attaches_with_enter_and_goes_over_to_the_next_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ARM_AFTER_S", 0.02)
    write(tmp_path, GREETER)

    async def opened(mode: OpenMode, *, stays: bool = False) -> Operator:
        actor = Actor(CallerType.USER, "ann")
        return await open_workspace(tmp_path, state_dir=None, mode=mode, actor=actor, stays=stays)

    first = await opened(OpenMode.HOLD)
    app = ConsoleApp(lambda: opened(OpenMode.HOLD), attach=lambda: opened(OpenMode.ATTACH, stays=True))
    async with asyncio.timeout(100), app.run_test(size=(120, 36)) as pilot:
        it = Console(app, first, pilot)  # type: ignore[arg-type]

        async def shown(text: str) -> None:
            while text not in it.screen:
                await pilot.pause(0.02)

        await shown("Attach?")
        await it.armed()
        await pilot.press("enter")
        await shown(f"attached pid {os.getpid()}")
        assert (await first.snapshot(Cursor())).runtime.consoles == ("ann",)
        await first.close()
        await shown("✗ LOST")
        second = await opened(OpenMode.HOLD)
        await shown("● live")
    await second.close()
