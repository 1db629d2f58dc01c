"""Pressing keys in a console without a terminal: after each, all that it leads to has happened and is painted.

Textual's own pilot waits until the process has nothing to do, by the clock: four times a fiftieth of a second a key
at least, and on a machine that others use for as long as a second.
"""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App
from textual.events import Key
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from evatui.console.view.key_names import key_name, key_sign

__all__ = ["key_event", "press", "still"]

_CALM = 3
"""Turns of the loop in which nothing is to be done: what one part asks of another takes a turn to reach it."""

_MANY = 100
_A_WHILE_S = 0.001
"""What takes more turns than that waits for a thread, which wants the processor."""


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
        pilot.app.screen._on_timer_update()  # paints what has changed
        waited = await _handled(pilot.app)


async def _handled(app: App[Any]) -> bool:
    """Gives way until no message is left or in the middle of being handled; whether there was any."""
    waited, calm, turns = False, 0, 0
    while calm < _CALM:
        await asyncio.sleep(0 if turns < _MANY else _A_WHILE_S)
        turns += 1
        calm = 0 if _busy(app) else calm + 1
        waited = waited or not calm
    return waited


def _busy(app: App[Any]) -> bool:
    """Whether a part of it has messages, is at one, or has yet to begin; one that has failed will do no more."""
    if app._exception_event.is_set():
        return False
    return _at_work(app) or any(
        _at_work(node) for screen in app.screen_stack for node in screen.walk_children(with_self=True)
    )


def _at_work(pump: MessagePump) -> bool:
    """Told from outside: Textual's own wait has each part answer, also the idle ones, and costs more than the key."""
    if pump.message_queue_size:
        return True
    return not pump._message_queue.ready_event._waiters if pump._running else not pump._is_mounted
