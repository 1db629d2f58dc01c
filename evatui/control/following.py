"""Telling whoever waits for a call how far it has come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from evatui.control.operator import OnProgress
from evatui.kernel.model.progress import Progress
from evatui.kernel.registry.calls import Calls
from evatui.kernel.registry.flight import Flight

__all__ = ["following"]

_LOOK_EVERY_S = 0.1


@contextlib.asynccontextmanager
async def following(calls: Calls, request_id: str, told: OnProgress) -> AsyncIterator[None]:
    """While it is entered, ``told`` hears of the call ``request_id``, on the kernel's loop.

    It gets the newest report ten times a second at most, each once, and the last one in any case; but of a
    call that ends within a tenth of a second, which nobody needs to watch, none.
    """
    looking = asyncio.get_running_loop().create_task(_look(calls, request_id, told))
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.wait((looking,))


async def _look(calls: Calls, request_id: str, told: OnProgress) -> None:
    flight: Flight | None = None
    last: Progress | None = None
    try:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            flight = flight or calls.flights.get(request_id)
            last = _tell(flight, last, told)
    finally:
        _tell(flight, last, told)


def _tell(flight: Flight | None, last: Progress | None, told: OnProgress) -> Progress | None:
    newest = flight.host.progress if flight is not None and flight.host is not None else None
    if newest is not None and newest != last:
        told(newest)
    return newest
