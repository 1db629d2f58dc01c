"""A runtime killed at random moments of its reloads, and what the next start finds: ``python -m tests.soak.struck``."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
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


def run_struck(kills: int, seed: int = 1) -> Report:
    chance = random.Random(seed)
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, GREETER)
        for number in range(kills):
            _strike(root, chance, number)
            report.kills += 1
            asyncio.run(_look(root, report))
    return report


def _strike(root: Path, chance: random.Random, number: int) -> None:
    """The child saves, reloads and rolls back as fast as it can, and is killed while it does."""
    command = [sys.executable, "-m", "tests.soak.struck", "--child", str(root), str(chance.random()), str(number)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"ready\n"
        with closing(child.stdout):
            try:
                child.wait(chance.uniform(0.0, _LONGEST_S))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.wait()


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


async def _child(root: Path, seed: str, number: int) -> None:
    chance = random.Random(seed)
    runtime = await Runtime.open(root)
    print("ready", flush=True)
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
    if sys.argv[1:2] == ["--child"]:
        asyncio.run(_child(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
    else:
        report = run_struck(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
        print("\n".join(report.lines()))
        sys.exit(not report.ok)
