"""kill -9 in the middle of a migration leaves every byte, and the next start goes on from there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.runtime.test_migrations import FIRST, SECOND, STATE, counted, files
from tests.support.waiting import until
from tests.support.workspaces import save, write

NEVER = (
    FIRST
    + """
function migrate_1_2(ctx, rows)
  for _, row in ipairs(rows) do ctx.host.state_set({key = row.key, value = 'half'}) end
  ctx.host.log("info", {at = "half"})
  while true do end
end
"""
)
SERVE = """
import asyncio, sys
from pathlib import Path
from evatui.kernel.host.functions import table
from evatui.runtime import Runtime

def half(asker, given, call):
    Path(sys.argv[2]).write_text("half")

table.DIRECT["log"] = half
asyncio.run(Runtime.open(Path(sys.argv[1])))
"""


async def test_a_runtime_killed_amid_a_migration(workspace: Path, tmp_path: Path) -> None:
    write(workspace, files(FIRST))
    runtime = await Runtime.open(workspace)
    await counted(runtime)
    await runtime.close()
    for path, text in files(NEVER, state=STATE).items():
        save(workspace, path, text)
    reached = tmp_path / "half"
    struck = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, str(workspace), str(reached))
    try:
        await until(reached.exists)
    finally:
        struck.kill()
        await struck.wait()
    for path, text in files(SECOND, state=STATE).items():
        save(workspace, path, text)
    runtime = await Runtime.open(workspace)
    try:
        assert {row.key: (row.value, row.version) for row in runtime.state.rows("count", 1)} == {"count": (1, 1)}
        assert (await call(runtime, "test.count", {})).response.result["value"] == 11
    finally:
        await runtime.close()
