"""Sinks that do not do what they should: nothing runs unrecorded, and all goes on once they do."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.records import logfile
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.outlet import Outlet
from evatui.kernel.records.verify import verify
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

BOTH = pytest.mark.parametrize("mode", AuditMode)


def end(request_id: str, **fields: object) -> dict[str, object]:
    return {"code": Code.CALL_OK, "outcome": Outcome.OK, "request_id": request_id, **fields}


def codes(directory: Path) -> list[str]:
    files = sorted(directory.glob("audit-*.jsonl"), key=lambda path: int(path.stem.split("-")[1]))
    return [json.loads(line)["code"] for path in files for line in path.read_bytes().splitlines()]


@contextlib.contextmanager
def small_disk(size: str = "512k", how: str = "rw") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        mounted = ["mount", "-t", "tmpfs", "-o", f"size={size},{how}", "audit", folder]
        try:
            done = subprocess.run(mounted, capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no mount here")
        if done.returncode:
            pytest.skip("nothing can be mounted here")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


@BOTH
def test_a_full_disk_is_said_in_the_room_kept_for_it_and_mended_without_a_restart(mode: AuditMode) -> None:
    with small_disk() as disk:
        directory = disk / "audit"
        log = AuditLog.open(directory, AuditSettings(mode=mode), SYSTEM_CLOCK)
        running = log.begin()
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        with pytest.raises(CallFailed) as caught:  # larger than what the last block may have left
            log.final(running, end("req_cut", input={"value": "x" * 16_384})).wait()
        assert caught.value.error.details["ran"] is True
        with pytest.raises(CallFailed, match="no space left"):
            log.begin()
        log.look()
        with pytest.raises(CallFailed, match="no space left"):
            log.begin()
        assert codes(directory) == ["audit.full"]
        (disk / "filler").unlink()
        log.look()
        log.final(log.begin(), end("req_after")).wait()
        log.close()
        assert codes(directory) == ["audit.full", "audit.recovered", "call.ok"]
        assert verify(directory).ok


def test_room_that_was_kept_is_no_room_for_calls() -> None:
    """It was given up to say that the disk is full, and is wanted back first."""
    with small_disk() as disk:
        directory = disk / "audit"
        log = AuditLog.open(directory, AuditSettings(), SYSTEM_CLOCK)
        log.final(log.begin(), end("req_before")).wait()
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        for _ in range(3):
            log.look()
            with pytest.raises(CallFailed, match="no space left"):
                log.begin()
        assert codes(directory) == ["call.ok", "audit.full"]
        (disk / "filler").unlink()
        log.look()
        log.release(log.begin())
        log.close()


@BOTH
def test_a_reader_that_stops_reading_is_given_up_and_gets_all_of_it_later(tmp_path: Path, mode: AuditMode) -> None:
    reading, writing = os.pipe()
    outlet = Outlet(writing, 0.2)
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=mode), SYSTEM_CLOCK, outlet=outlet, give_up_s=60)
    for number in range(8):
        log.final(log.begin(), end(f"req_{number}", input={"value": "x" * 6_000})).wait()
    with pytest.raises(CallFailed, match="does not read") as caught:
        log.final(log.begin(), end("req_stuck", input={"value": "x" * 60_000})).wait()
    assert caught.value.error.details["ran"] is True
    with pytest.raises(CallFailed, match="does not read"):
        log.begin()
    received = bytearray()

    def read() -> None:
        while data := os.read(reading, 65_536):
            received.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    while not log.health[0]:
        log.look()
    log.final(log.begin(), end("req_after")).wait()
    log.close()
    os.close(writing)
    reader.join()
    os.close(reading)
    [file] = (tmp_path / "audit").glob("*.jsonl")
    assert bytes(received) == file.read_bytes()
    assert codes(tmp_path / "audit")[-2:] == ["audit.recovered", "call.ok"]


def test_a_reader_that_is_gone_stops_the_calls(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    log = AuditLog.open(tmp_path / "audit", AuditSettings(), SYSTEM_CLOCK, outlet=Outlet(writing, 1))
    os.close(reading)
    with pytest.raises(CallFailed, match="broken pipe"):
        log.final(log.begin(), end("req_1"))
    with pytest.raises(CallFailed, match="broken pipe"):
        log.begin()
    log.close()
    os.close(writing)


@BOTH
def test_who_waits_behind_a_sink_that_hangs_is_told_in_time(tmp_path: Path, mode: AuditMode) -> None:
    """One writer hangs in a pipe that nobody reads; the others do not hang with it."""
    reading, writing = os.pipe()
    outlet = Outlet(writing, 60)
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=mode), SYSTEM_CLOCK, outlet=outlet, give_up_s=0.2)
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"\n" * 4096)
    held = [log.begin() for _ in range(3)]
    first = threading.Thread(target=_note, args=(log,))
    first.start()
    while log.health[0]:
        with contextlib.suppress(CallFailed):
            log.note(Code.RUNTIME_STARTED, Outcome.OK)
    assert log.health[1:] == ("unavailable", "it does not take records in time")
    for reservation in held:
        with pytest.raises(CallFailed, match="in time") as caught:
            log.final(reservation, end("req_1")).wait()
        assert caught.value.error.details["ran"] is True
    reader = threading.Thread(target=_drain, args=(reading,))
    reader.start()
    first.join()
    while codes(tmp_path / "audit")[-1] != "call.ok":  # a busy disk takes longer than this log waits
        log.look()
        with contextlib.suppress(CallFailed):
            log.final(log.begin(), end("req_after")).wait()
    log.close()
    os.close(writing)
    reader.join()
    os.close(reading)
    assert verify(tmp_path / "audit").ok


def _note(log: AuditLog) -> None:
    with contextlib.suppress(CallFailed):
        log.note(Code.RUNTIME_STARTED, Outcome.OK)


def _drain(reading: int) -> None:
    while os.read(reading, 65_536):
        pass


def test_one_caller_of_a_durable_log_waits_for_no_other_thread(tmp_path: Path) -> None:
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK)
    writers = []
    log.on_append = lambda record: writers.append(threading.get_ident())
    for number in range(3):
        log.final(log.begin(), end(f"req_{number}"), inline=True).wait()
    log.close()
    assert set(writers) == {threading.get_ident()}


def test_a_group_that_does_not_fit_is_taken_back_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on the size of a file stands in for a full disk: the system takes one of three records, and a part."""
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK)
    log.final(log.begin(), end("req_0")).wait()
    held, asked, answers, flush = [log.begin() for _ in range(4)], threading.Event(), threading.Event(), logfile._sync

    def busy(fd: int) -> None:
        asked.set()
        assert answers.wait(60)
        flush(fd)

    monkeypatch.setattr(logfile, "_sync", busy)
    first = threading.Thread(target=lambda: log.final(held[0], end("req_1")).wait())
    first.start()
    assert asked.wait(60)
    accepted = [log.final(one, end(f"req_{number}")) for number, one in enumerate(held[1:], 2)]
    before, size = resource.getrlimit(resource.RLIMIT_FSIZE), (tmp_path / "audit" / "audit-1.jsonl").stat().st_size
    assert codes(tmp_path / "audit") == ["call.ok"] * 2, "what comes while the disk is busy is not written yet"
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + size * 3 // 4, before[1]))
    try:
        answers.set()
        for one in accepted:
            with pytest.raises(CallFailed, match="too large") as caught:
                one.wait()
            assert caught.value.error.details["ran"] is True
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    first.join()
    log.look()
    log.final(log.begin(), end("req_after")).wait()
    log.close()
    assert codes(tmp_path / "audit") == ["call.ok", "call.ok", "audit.recovered", "call.ok"]
    assert verify(tmp_path / "audit").ok


