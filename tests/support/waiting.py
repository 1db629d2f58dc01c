"""Waiting for a condition, never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["until"]

_AT_MOST_S = 60


async def until(condition: Callable[[], object]) -> None:
    """Returns once ``condition`` holds; `TimeoutError` where it never does."""
    async with asyncio.timeout(_AT_MOST_S):
        while not condition():
            await asyncio.sleep(0.002)
