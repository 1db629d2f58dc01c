"""Worker processes are forked from one that a served runtime has ready, before anything asks for it."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from evatui.control.local import LocalOperator
from tests.support.waiting import until
from tests.support.workspaces import tool, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no zygote on this system")


def zygotes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if any("zygote" in word for word in child.cmdline())]


async def test_a_served_runtime_has_it_before_the_first_call_and_that_takes_it(
    holder: LocalOperator, workspace: Path
) -> None:
    await until(zygotes)
    (ready,) = zygotes()
    write(workspace, tool("apart", "function invoke() return {ok = true, result = {}} end", isolation="process"))
    await holder.run("capability.reload")
    assert (await holder.run("capability.call", name="test.apart"))["response"]["ok"]
    assert zygotes() == [ready]
    await holder.run("runtime.restart")
    assert not ready.is_running()
    await holder.close()
    assert zygotes() == []