def test_who_does_not_write_inline_is_not_held_by_a_disk_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK, give_up_s=0.2)
    works, sync = threading.Event(), logfile._sync
    monkeypatch.setattr(logfile, "_sync", lambda fd: (works.wait(), sync(fd)))
    with pytest.raises(CallFailed, match="in time"):
        log.note(Code.RUNTIME_STARTED, Outcome.OK)
    works.set()
    while not log.health[0]:
        log.look()
    log.note(Code.RUNTIME_STARTED, Outcome.OK)
    log.close()


def test_a_record_that_is_none_takes_no_other_with_it_and_stops_nobody(tmp_path: Path) -> None:
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK, give_up_s=0.5)
    before = len(codes(tmp_path / "audit"))
    with pytest.raises(CallFailed, match="in time"):
        log.note(Code.RUNTIME_STARTED, Outcome.OK, no_such={1: object()})
    while not log.health[0]:
        log.look()
    log.note(Code.RUNTIME_STARTED, Outcome.OK)
    log.close()
    assert codes(tmp_path / "audit")[before:].count("runtime.started") == 1
    assert verify(tmp_path / "audit").ok


def test_a_durable_log_that_is_closed_while_it_is_written_keeps_what_waits(tmp_path: Path) -> None:
    log = AuditLog.open(tmp_path / "audit", AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK)
    accepted, writing, closing = [], threading.Event(), threading.Event()

    def first(record: Mapping[str, Any]) -> None:
        log.on_append = None
        accepted.extend(log.final(log.begin(), end(f"req_{number}")) for number in range(3))
        writing.set()
        closing.wait()

    log.on_append = first
    leading = threading.Thread(target=lambda: log.final(log.begin(), end("req_first"), inline=True).wait())
    leading.start()
    writing.wait()
    ending = threading.Thread(target=log.close)
    ending.start()
    closing.set()
    ending.join()
    leading.join()
    for one in accepted:
        one.wait()
    assert [code for code in codes(tmp_path / "audit") if code == "call.ok"] == ["call.ok"] * 4


def test_callers_of_a_durable_log_share_the_wait_for_the_disk(tmp_path: Path) -> None:
    """Counted by the system: far fewer flushes than records."""
    script = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records import logfile
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records import logfile
from evatui.kernel.workspace.settings import AuditMode, AuditSettings
flushes, flush = [], logfile._sync
logfile._sync = lambda fd: (flushes.append(fd), flush(fd))
log = AuditLog.open(Path(sys.argv[1]), AuditSettings(mode=AuditMode.DURABLE), SYSTEM_CLOCK)
def call(number):
    log.final(log.begin(), {"code": "call.ok", "outcome": "ok", "request_id": str(number)}).wait()
with ThreadPoolExecutor(50) as callers:
    list(callers.map(call, range(500)))
print(len(flushes))
log.close()
"""
    command = [sys.executable, "-c", script, str(tmp_path / "audit")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert int(done.stdout) < 250
    found = verify(tmp_path / "audit")
    assert (found.ok, found.records) == (True, 500)
