"""``evatui`` on a runtime that tells of many events a second, for tests and measurements in a real terminal.

``python -m tests.console.flooded WORKSPACE [EVENTS_A_SECOND]``.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from evatui.console.app import ConsoleApp
from evatui.console.launch import launch
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace, operator_actor
from evatui.control.operator import Operator
from evatui.kernel.model.call import CallerType

__all__ = ["flood", "main"]

_BURST_S = 0.01


def flood(operator: Operator, rate: int) -> None:
    """Events from a thread of its own, in bursts, as long as the process lives."""
    assert isinstance(operator, LocalOperator)
    runtime = operator.kernel._runtime
    assert runtime is not None

    def pour() -> None:
        due = time.monotonic()
        while True:
            for number in range(round(rate * _BURST_S)):
                runtime.bus.emit("/flood/reading", {"number": number, "text": "a reading of a sensor"})
            due = max(due + _BURST_S, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))

    threading.Thread(target=pour, name="flood", daemon=True).start()


def main() -> None:
    workspace, rate = Path(sys.argv[1]), int((sys.argv[2:] or ["10000"])[0])

    async def open_operator() -> Operator:
        actor = operator_actor(CallerType.USER)
        operator = await open_workspace(workspace, state_dir=None, mode=OpenMode.HOLD, actor=actor)
        if rate:
            flood(operator, rate)
        return operator

    sys.exit(launch(ConsoleApp(open_operator, workspace=workspace), mouse=True))


if __name__ == "__main__":
    main()
