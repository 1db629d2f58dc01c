"""What happens beside the console: files are saved, somebody else calls, a plug is pulled, the log is checked."""

from __future__ import annotations

import asyncio
import time

from evatui.control.operator import Operator
from evatui.demo.edits import Save
from evatui.demo.ground import Ground
from evatui.demo.tally import Tally

__all__ = ["Outside"]

_SCALE = "scale"
_AGAIN_S = 0.2


class Outside:
    """``message`` is what the call that was started came to, ``verified`` how many records held, ``flipped`` the line
    of a copy of the log that was changed and ``named`` the one that a check found; empty and 0 before."""

    def __init__(self, ground: Ground, operator: Operator, tally: Tally, *, timed: bool) -> None:
        self.message = ""
        self.verified = self.flipped = self.named = 0
        self._ground = ground
        self._operator = operator
        self._tally = tally
        self._timed = timed
        self._call: asyncio.Task[None] | None = None

    async def save(self, saves: tuple[Save, ...]) -> None:
        at = await asyncio.to_thread(self._ground.save, saves)
        self._tally.ordered(at if self._timed else None)

    def order(self) -> None:
        """What is about to be pressed brings a new version into service."""
        self._tally.ordered(time.monotonic() if self._timed else None)

    async def simulate(self, fault: str) -> None:
        """What the simulated scale does wrong from now on."""
        await self._operator.run("hardware.simulate", name=_SCALE, fault=fault)

    async def call_silent_scale(self) -> None:
        """Starts it, where none is under way; what it comes to is `message`.

        The scale has answered before, so that it is open, and silent only then.
        """
        if self._call is None or self._call.done():
            await self.simulate("none")
            while await self._weigh():  # noqa: ASYNC110 -- its answer is all there is
                await asyncio.sleep(_AGAIN_S)
            await self.simulate("mute")
            self.message = ""
            self._call = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        self.message = await self._weigh() or "it was answered"

    async def _weigh(self) -> str:
        """What went wrong, empty where it was answered."""
        answer = await self._operator.run("capability.call", name="scale.report", payload={})
        return str((answer["response"].get("error") or {}).get("message", ""))

    async def verify(self) -> None:
        data = await self._operator.run("audit.verify")
        self.verified = data["records"] if data["ok"] else 0

    async def flip(self) -> None:
        self.flipped, self.named = await asyncio.to_thread(self._ground.tampered)
