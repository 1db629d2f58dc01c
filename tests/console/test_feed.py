"""The hand-off between the kernel and the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from evatui.console.commands import Commands
from evatui.console.feed import Feed
from evatui.console.view.sent import Sent
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from tests.console.fake_operator import FakeOperator
from tests.console.scene import scene


class Screen:
    """Counts what it is given, over a clock that the test turns."""

    def __init__(self, operator: FakeOperator) -> None:
        self.now = 100.0
        self.shown: list[ConsoleSnapshot] = []
        self.trouble: list[tuple[bool, int]] = []
        self.feed = Feed(operator, self.shown.append, lambda *state: self.trouble.append(state), lambda: self.now)


async def turn(until: Callable[[], bool] = lambda: True) -> None:
    """A few turns of the loop, and then as many as it takes."""
    for _ in range(10):
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        while not until():
            await asyncio.sleep(0.01)


async def test_the_first_change_after_a_quiet_time_is_shown_at_once() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    screen.feed.start()
    await turn()
    assert len(screen.shown) == 1
    screen.now += 10
    operator.change(scene())
    await turn()
    assert len(screen.shown) == 2
    screen.feed.close()


async def test_a_storm_of_changes_from_another_thread_is_one_hop_and_one_snapshot() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    screen.feed.start()
    await turn()
    hops = 0
    loop = asyncio.get_running_loop()
    call_soon = loop.call_soon_threadsafe

    def counted(*args: object, **more: object) -> asyncio.Handle:
        nonlocal hops
        hops += 1
        return call_soon(*args, **more)  # type: ignore[arg-type]

    screen.now += 10
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "call_soon_threadsafe", counted)
        newest = scene()
        storm = threading.Thread(target=lambda: [operator.change(newest) for _ in range(10_000)])
        storm.start()
        storm.join()  # the loop stands still meanwhile
    assert hops == 1
    await turn()
    assert len(screen.shown) == 2
    screen.feed.close()


async def test_after_a_painting_the_next_waits_half_a_second_but_not_for_a_key() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    screen.feed.start()
    await turn()
    screen.now += 0.4  # 0.1 s of real time is left
    operator.change(scene())
    await turn()
    assert len(screen.shown) == 1
    screen.feed.pull_now()
    await turn()
    assert len(screen.shown) == 2
    operator.change(scene())
    await turn(lambda: len(screen.shown) == 3)
    screen.feed.close()


async def test_each_pull_goes_on_where_the_last_one_ended() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    screen.feed.start()
    await turn()
    screen.feed.pull_now()
    await turn()
    assert operator.pulls == [Cursor(0, 0), Cursor(15, 105)]
    assert [len(snapshot.audit) for snapshot in screen.shown] == [5, 0]
    screen.feed.close()


async def test_a_lost_runtime_is_told_and_found_again() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    answer = operator.snapshot

    async def gone(since: Cursor) -> ConsoleSnapshot:
        raise RuntimeError("the socket is closed")

    operator.snapshot = gone  # type: ignore[method-assign]
    screen.feed.start()
    await turn(lambda: bool(screen.trouble))
    assert screen.trouble == [(True, 0)]
    operator.snapshot = answer  # type: ignore[method-assign]
    await turn(lambda: len(screen.shown) == 1)
    assert screen.trouble[-1] == (False, 0)
    screen.feed.close()


async def test_after_close_nothing_is_pulled() -> None:
    operator = FakeOperator(scene())
    screen = Screen(operator)
    screen.feed.start()
    await turn()
    screen.feed.close()
    screen.now += 10
    operator.change(scene())
    screen.feed.pull_now()
    await turn()
    assert len(screen.shown) == 1


async def test_a_cancelled_waiter_leaves_its_command_running_and_it_is_still_reported() -> None:
    operator = FakeOperator(scene(), {"capability.reload": {"applied": True}})
    operator.gate = asyncio.Event()
    ended: list[Sent] = []
    commands = Commands(operator, ended.append)
    waiter = asyncio.create_task(commands.run("capability.reload", ids=["a"]))
    await turn()
    waiter.cancel()
    await turn()
    assert waiter.cancelled()
    operator.gate.set()
    await turn(lambda: bool(ended))
    assert operator.finished == ["capability.reload"]
    assert ended[0].data == {"applied": True}
