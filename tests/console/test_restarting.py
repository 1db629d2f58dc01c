"""The runtime is built anew from the console: it says whom that concerns, and how it stands meanwhile."""

from __future__ import annotations

from dataclasses import replace

from evatui.control.snapshot import Indicator
from tests.console.conftest import OpenConsole
from tests.console.scene import held, scene

RECEIPT = {"action": "restart", "applied": ["radar-feed"], "waiting": [], "cut": 1}


async def test_it_says_who_is_waited_for_and_what_takes_effect_and_only_y_does_it(console: OpenConsole) -> None:
    async with console(scene(held=(held(waits_for="restart"),)), answers={"runtime.restart": RECEIPT}) as it:
        it.app.action_act("restart")
        await it.settle()
        for shown in ("1 call is waited for, 15 s at most", "Takes effect then: radar-feed", "eva runtime restart"):
            assert shown in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("runtime.restart") == []
        it.app.action_act("restart")
        await it.settle()
        await it.armed()
        await it.press("y")
        assert it.operator.sent("runtime.restart") == [{}]
        assert "restarted the runtime" in it.status
        assert "radar-feed took effect 1 call cut" in it.status


async def test_the_header_and_the_status_line_tell_how_the_runtime_stands(console: OpenConsole) -> None:
    async with console(scene()) as it:
        await it.change(
            replace(scene(), standing=Indicator(ok=False, word="restarting", detail="the runtime restarts"))
        )
        assert it.text("#header").endswith("✗ RESTARTING")
        it.app.action_act("restart")
        assert "restarts already" in it.status
        await it.change(replace(scene(), standing=Indicator(ok=False, word="down", detail="state.db is damaged")))
        assert it.text("#header").endswith("✗ DOWN")
        assert "state.db is damaged" in it.status
        it.app.action_act("restart")
        await it.settle()
        assert "state.db is damaged" in it.screen
