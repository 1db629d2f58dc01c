"""The line in front of a capability: first come first served, bounded, each against its own deadline."""

from __future__ import annotations

import asyncio

import pytest

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.registry.limiter import QUEUE_FACTOR, Limiter


def later(seconds: float) -> float:
    return SYSTEM_CLOCK.monotonic() + seconds


async def start_waiter(limiter: Limiter, order: list[int], number: int) -> asyncio.Task[None]:
    async def wait() -> None:
        await limiter.acquire(later(30))
        order.append(number)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    return task


async def test_calls_beyond_the_limit_wait_in_order() -> None:
    limiter = Limiter("scale", 1, SYSTEM_CLOCK)
    await limiter.acquire(later(30))
    order: list[int] = []
    waiters = [await start_waiter(limiter, order, number) for number in range(3)]
    assert (limiter.running, limiter.queued, order) == (1, 3, [])
    for _ in waiters:
        limiter.release()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert order == [0, 1, 2]


async def test_a_full_queue_refuses_at_once() -> None:
    limiter = Limiter("scale", 2, SYSTEM_CLOCK)
    for _ in range(2):
        await limiter.acquire(later(30))
    waiters = [await start_waiter(limiter, [], number) for number in range(2 * QUEUE_FACTOR)]
    with pytest.raises(CallFailed) as refused:
        await limiter.acquire(later(30))
    assert refused.value.error.kind is ErrorKind.CONCURRENCY_LIMITED
    assert refused.value.error.retryable
    for waiter in waiters:
        waiter.cancel()


async def test_a_waiter_gives_up_at_its_own_deadline() -> None:
    limiter = Limiter("scale", 1, SYSTEM_CLOCK)
    await limiter.acquire(later(30))
    with pytest.raises(CallFailed) as refused:
        await limiter.acquire(later(0.01))
    assert refused.value.error.kind is ErrorKind.TIMEOUT
    assert limiter.queued == 0


async def test_a_call_never_waits_for_its_own_ancestor() -> None:
    limiter = Limiter("scale", 1, SYSTEM_CLOCK)
    await limiter.acquire(later(30))
    with pytest.raises(CallFailed) as refused:
        await limiter.acquire(later(30), ancestors=("other", "scale"))
    assert refused.value.error.kind is ErrorKind.CONCURRENCY_LIMITED


async def test_a_cancelled_waiter_leaves_its_place_to_the_next() -> None:
    limiter = Limiter("scale", 1, SYSTEM_CLOCK)
    await limiter.acquire(later(30))
    order: list[int] = []
    first = await start_waiter(limiter, order, 1)
    await start_waiter(limiter, order, 2)
    limiter.release()
    first.cancel()  # in the same turn of the loop in which it was granted the slot
    for _ in range(4):
        await asyncio.sleep(0)
    assert order == [2]
    limiter.release()
    assert limiter.running == 0


async def test_a_wider_limit_lets_waiters_in_and_a_tighter_one_cuts_nobody() -> None:
    limiter = Limiter("scale", 1, SYSTEM_CLOCK)
    await limiter.acquire(later(30))
    order: list[int] = []
    await start_waiter(limiter, order, 1)
    limiter.resize(2)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == [1]
    limiter.resize(1)
    assert limiter.running == 2
    limiter.release()
    assert limiter.running == 1
