"""Telling whoever waits for a call how far it has come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from evatui.control.operator import OnProgress
from evatui.kernel.model.progress import Progress
from evatui.kernel.registry.providers.dispatch import Dispatch
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["following"]

_LOOK_EVERY_S = 0.1


@contextlib.asynccontextmanager
async def following(dispatch: Dispatch, request_id: str, told: OnProgress) -> AsyncIterator[None]:
    """While it is entered, ``told`` hears of the call ``request_id``, on the kernel's loop.

    It gets the newest report ten times a second at most, each once, and the last one in any case; but of a
    call that ends within a tenth of a second, which nobody needs to watch, none.
    """
    looking = asyncio.get_running_loop().create_task(_look(dispatch, request_id, told))
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.wait((looking,))


async def _look(dispatch: Dispatch, request_id: str, told: OnProgress) -> None:
    call: UnderWay | None = None
    last: Progress | None = None
    try:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            call = dispatch.find(request_id) or call  # first its hooks are asked, then it runs
            last = _tell(dispatch, call, last, told)
    finally:
        _tell(dispatch, call, last, told)


def _tell(dispatch: Dispatch, call: UnderWay | None, last: Progress | None, told: OnProgress) -> Progress | None:
    newest = dispatch.progress_of(call) if call is not None else None
    if newest is not None and newest != last:
        told(newest)
    return newest or last
