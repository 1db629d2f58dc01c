"""The console on its own runtime, in a real terminal: start, call, break, read why, repair, drain, leave."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pyte
import pytest

from tests.console.terminal import ALTERNATE_OFF, ROOT, Terminal
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write

EVATUI = ("-c", "from evatui.__main__ import main; main()")
SPIN = "function invoke(ctx, request) while true do end end"


class Seen(Terminal):
    """A terminal whose picture can be read as a person would: by what stands on it now."""

    def __init__(self, *argv: str, size: tuple[int, int] = (120, 36)) -> None:
        super().__init__(*argv, size=size)
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    def read(self, seconds: float) -> bytes:
        fresh = super().read(seconds)
        self._stream.feed(fresh)
        return fresh

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    def until(
        self, holds: Callable[[str], object], *, keys: bytes = b"", again: bool = False, seconds: float = 60.0
    ) -> str:
        """Types ``keys``, once or again and again, and waits until ``holds`` of the picture."""
        if keys:
            self.type(keys)
        end = time.monotonic() + seconds
        while not holds(self.text):
            assert time.monotonic() < end, self.text
            assert self.process.poll() is None, self.text
            self.read(0.1)
            if again:
                self.type(keys)
        return self.text


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("spin", SPIN, limits="{timeout_ms: 60000}", reload="{drain_timeout_ms: 200}")})
    return root


@pytest.fixture(params=[(120, 36), (80, 24)], ids=["120x36", "80x24"])
def terminal(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Seen]:
    terminal = Seen(*EVATUI, str(workspace), size=request.param)
    terminal.until(lambda text: "greet" in text and "g1" in text)
    yield terminal
    terminal.close()


def records(workspace: Path) -> list[dict[str, Any]]:
    lines = [line for file in sorted((workspace / ".eva/audit").glob("*.jsonl")) for line in file.open("rb")]
    return [orjson.loads(line) for line in lines]


def test_a_day_with_the_console(terminal: Seen, workspace: Path) -> None:
    terminal.until(lambda text: "Call greet" in text, keys=b"c")
    terminal.until(lambda text: '"name": "bob"' in text, keys=b"bob")
    terminal.until(lambda text: "hello bob" in text, keys=b"\x13")
    terminal.until(lambda text: "Call greet" not in text, keys=b"\x1b")

    save(workspace, "capabilities/tools/greet.lua", SCRIPT + "\nfunction oops(")
    terminal.until(lambda text: "✗1" in text)
    shown = terminal.until(lambda text: "EVA-5" in text and "greet.lua" in text, keys=b"3")
    assert "g" in shown
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    terminal.until(lambda text: "Nothing is refused" in text)

    terminal.until(lambda text: "call.ok" in text, keys=b"6")
    terminal.until(lambda text: "SERVES" in text, keys=b"1")
    terminal.until(lambda text: "Drain greet" in text, keys=b"x")
    terminal.until(lambda text: "⊘1" in text, keys=b"y", again=True)  # it answers no key in its first 400 ms
    terminal.type(b"q")
    assert terminal.wait() == 0
    assert records(workspace)[-1]["code"] == "runtime.stopped"


def test_a_signal_closes_the_audit_log_and_restores_the_screen(workspace: Path) -> None:
    terminal = Seen(*EVATUI, str(workspace))
    terminal.until(lambda text: "greet" in text and "g1" in text)
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    assert ALTERNATE_OFF in terminal.drawn
    assert records(workspace)[-1]["code"] == "runtime.stopped"
    terminal.close()


def test_a_terminal_that_goes_away_ends_it_with_the_audit_log_closed(workspace: Path) -> None:
    terminal = Seen(*EVATUI, str(workspace))
    terminal.until(lambda text: "greet" in text and "g1" in text)
    terminal.hang_up()
    assert terminal.wait(reading=False) == 128 + signal.SIGHUP
    assert records(workspace)[-1]["code"] == "runtime.stopped"
    terminal.close()


def test_a_call_in_flight_is_cut_after_its_time_and_is_on_record(workspace: Path) -> None:
    write(workspace, {"eva.yaml": "runtime: {shutdown_timeout_ms: 300}\n"})
    terminal = Seen(*EVATUI, str(workspace))
    terminal.until(lambda text: "greet" in text and "g1" in text)
    call = subprocess.Popen(
        [*EVA, "-w", str(workspace), "capability", "call", "test.spin"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    terminal.until(lambda text: "1 call" in text)
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    assert b"draining 1 call" in terminal.drawn
    assert call.wait(timeout=60) in (4, 5)
    spun = [record for record in records(workspace) if record["capability_id"] == "spin"]
    assert "Cancelled" in [record["error_kind"] for record in spun]
    terminal.close()


def test_what_cannot_start_says_why_on_a_plain_terminal(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write(root, {**GREETER, "eva.yaml": "watch: [1"})
    terminal = Seen(*EVATUI, str(root))
    assert terminal.wait() == 2
    after = bytes(terminal.drawn[terminal.drawn.rfind(ALTERNATE_OFF) :])
    assert b"eva.yaml" in after
    assert b"Traceback" not in terminal.drawn
    terminal.close()
