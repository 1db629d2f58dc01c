"""Pictures wait for what a console does on the side, however it ends."""

from __future__ import annotations

import asyncio

from textual.app import App

from evatui.console.rest import at_rest


async def test_what_another_took_the_place_of_or_broke_is_over_too() -> None:
    app: App[None] = App()
    done: list[str] = []

    async def works(name: str) -> None:
        await asyncio.sleep(0.01)
        done.append(name)

    async def breaks() -> None:
        raise RuntimeError

    async with app.run_test():
        app.run_worker(works("first"), exclusive=True)
        resting = asyncio.create_task(at_rest(app))
        await asyncio.sleep(0)
        app.run_worker(works("second"), exclusive=True)
        app.run_worker(breaks(), group="other", exit_on_error=False)
        await resting
        assert done == ["second"]
