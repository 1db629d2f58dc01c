"""The workspace stands still by order: the header says so, and the thaw says what it will publish."""

from __future__ import annotations

from dataclasses import replace

from tests.console.conftest import OpenConsole
from tests.console.scene import capability, scene

SINCE = "since 2026-01-01T10:00:00Z by ann"


async def test_it_is_frozen_with_enter_and_thawed_with_y(console: OpenConsole) -> None:
    answers = {"runtime.freeze": {"frozen": {}}, "runtime.thaw": {"frozen": None, "changes": [{"id": "radar-feed"}]}}
    rows = (capability("radar-feed", 7, on_disk="changed"),)
    async with console(scene(capabilities=rows), answers=answers) as it:
        it.app.action_act("thaw")
        assert "it is not frozen" in it.status
        it.app.action_act("freeze")
        await it.settle()
        assert "eva freeze" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("runtime.freeze") == [{}]
        assert "frozen" in it.status
        now = scene(capabilities=rows)
        await it.change(replace(now, runtime=replace(now.runtime, frozen=SINCE)))
        assert "FROZEN" in it.text("#header")
        it.app.action_act("freeze")
        assert f"it is frozen {SINCE}" in it.status
        it.app.action_act("thaw")
        await it.settle()
        assert "Published then, if sound: radar-feed" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("runtime.thaw") == []
        it.app.action_act("thaw")
        await it.settle()
        await it.armed()
        await it.press("y")
        assert it.operator.sent("runtime.thaw") == [{}]
        assert "thawed" in it.status
        assert "1 change" in it.status
