"""Where the tour plays: the console with its band, the load and what happens outside, and the keys that are pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from textual import events

from evatui.console.screens.dialog import Dialog
from evatui.console.view.key_names import key_name
from evatui.demo.banded import BandedConsole
from evatui.demo.load import Load
from evatui.demo.outside import Outside

__all__ = ["LIMIT_S", "Condition", "NotSo", "Scene"]

LIMIT_S = 60.0
"""For a condition to come: many times what it takes."""
_LOOK_S = 0.02


class NotSo(Exception):
    """A condition that did not come; its text says which."""


@dataclass(frozen=True, slots=True)
class Condition:
    """``what`` completes "it is not so that …" where it does not come. One ``of_answers`` needs calls to come."""

    what: str
    holds: Callable[[Scene], bool]
    of_answers: bool = False


class Scene:
    def __init__(self, app: BandedConsole, load: Load, outside: Outside) -> None:
        self.app = app
        self.load = load
        self.outside = outside
        self._pressed: list[events.Key] = []

    def pressed(self, event: events.Key) -> bool:
        """Whether it was pressed here, and not by a person."""
        here = event in self._pressed
        if here:
            self._pressed.remove(event)
        return here

    async def until(self, condition: Condition) -> None:
        """Waits for it. Raises `NotSo` where it does not come."""
        end = asyncio.get_running_loop().time() + LIMIT_S
        while not condition.holds(self):
            if asyncio.get_running_loop().time() > end:
                raise NotSo(condition.what)
            await asyncio.sleep(_LOOK_S)

    async def press(self, *keys: str) -> None:
        """By name, or as the sign on the key; a dialog gets none before it takes one."""
        for key in keys:
            await self.until(_READY)
            event = events.Key(key_name(key), key if len(key) == 1 else None)
            event.set_sender(self.app)
            self._pressed.append(event)
            self.app.post_message(event)

    async def home(self) -> None:
        """Back to the console itself, out of whatever is open."""
        while (depth := len(self.app.screen_stack)) > 1 or self.app.frame.types:
            await self.press("escape")
            await self.until(
                Condition(
                    "what is open closes",
                    lambda scene: len(scene.app.screen_stack) < max(depth, 2) and not scene.app.frame.types,
                )
            )


_READY = Condition(
    "what is open, or on its way, takes keys",
    lambda scene: not scene.app.fetches and (not isinstance(scene.app.screen, Dialog) or scene.app.screen.armed),
)
