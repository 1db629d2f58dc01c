"""The console over a runtime in which something changes a hundred times a second, for tests in a real terminal.

``python -m tests.console.churning VIEW``: every capability is called, calls come and go, and each leaves a record.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from dataclasses import replace

from evatui.console.app import ConsoleApp
from evatui.console.launch import launch
from evatui.console.settings import Settings
from evatui.console.view.actions import View
from evatui.control.snapshot import AuditRow, ConsoleSnapshot
from tests.console.fake_operator import FakeOperator
from tests.console.scene import at, calls, record, scene

__all__ = ["main", "moment"]

_EACH_S = 0.01
_KEPT = 400


def moment(number: int, audit: tuple[AuditRow, ...]) -> ConsoleSnapshot:
    """The scene after ``number`` changes; nothing of it looks as it did before."""
    rows = tuple(
        replace(row, calls=row.calls + number * 7, errors=row.errors + number, in_flight=(row.in_flight + number) % 10)
        for row in scene().capabilities
    )
    flying = tuple(
        replace(call, request_id=f"{call.request_id}{number}", elapsed_ms=call.elapsed_ms + number % 97 * 100)
        for call in calls()
    )
    return scene(capabilities=rows, calls=flying, audit=audit, at=at(f"14:{number // 60 % 60:02d}:{number % 60:02d}"))


def _churn(operator: FakeOperator) -> None:
    names = tuple(row.id for row in operator.current.capabilities)
    audit = operator.current.audit
    for number in itertools.count(1):
        fresh = record(200 + number, "14:02:30", names[number % len(names)], took=number * 137 % 900_000)
        audit = (*audit[-_KEPT:], fresh)
        operator.change(moment(number, audit))
        time.sleep(_EACH_S)


def main() -> None:
    operator = FakeOperator(scene())

    async def open_operator() -> FakeOperator:
        threading.Thread(target=_churn, args=(operator,), daemon=True).start()
        return operator

    sys.exit(launch(ConsoleApp(open_operator, settings=Settings(view=View(sys.argv[1]))), mouse=False))


if __name__ == "__main__":
    main()
