"""An audit log whose writer is killed at random moments, over and over: nothing that was acknowledged is lost.

``python -m tests.soak.audit_kills DIRECTORY MODE`` is the writer; it says each request that it has on record.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.head import Seal
from evatui.kernel.records.segments import segments
from evatui.kernel.records.verify import verify
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

__all__ = ["Report", "kill_at_random"]

_CALLERS = 4
_ROOT = Path(__file__).parents[2]


@dataclass
class Report:
    kills: int = 0
    acknowledged: int = 0
    torn: int = 0
    problems: list[str] = field(default_factory=list)


def _open(root: Path, mode: AuditMode) -> AuditLog:
    settings = AuditSettings(mode=mode, rotate_bytes=200_000, keep_files=60)  # more than one writer can fill
    directory = root / "audit"
    return AuditLog.open(directory, settings, SYSTEM_CLOCK, seal=Seal(root / "config", directory))


def kill_at_random(root: Path, kills: int, mode: AuditMode, seed: int = 1) -> Report:
    """After each kill a start must leave a log that is sound, with every request that was acknowledged in it, and one
    torn tail at most. Files that no kill can reach any more are pruned: the time of a kill does not grow."""
    dice, report, since = random.Random(seed), Report(), 0
    for number in range(kills):
        command = [sys.executable, "-m", "tests.soak.audit_kills", str(root), mode, str(number)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=_ROOT)
        assert writer.stdout is not None
        said = [writer.stdout.readline()]
        time.sleep(dice.random() ** 2 / 2)
        writer.kill()
        said += writer.stdout.readlines()
        writer.wait()
        acknowledged = {line.decode().strip() for line in said if line.endswith(b"\n")}
        log = _open(root, mode)
        last = log.last_seq
        log.close()
        found = verify(root / "audit", Seal(root / "config", root / "audit"))
        ended, torn = _written(root / "audit", since)
        since = last
        report.kills, report.torn = report.kills + 1, report.torn + torn
        report.acknowledged += len(acknowledged)
        if not found.ok:
            report.problems.append(f"kill {number}: {found.first_bad}")
        if lost := acknowledged - ended:
            report.problems.append(f"kill {number}: {len(lost)} acknowledged and lost: {sorted(lost)[:3]}")
        if torn > 1:
            report.problems.append(f"kill {number}: {torn} torn tails")
    return report


def _written(directory: Path, since: int) -> tuple[set[str], int]:
    """The requests that ended well after record ``since``, and how many torn tails were found."""
    ended, torn, files = set(), 0, segments(directory)
    for segment, following in zip(files, [*files[1:], None], strict=True):
        if following is not None and following.first <= since:
            continue
        for line in segment.path.read_bytes().splitlines():
            record = orjson.loads(line)
            torn += record["code"] == "audit.torn_tail" and record["seq"] > since
            if record["code"] == "call.ok":
                ended.add(record["request_id"])
    return ended, torn


def _write(root: Path, mode: AuditMode, run: str) -> None:
    log, telling = _open(root, mode), threading.Lock()

    def caller(name: int) -> None:
        number = 0
        while True:
            number += 1
            request = f"r{run}_{name}_{number}"
            held = log.begin()
            log.intent(held, {"request_id": request, "host_calls": [{"fn": "state_set", "target": "k"}]})
            ending = {"code": "call.ok", "outcome": "ok", "request_id": request, "trace_id": "x" * 300}
            log.final(held, ending).wait()
            with telling:
                sys.stdout.write(f"{request}\n")
                sys.stdout.flush()

    for name in range(_CALLERS):
        threading.Thread(target=caller, args=(name,)).start()


if __name__ == "__main__":
    _write(Path(sys.argv[1]), AuditMode(sys.argv[2]), sys.argv[3])
