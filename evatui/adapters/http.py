"""HTTP for the kernel: each exchange on a connection of its own, to an address that was looked at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from evatui.adapters.resolving import Resolve, SystemNames, checked_addresses
from evatui.kernel.host.ports import Exchange, Reply

if TYPE_CHECKING:
    from evatui.adapters.exchange import Speaker

__all__ = ["Http"]


class Http:
    """The `HttpPort`. ``ask`` resolves names, by default the system; no name is resolved twice for one exchange."""

    def __init__(self, ask: Resolve | None = None) -> None:
        self._ask = ask or SystemNames()
        self._speaker: Speaker | None = None

    async def send(self, exchange: Exchange) -> Reply:
        addresses = await checked_addresses(exchange.url.host, exchange.reach, self._ask)
        if self._speaker is None:
            self._speaker = await asyncio.to_thread(_speaker)  # most runs never speak HTTP, and never load it
        return await self._speaker.exchange(exchange, addresses)


def _speaker() -> Speaker:
    from evatui.adapters.exchange import Speaker

    return Speaker()
