"""What is done in a step: keys as a person presses them, and what happens outside of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.action import VIEWS, View
from evatui.console.view.ink import Ink, line
from evatui.demo.edits import Save
from evatui.demo.step import Act, Condition

if TYPE_CHECKING:
    from evatui.demo.tour import Tour

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
    async def act(tour: Tour) -> None:
        await tour.press(*names)

    return act


def types(text: str) -> Act:
    return keys(*text)


def view(wanted: View) -> Act:
    async def act(tour: Tour) -> None:
        await tour.press(VIEWS[wanted][0])
        await tour.until(Condition(f"the view is {VIEWS[wanted][1]}", lambda tour: tour.app.view is wanted))

    return act


def choose(key: str) -> Act:
    """Moves the cursor of the list that is on to the row of ``key``."""

    async def act(tour: Tour) -> None:
        await tour.until(Condition(f"there is a row {key}", lambda tour: key in _rows(tour)))
        while (here := tour.app.pane.rows.key) != key:
            rows = _rows(tour)
            down = here not in rows or rows.index(here) < rows.index(key)
            await tour.press("j" if down else "k")
            await tour.until(Condition("the cursor moves", lambda tour: tour.app.pane.rows.key != here))

    return act


def _rows(tour: Tour) -> list[str]:
    return [row.key for row in tour.app.pane.rows.shown]


def waits(condition: Condition) -> Act:
    async def act(tour: Tour) -> None:
        await tour.until(condition)

    return act


def saves(versions: tuple[Save, ...]) -> Act:
    async def act(tour: Tour) -> None:
        await tour.outside.save(versions)

    return act


def scale(fault: str) -> Act:
    async def act(tour: Tour) -> None:
        await tour.outside.simulate(fault)

    return act


async def call_scale(tour: Tour) -> None:
    await tour.outside.call_silent_scale()


def answers(count: int) -> Act:
    """Lets so many calls be answered."""

    async def act(tour: Tour) -> None:
        await tour.load.more(count)

    return act


async def order(tour: Tour) -> None:
    tour.outside.order()


async def verify(tour: Tour) -> None:
    await tour.outside.verify()
    tour.app.say(line(("✓ ", Ink.OK), f"{tour.outside.verified:,} records verified; the same: eva audit verify"))


async def flip(tour: Tour) -> None:
    await tour.outside.flip()
    told = f"a copy with one bit changed in record {tour.outside.flipped:,}: the check names {tour.outside.named:,}"
    tour.app.say(line(("✗ ", Ink.BAD), told))


async def tell(tour: Tour) -> None:
    """What the call came to, once it has."""
    await tour.until(Condition("the call has ended", lambda tour: bool(tour.outside.message)))
    tour.app.say(line(("✗ scale.report ", Ink.BAD), tour.outside.message))
