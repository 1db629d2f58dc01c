"""The console: how soon a key is answered, what the screen costs the kernel, filters, and silence when idle."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from evatui.console.view.rows import audit_row
from evatui.console.view.table import Query, Row
from evatui.console.view.words import Look
from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared
from tests.bench.screen import LAG_SECONDS
from tests.console.scene import record
from tests.console.terminal import Terminal
from tests.support.workspaces import GREETER, write

__all__ = ["measure"]

_KEYS = 40
_RECORDS = 100_000
_FEW, _MANY = 12, 2_000
_IDLE_SECONDS = 30.0
_AWAY, _BACK = (b"5", "No call is in flight"), (b"1", "SERVES")


async def measure(rounds: int) -> list[Section]:
    few = min(rounds, 5)
    return [await _flooded(few), await _lag(few), await _filter(rounds), await _many(few), await _idle()]


# --- a key, answered ------------------------------------------------------------------------------


def _answered(terminal: Terminal, key: bytes, text: str) -> float:
    """Seconds from the key to ``text`` in what is drawn then."""
    terminal.read(0.0)
    terminal.drawn.clear()
    begun = time.perf_counter()
    terminal.type(key)
    terminal.read_until(text)
    return time.perf_counter() - begun


def _p95(values: list[float]) -> float:
    return sorted(values)[len(values) * 95 // 100]


def _to_and_fro(terminal: Terminal) -> list[float]:
    steps = itertools.islice(itertools.cycle((_AWAY, _BACK)), _KEYS)
    taken = []
    for step in steps:
        taken.append(_answered(terminal, *step))
        terminal.read(0.05)
    return taken


@contextmanager
def _terminal(*argv: str, shows: str) -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory() as home:  # what somebody's own console remembers is nobody's here
        terminal = Terminal(*argv, env={"COLORTERM": "truecolor", "EVA_CONFIG_DIR": home})
        try:
            terminal.read_until(shows)
            terminal.read(1.0)
            yield terminal
        finally:
            terminal.close()


async def _flooded(rounds: int) -> Section:
    notes: list[str] = []

    def keys(rate: int) -> float:
        with _workspace() as root, _terminal("-m", "tests.console.flooded", str(root), str(rate), shows="greet") as it:
            _to_and_fro(it)
            before = _rss_mib(it.process.pid)
            taken = _to_and_fro(it)
            if rate:
                notes.append(f"{before:.0f} → {_rss_mib(it.process.pid):.0f}")
            return _p95(taken)

    arms = [Arm("idle", _threaded(lambda: keys(0))), Arm("10,000 events a second", _threaded(lambda: keys(10_000)))]
    lines = compared(await interleave(arms, rounds), "ms", 1e3, 0)
    note = (
        f"p95 of {_KEYS} changes of the view in a pseudo terminal, from the key to the text that only the other view "
        f"has (wanted: 3 × idle, or 50 ms). Memory over the flood, MiB: {', '.join(notes[1:])}."
    )
    return Section("A key under load", note, lines)


async def _many(rounds: int) -> Section:
    def program(count: int, measured: Callable[[Terminal], float]) -> float:
        with _terminal("-m", "tests.bench.screen", "many", str(count), shows="thing-00001") as it:
            return measured(it)

    def table(measured: Callable[[Terminal], float]) -> list[Arm]:
        counts = (_FEW, _MANY)
        return [Arm(f"{count:,}", _threaded(partial(program, count, measured))) for count in counts]

    switched = compared(await interleave(table(lambda it: _p95(_to_and_fro(it))), rounds), "ms", 1e3, 0)
    ordered = compared(await interleave(table(lambda it: max(_sorts(it))), rounds), "ms", 1e3, 0)
    lines = ["### another view, p95", "", *switched, "", "### the next order, slowest", "", *ordered]
    return Section("Capabilities in the console", "From the key to its picture (wanted of 2,000: 100 ms).", lines)


def _sorts(terminal: Terminal) -> list[float]:
    return [_answered(terminal, b"s", "▴") for _ in range(4)]


# --- what the screen costs ------------------------------------------------------------------------


async def _lag(rounds: int) -> Section:
    def late(*more: str) -> float:
        with _workspace() as root:
            file = root.parent / "late"
            terminal = Terminal("-m", "tests.bench.screen", "lag", str(root), str(file), *more)
            try:
                while not file.exists():
                    terminal.read(0.2)
                    assert terminal.process.poll() is None or file.exists(), bytes(terminal.drawn[-2000:])
                return float(file.read_text())
            finally:
                terminal.close()

    arms = [Arm("no screen", _threaded(lambda: late("bare"))), Arm("a screen that paints", _threaded(late))]
    lines = compared(await interleave(arms, rounds), "ms", 1e3, 2)
    note = f"p99 of how late the kernel's loop is, over {LAG_SECONDS:.0f} s with 1,000 events a second (wanted: 3 ×)."
    return Section("The kernel beside a screen", note, lines)


async def _filter(rounds: int) -> Section:
    names = ("topic-normalize", "weather-radar", "repo-summary", "prompt-compose")
    look = Look(picture=True)
    rows = [audit_row(record(seq, "14:00:00", names[seq % 4]), look, {}) for seq in range(_RECORDS)]
    texts = [row.folded for row in rows]
    arms = [
        Arm("one pass of `in`", _cpu(lambda: [text for text in texts if "radar" in text])),
        Arm("a filter of one word", _cpu(lambda: Query.parse("radar").select(rows))),
    ]
    lines = compared(await interleave(arms, rounds), "ms", 1e3)
    return Section(f"{_RECORDS:,} records", "Which of them a filter lets through, in CPU time (wanted: 2 ×).", lines)


async def _idle() -> Section:
    def written() -> int:
        with _workspace() as root, _terminal("-m", "evatui", str(root), shows="greet") as terminal:
            while terminal.read(3.0):  # what is lit from the start fades
                pass
            end, count = time.monotonic() + _IDLE_SECONDS, 0
            while (left := end - time.monotonic()) > 0:
                count += len(terminal.read(left))
            return count

    count = await asyncio.to_thread(written)
    return Section(
        "Idle", f"Written to the terminal in {_IDLE_SECONDS:.0f} s in which nothing happens.", [f"{count} bytes"]
    )


# --- common ---------------------------------------------------------------------------------------


@contextmanager
def _workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        write(root, GREETER)
        yield root


def _threaded(run: Callable[[], float]) -> Callable[[], Awaitable[float]]:
    return lambda: asyncio.to_thread(run)


def _cpu(run: Callable[[], list[Row] | list[str]]) -> Callable[[], Awaitable[float]]:
    async def timed() -> float:
        begun = time.thread_time()
        run()
        return time.thread_time() - begun

    return timed


def _rss_mib(pid: int) -> float:
    for text in Path(f"/proc/{pid}/status").read_text().splitlines():
        if text.startswith("VmRSS"):
            return int(text.split()[1]) / 1024
    raise AssertionError(pid)
