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


@pytest.fixture
def others() -> set[psutil.Process]:
    """Of runtimes that other tests keep in this process."""
    return set(zygotes())


async def test_a_served_runtime_has_it_before_the_first_call_and_that_takes_it(
    others: set[psutil.Process], holder: LocalOperator, workspace: Path
) -> None:
    def its_own() -> list[psutil.Process]:
        return [one for one in zygotes() if one not in others]

    await until(its_own)
    (ready,) = its_own()
    write(workspace, tool("apart", "function invoke() return {ok = true, result = {}} end", isolation="process"))
    await holder.run("capability.reload")
    assert (await holder.run("capability.call", name="test.apart"))["response"]["ok"]
    assert its_own() == [ready]
    await holder.run("runtime.restart")
    assert not ready.is_running()
    await holder.close()
    assert its_own() == []
