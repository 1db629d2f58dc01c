"""A runtime killed at random moments of its reloads, and what the next start finds: ``python -m tests.soak.struck``."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.storage.content_store import ContentStore
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.schema import CONTENT
from evatui.runtime import Runtime
from tests.support.workspaces import GREETER, SCRIPT, save, write

__all__ = ["Report", "run_struck"]

_ANN = Actor(CallerType.USER, "ann")
_SCRIPT_FILE = "capabilities/tools/greet.lua"
_BROKEN = ("function invoke(", SCRIPT.replace("{ok = true}", "{ok = false}"), "")
_LONGEST_S = 0.6


@dataclass
class Report:
    kills: int = 0
    answers: int = 0
    fell_back: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    def lines(self) -> list[str]:
        told = f"{self.kills} kills, {self.answers} starts answered, {self.fell_back} of them with an earlier version"
        return [told, *(f"PROBLEM {problem}" for problem in self.problems[:20])]


def run_struck(kills: int, seed: int = 1, longest_s: float = _LONGEST_S) -> Report:
    """Each child lives for a random time of at most ``longest_s``, once it serves."""
    chance = random.Random(seed)
    report = Report()
    command = [sys.executable, "-m", "tests.soak.struck", "--nursery"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery,
    ):
        root = Path(folder)
        write(root, GREETER)
        for number in range(kills):
            _strike(nursery, root, chance, number, longest_s)
            report.kills += 1
            asyncio.run(_look(root, report))
        assert nursery.stdin is not None
        nursery.stdin.close()
    return report


def _strike(nursery: subprocess.Popen[str], root: Path, chance: random.Random, number: int, longest_s: float) -> None:
    """The child saves, reloads and rolls back as fast as it can, and is killed while it does."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(f"{json.dumps([str(root), chance.random(), number])}\n")
    nursery.stdin.flush()
    word, pid = nursery.stdout.readline().split()
    assert word == "ready"
    time.sleep(chance.uniform(0.0, longest_s))
    os.kill(int(pid), signal.SIGKILL)
    assert nursery.stdout.readline() == f"ended {-signal.SIGKILL}\n"


async def _look(root: Path, report: Report) -> None:
    for name in ("state.db", "store/content.db"):
        with closing(sqlite3.connect(root / ".eva" / name)) as rows:
            if (found := rows.execute("PRAGMA integrity_check").fetchone()) != ("ok",):
                report.problems.append(f"{name}: {found}")
    store = ContentStore(lambda: Database(root / ".eva/store/content.db", CONTENT))
    for digest in store.paths():
        store.load(digest)
    store.close()
    on_disk = (root / _SCRIPT_FILE).read_text()
    runtime = await Runtime.open(root)
    try:
        response = (await runtime.call(CallRequest("text.greet", {"name": "ann"}, _ANN))).response
        if not response.ok:
            report.problems.append(f"no answer: {response.error}; the disk held {on_disk[:40]!r}")
            return
        report.answers += 1
        if f'by = "{response.result["by"]}"' not in on_disk or "ok = false" in on_disk:
            report.fell_back += 1
    finally:
        await runtime.close()


def _nursery() -> None:
    """Forks a child for each line: to start each anew would take longer than it lives."""
    for line in sys.stdin:
        root, seed, number = json.loads(line)
        child = os.fork()
        if child == 0:
            asyncio.run(_child(Path(root), seed, number))
        print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


async def _child(root: Path, seed: float, number: int) -> None:
    chance = random.Random(seed)
    runtime = await Runtime.open(root)
    print("ready", os.getpid(), flush=True)
    for version in count():
        word = f"k{number}v{version}"
        save(root, _SCRIPT_FILE, chance.choice([SCRIPT.replace("one", word)] * 3 + list(_BROKEN)))
        await runtime.reloader.run(explicit=True)
        if chance.random() < 0.2 and len(runtime.registry.capabilities["greet"].kept) > 2:
            try:
                await runtime.operations.rollback("greet", _ANN)
            except CallFailed:  # there may be nothing left that was not rolled back
                continue


if __name__ == "__main__":
    if sys.argv[1:2] == ["--nursery"]:
        _nursery()
    else:
        report = run_struck(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
        print("\n".join(report.lines()))
        sys.exit(not report.ok)
