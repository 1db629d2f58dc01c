"""Pressing keys in a console without a terminal: after each, all that it leads to has happened and is painted.

Textual's own pilot waits until the process has nothing to do, by the clock: four times a fiftieth of a second a key
at least, and on a machine that others use for as long as a second.
"""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App
from textual.events import Key
from textual.pilot import Pilot

from evatui.console.view.key_names import key_name, key_sign

__all__ = ["key_event", "press", "still"]


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Each by its name or as the sign that is typed; one after the other, as somebody does who looks at the screen."""
    for key in keys:
        pilot.app.post_message(key_event(key))
        await still(pilot)


def key_event(key: str) -> Key:
    name = key_name(key)
    sign = " " if name == "space" else key_sign(name)
    return Key(name, sign if len(sign) == 1 else None)


async def still(pilot: Pilot[Any]) -> None:
    """Until no part of the console has anything left to handle, and all is painted. Workers may go on."""
    waited = True
    while waited:
        await _handled(pilot.app)
        await pilot.pause(0)  # those that are in the middle of something end it, and then it is painted
        waited = await _handled(pilot.app)


async def _handled(app: App[Any]) -> bool:
    """Gives way until no message is left; whether there was any."""
    waited, calm = False, 0
    while calm < 3:
        await asyncio.sleep(0)
        calm = 0 if _waits(app) else calm + 1
        waited = waited or not calm
    return waited


def _waits(app: App[Any]) -> bool:
    """Whether a message is in a queue."""
    if app.message_queue_size:
        return True
    return any(node.message_queue_size for screen in app.screen_stack for node in screen.walk_children(with_self=True))
