"""What is done in a step: keys as a person presses them, and what happens outside of the console."""

from __future__ import annotations

from evatui.console.view.action import VIEWS, View
from evatui.console.view.ink import Ink, line
from evatui.demo.edits import Save
from evatui.demo.scene import Condition, Scene
from evatui.demo.step import Act

__all__ = [
    "answers",
    "call_scale",
    "choose",
    "flip",
    "keys",
    "order",
    "saves",
    "scale",
    "tell",
    "types",
    "verify",
    "view",
    "waits",
]


def keys(*names: str) -> Act:
    async def act(scene: Scene) -> None:
        await scene.press(*names)

    return act


def types(text: str) -> Act:
    return keys(*text)


def view(wanted: View) -> Act:
    async def act(scene: Scene) -> None:
        await scene.press(VIEWS[wanted][0])
        await scene.until(Condition(f"the view is {VIEWS[wanted][1]}", lambda scene: scene.app.view is wanted))

    return act


def choose(key: str) -> Act:
    """Moves the cursor of the list that is on to the row of ``key``."""

    async def act(scene: Scene) -> None:
        await scene.until(Condition(f"there is a row {key}", lambda scene: key in _rows(scene)))
        while (here := scene.app.pane.rows.key) != key:
            rows = _rows(scene)
            down = here not in rows or rows.index(here) < rows.index(key)
            await scene.press("j" if down else "k")
            await scene.until(Condition("the cursor moves", lambda scene: scene.app.pane.rows.key != here))

    return act


def _rows(scene: Scene) -> list[str]:
    return [row.key for row in scene.app.pane.rows.shown]


def waits(condition: Condition) -> Act:
    async def act(scene: Scene) -> None:
        await scene.until(condition)

    return act


def saves(versions: tuple[Save, ...]) -> Act:
    async def act(scene: Scene) -> None:
        await scene.outside.save(versions)

    return act


def scale(fault: str) -> Act:
    async def act(scene: Scene) -> None:
        await scene.outside.simulate(fault)

    return act


async def call_scale(scene: Scene) -> None:
    await scene.outside.call_silent_scale()


def answers(count: int) -> Act:
    """Lets so many calls be answered."""

    async def act(scene: Scene) -> None:
        await scene.load.more(count)

    return act


async def order(scene: Scene) -> None:
    scene.outside.order()


async def verify(scene: Scene) -> None:
    await scene.outside.verify()
    scene.app.say(line(("✓ ", Ink.OK), f"{scene.outside.verified:,} records verified; the same: eva audit verify"))


async def flip(scene: Scene) -> None:
    await scene.outside.flip()
    told = f"a copy with one bit changed in record {scene.outside.flipped:,}: the check names {scene.outside.named:,}"
    scene.app.say(line(("✗ ", Ink.BAD), told))


async def tell(scene: Scene) -> None:
    """What the call came to, once it has."""
    await scene.until(Condition("the call has ended", lambda scene: bool(scene.outside.message)))
    scene.app.say(line(("✗ scale.report ", Ink.BAD), scene.outside.message))
