"""A disk that does not answer: whoever is at it is given up, nothing begins, and all goes on once it answers."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.workspace.settings import AuditMode
from evatui.runtime import Runtime
from tests.runtime.conftest import call, records
from tests.support.waiting import until
from tests.support.workspaces import GREETER, MANIFEST, write


def done(*words: str) -> bool:
    with contextlib.suppress(FileNotFoundError, subprocess.TimeoutExpired):
        return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode == 0
    return False


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, in a file."""
    if shutil.which("fsfreeze") is None:
        pytest.skip("there is no fsfreeze here")
    image, folder = tmp_path / "image", tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    folder.mkdir()
    if not (done("mkfs.ext4", "-q", str(image)) and done("mount", "-o", "loop", str(image), str(folder))):
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        done("fsfreeze", "-u", str(folder))
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("mode", AuditMode)
async def test_a_call_whose_record_hangs_is_answered_and_the_others_are_refused(
    tmp_path: Path, disk: Path, mode: AuditMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 0.02)
    settings = {"eva.yaml": f"version: 1\naudit: {{mode: {mode}}}\n"}
    write(tmp_path / "ws", {**GREETER, **settings, "capabilities/greet.yaml": MANIFEST.replace("20000, c", "400, c")})
    runtime = await Runtime.open(tmp_path / "ws", state_dir=disk / "state")
    assert (await call(runtime)).response.ok
    assert done("sync")
    assert done("fsfreeze", "-f", str(disk))
    error = (await call(runtime)).response.error
    assert (error.kind, error.retryable, error.details.get("ran")) == (ErrorKind.AUDIT_UNAVAILABLE, False, True)
    assert runtime.audit.health[:2] == (False, "unavailable")
    assert runtime.engine.stuck == 1
    refused = (await call(runtime)).response.error
    assert (refused.kind, "ran" in refused.details) == (ErrorKind.AUDIT_UNAVAILABLE, False)
    assert done("fsfreeze", "-u", str(disk))
    await until(lambda: runtime.audit.health[0] and runtime.engine.stuck == 0)
    assert (await call(runtime)).response.ok
    codes = [record["code"] for record in await records(runtime, 20)]
    assert codes.count("call.ok") == 3, "the one that was given up is on record after all"
    assert "audit.recovered" in codes
    await runtime.close()
