"""Changes that came together: one assignment for all that are ready, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.registry import together
from evatui.kernel.registry.move import Move
from evatui.kernel.registry.together import Together, alone

ENDS = ("ready", "out", "broken", "unwanted")


class Switch:
    """Remembers what was assigned together."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sets: list[list[Move]] = []
        self._error = error

    def __call__(self, moves: Sequence[Move]) -> tuple[bool, ...]:
        if self._error is not None:
            raise self._error
        self.sets.append([move for move in moves if move.stands()])
        return tuple(move.stands() for move in moves)


def move(wanted: bool = True) -> Move:
    return Move(lambda: None, stands=lambda: wanted)


@given(st.lists(st.sampled_from(ENDS), min_size=1, max_size=8), st.integers(1, 3), st.randoms())
def test_all_that_are_ready_take_effect_in_one_go_whoever_else_falls_out(ends, places, dice) -> None:
    async def main() -> None:
        switch = Switch()
        own = asyncio.Semaphore(places)
        whole = Together(switch, own)
        pauses = [dice.randint(0, 3) for _ in ends]

        async def one(end: str, slot: together.Slot, pause: int) -> bool | None:
            async with slot:
                for _ in range(pause):
                    await asyncio.sleep(0)
                if end == "broken":
                    raise ValueError
                return None if end == "out" else await slot.take_effect(move(end == "ready"))

        slots = [whole.slot() for _ in ends]
        work = [one(*given) for given in zip(ends, slots, pauses, strict=True)]
        took = await asyncio.gather(*work, return_exceptions=True)
        assert [took_effect is True for took_effect in took] == [end == "ready" for end in ends]
        assert [len(moves) for moves in switch.sets if moves] == ([ends.count("ready")] if "ready" in ends else [])
        assert own._value == places

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(together, "TOGETHER_SECONDS", 60)
        asyncio.run(main())


async def test_what_is_slow_holds_up_the_others_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 0.01)
    switch = Switch()
    whole = Together(switch, asyncio.Semaphore(4))
    quick, slow = whole.slot(), whole.slot()
    async with quick, slow:
        assert await quick.take_effect(move())
        assert len(switch.sets) == 1
        assert await slow.take_effect(move())
    assert len(switch.sets) == 2


async def test_where_the_switch_fails_nobody_took_effect() -> None:
    whole = Together(Switch(ValueError("no")), asyncio.Semaphore(4))
    slots = [whole.slot(), whole.slot()]
    ended = await asyncio.gather(*(slot.take_effect(move()) for slot in slots), return_exceptions=True)
    assert [type(end) for end in ended] == [ValueError, ValueError]


async def test_who_is_cancelled_before_the_switch_is_not_part_of_it() -> None:
    switch = Switch()
    whole = Together(switch, asyncio.Semaphore(4))
    first, second = whole.slot(), whole.slot()
    waiting = asyncio.create_task(first.take_effect(move()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await second.take_effect(move())
    assert [len(moves) for moves in switch.sets] == [1]


async def test_who_is_cancelled_just_before_the_switch_is_not_part_of_it_either() -> None:
    """It has not come to its end yet: the others do, in the same turn of the loop."""
    switch = Switch()
    whole = Together(switch, asyncio.Semaphore(4))
    first, second = whole.slot(), whole.slot()
    waiting = asyncio.create_task(first.take_effect(move()))
    await asyncio.sleep(0)
    waiting.cancel()
    assert await second.take_effect(move())
    assert [len(moves) for moves in switch.sets] == [1]
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_is_cancelled_in_the_very_step_of_the_switch_serves() -> None:
    """Whoever asks must not take for undone, and close, what has calls by now."""
    whole = Together(Switch(), asyncio.Semaphore(4))
    first, second = whole.slot(), whole.slot()
    waiting = asyncio.create_task(first.take_effect(move()))
    await asyncio.sleep(0)
    assert await second.take_effect(move())
    waiting.cancel()
    assert await waiting
    assert await alone(Switch()).take_effect(move())
