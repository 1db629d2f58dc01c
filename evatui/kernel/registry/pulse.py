"""Whether what serves is still well: its own health check, asked again and again on a state of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.shadow import Shadow

__all__ = ["Pulse"]

_AT_ONCE: Final = 4


class Pulse:
    """A generation that is not well is told of and comes last among the providers of its names. It is never drained:
    a check that is wrong must not take down what works."""

    def __init__(self, registry: Registry, shadow: Shadow, interval_s: float) -> None:
        self.on_defect: Callable[[Exception], None] = lambda _: None
        self._registry = registry
        self._shadow = shadow
        self._interval_s = interval_s
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            try:
                await self.beat()
            except Exception as error:  # the next beat may succeed; a pulse that dies would look like health
                self.on_defect(error)

    async def beat(self) -> None:
        """Asks each generation that serves and has a health check once."""
        capabilities = list(self._registry.capabilities.values())
        await asyncio.gather(*(self._ask(capability) for capability in capabilities))

    async def _ask(self, capability: Capability) -> None:
        async with self._places:
            generation = capability.active
            if generation is None or generation.manifest.lua.health_check is None:
                return
            generation.inside.enter()
            try:
                ailment = await self._shadow.health(generation.candidate, generation.program, generation.name.id)
            finally:
                generation.inside.leave()
            if capability.active is generation:
                self._registry.found(capability, generation, ailment)
