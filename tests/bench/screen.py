"""Programs that the console is measured in: ``python -m tests.bench.screen many COUNT | lag WORKSPACE FILE [bare]``."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from evatui.console.app import ConsoleApp
from evatui.console.launch import launch
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.kernel.model.call import Actor, CallerType
from tests.console.fake_operator import FakeOperator
from tests.console.flooded import flood
from tests.console.scene import capability, scene

__all__ = ["LAG_SECONDS"]

LAG_SECONDS = 6.0
_EVENTS_A_SECOND = 1000
_STEP_S = 0.002


def many(count: int) -> int:
    """The console before so many capabilities, of a runtime that stands still."""
    rows = tuple(capability(f"thing-{number:05d}", number + 1, calls=number * 7) for number in range(count))

    async def open_operator() -> Operator:
        return FakeOperator(scene(capabilities=rows, transitions=(), calls=()))

    return launch(ConsoleApp(open_operator), mouse=False)


def lag(workspace: Path, file: Path, *, bare: bool) -> int:
    """A runtime with events, with a screen that paints them or without; how late its loop was goes to ``file``."""

    async def open_operator() -> Operator:
        actor = Actor(CallerType.USER, "bench")
        operator = await open_workspace(workspace, state_dir=None, mode=OpenMode.HOLD, actor=actor)
        assert isinstance(operator, LocalOperator)
        flood(operator, _EVENTS_A_SECOND)
        operator.kernel.submit(_late(file))
        return operator

    if not bare:
        return launch(ConsoleApp(open_operator), mouse=False)

    async def serve() -> None:
        operator = await open_operator()
        while not file.exists():
            await asyncio.sleep(0.1)
        await operator.close()

    asyncio.run(serve())
    return 0


async def _late(file: Path) -> None:
    late: list[float] = []
    await asyncio.sleep(1.0)
    end = time.perf_counter() + LAG_SECONDS
    while (begun := time.perf_counter()) < end:
        await asyncio.sleep(_STEP_S)
        late.append(time.perf_counter() - begun - _STEP_S)
    late.sort()
    beside = file.with_suffix(".part")
    beside.write_text(str(late[len(late) * 99 // 100]))
    beside.rename(file)


def main() -> int:
    what, *more = sys.argv[1:]
    if what == "many":
        return many(int(more[0]))
    return lag(Path(more[0]), Path(more[1]), bare=more[2:] == ["bare"])


if __name__ == "__main__":
    sys.exit(main())
