"""The header of the console, over a real runtime whose audit log is in trouble: what is wrong, and since when."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.console.view.header import Link, header
from evatui.console.view.ink import plain
from evatui.console.view.words import Look
from evatui.control.snapshot import Cursor
from evatui.control.view import View
from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.errors import ErrorKind
from evatui.runtime import Runtime
from tests.records.test_sinks import small_disk
from tests.runtime.conftest import ANN
from tests.support.waiting import until
from tests.support.workspaces import GREETER, write


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    write(tmp_path, GREETER)
    with small_disk("2m") as disk:
        runtime = await Runtime.open(tmp_path, state_dir=disk)
        yield runtime
        await runtime.close()


def shown(runtime: Runtime) -> str:
    line = plain(header(View(runtime).snapshot(Cursor()), Link(), 120, Look(picture=True)))
    return line[line.index("audit ") :].removesuffix("  ● live")


async def called(runtime: Runtime) -> ErrorKind | None:
    error = (await runtime.call(CallRequest("text.greet", {"name": "ann"}, ANN))).response.error
    return error.kind if error else None


async def test_a_full_disk_refuses_calls_and_says_so_until_there_is_room(runtime: Runtime) -> None:
    assert (await called(runtime), shown(runtime)) == (None, "audit ●")
    filler = runtime.layout.state_dir / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    await until(lambda: "✗" in shown(runtime))
    assert re.fullmatch(r"audit ✗ CALLS REFUSED since \d\d:\d\d:\d\d", shown(runtime))
    assert await called(runtime) is ErrorKind.AUDIT_UNAVAILABLE
    filler.unlink()
    await until(lambda: shown(runtime) == "audit ●")
    assert await called(runtime) is None
    told = [event.topic for event in runtime.bus.since(0)[0] if event.topic.startswith("/audit/")]
    assert told == ["/audit/unavailable", "/audit/recovered"]


async def test_a_deleted_log_is_begun_anew_and_its_loss_stays_in_sight(runtime: Runtime) -> None:
    assert await called(runtime) is None
    shutil.rmtree(runtime.layout.state_dir / "audit")
    await until(lambda: "✗" in shown(runtime))
    assert re.fullmatch(r"audit ✗ damaged since \d\d:\d\d:\d\d", shown(runtime))
    assert await called(runtime) is None
    assert runtime.audit.tail(1)[0]["code"] == "call.ok"


def test_a_folder_that_cannot_be_written_lets_nothing_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, GREETER)
    with small_disk("2m", "ro") as disk:
        call = ["capability", "call", "text.greet", "--payload", '{"name": "ann"}']
        assert run(["-w", str(tmp_path), "--state-dir", str(disk), *call]) == 4
        assert "cannot be used: Read-only file system" in capsys.readouterr().err
