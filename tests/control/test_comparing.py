"""What two versions differ in, as everybody gets it who asks: in the process, and over the socket."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from tests.support.workspaces import SCRIPT, save


async def test_lines_are_told_by_file_with_both_numbers_and_how_far_the_change_went(
    operator: Operator, workspace: Path
) -> None:
    first = next(row for row in (await operator.snapshot(Cursor())).capabilities if row.id == "greet").number
    save(workspace, "capabilities/tools/greet.lua", f"-- a remark\n{SCRIPT}")
    await operator.run("capability.reload", ids=["greet"])
    data = await operator.run("capability.diff", id="greet")
    assert data["from"] == first
    (file,) = data["lines"]
    assert (file["path"], file["change"]) == ("capabilities/tools/greet.lua", "changed")
    assert file["lines"][:2] == [["+", None, 1, "-- a remark"], [" ", 1, 2, SCRIPT.splitlines()[0]]]
    assert data["account"] == {"change_class": "hot", "approved": False, "widened": [], "examples": []}
    other_way = await operator.run("capability.diff", id="greet", old=data["to"], new=data["from"])
    assert other_way["lines"][0]["lines"][0] == ["-", 1, None, "-- a remark"]


async def test_what_came_in_an_earlier_run_has_no_account_any_more(operator: Operator) -> None:
    data = await asyncio.wait_for(operator.run("capability.diff", id="greet", old="disk", new="disk"), 60)
    assert data["account"] is None
    assert data["lines"] == []
