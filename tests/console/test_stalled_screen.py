"""A screen that hangs in a slow widget: no call and no drain notices."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from textual.widget import Widget

from evatui.console.app import ConsoleApp
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.lifecycle import State
from tests.support.workspaces import GREETER, tool, write

SPIN = "function invoke(ctx, request) while true do end end"


class Stuck(Widget):
    """Painting it takes until it is let go."""

    DEFAULT_CSS = "Stuck { dock: top; height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.hangs = threading.Event()
        self.let_go = threading.Event()
        self.was_let_go: list[bool] = []

    def render(self) -> str:
        self.hangs.set()
        self.was_let_go.append(self.let_go.wait(60))
        return "painted"


async def call_and_drain(operator: Operator) -> dict[str, Any]:
    """What a call answers, and one that a drain cuts after its time."""
    greeted = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    spinning = asyncio.create_task(operator.run("capability.call", name="test.spin", payload={}))
    while not ((await operator.snapshot(Cursor())).calls or spinning.done()):
        await asyncio.sleep(0.01)
    await operator.run("capability.drain", id="spin")
    cut = await spinning
    while State.DISABLED not in [row.state for row in (await operator.snapshot(Cursor())).capabilities]:
        await asyncio.sleep(0.01)
    return {"greeted": greeted["response"]["result"]["text"], "cut": cut["response"]["error"]["kind"]}


async def test_a_slow_widget_holds_up_no_call_and_no_drain(tmp_path: Path) -> None:
    spin = tool("spin", SPIN, limits="{timeout_ms: 60000}", reload="{drain_timeout_ms: 100}")
    write(tmp_path, {**GREETER, **spin})
    actor = Actor(CallerType.USER, "ann")
    operator = await open_workspace(tmp_path, state_dir=None, mode=OpenMode.HOLD, actor=actor)
    answers: list[dict[str, Any]] = []
    stuck = Stuck()

    async def opened() -> Operator:
        return operator

    def order() -> None:
        stuck.hangs.wait(60)
        try:
            answers.append(asyncio.run(call_and_drain(operator)))
        finally:
            stuck.let_go.set()

    orders = threading.Thread(target=order)
    app = ConsoleApp(opened)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await app.first_snapshot.wait()
            orders.start()
            await app.mount(stuck)
            while orders.is_alive():
                await pilot.pause(0.02)
            assert stuck.was_let_go[0]
            assert answers == [{"greeted": "hello bob", "cut": "Cancelled"}]
    finally:
        await operator.close()
