"""Leaving always works: in a real terminal, by key, by signal, by hang-up, and when the terminal is stuck."""

from __future__ import annotations

import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.terminal import ALTERNATE_OFF, ALTERNATE_ON, Terminal

PROGRAM = ("-m", "tests.console.small_console")


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    return tmp_path / "marks"


@pytest.fixture
def terminal(marks: Path) -> Iterator[Terminal]:
    terminal = Terminal(*PROGRAM, str(marks))
    terminal.read_until("repo-summary")
    yield terminal
    terminal.close()


def words(marks: Path) -> list[str]:
    return [word for word in marks.read_text().split() if word != "snapshot"]


def screen_is_plain(terminal: Terminal) -> bool:
    left = terminal.drawn.rfind(ALTERNATE_OFF) > terminal.drawn.rfind(ALTERNATE_ON)
    return left and termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_screen_closes_the_runtime_and_is_the_exit_code(
    terminal: Terminal, marks: Path, number: signal.Signals
) -> None:
    terminal.signal(number)
    assert terminal.wait() == 128 + number
    assert screen_is_plain(terminal)
    assert words(marks) == ["opened", "closing", "closed"]
    assert b"Traceback" not in terminal.drawn
    after = terminal.drawn[terminal.drawn.rfind(ALTERNATE_OFF) :]
    assert b"draining 1 call, at most 15 s; ctrl+c cuts them" in after


def test_who_goes_on_while_it_leaves_does_not_take_the_screen_again(marks: Path) -> None:
    """The system lets the programs of a terminal go on when it hangs up, and so does a shell after a stop."""
    terminal = Terminal(*PROGRAM, str(marks), "2")
    terminal.read_until("repo-summary")
    terminal.signal(signal.SIGTERM)
    terminal.read_until("draining 1 call")
    for number in (signal.SIGCONT, signal.SIGTSTP, signal.SIGCONT):
        terminal.signal(number)
    assert terminal.wait() == 128 + signal.SIGTERM
    assert screen_is_plain(terminal)
    terminal.close()


def test_q_asks_while_calls_are_in_flight_and_leaves_with_zero(terminal: Terminal, marks: Path) -> None:
    terminal.type(b"q")
    terminal.read_until("Leave?")
    while terminal.process.poll() is None:
        terminal.type(b"\r")  # the dialog takes it once it is armed
        terminal.read(0.2)
    assert terminal.wait() == 0
    assert screen_is_plain(terminal)
    assert words(marks) == ["opened", "closing", "closed"]


def test_a_closed_terminal_ends_it_with_the_runtime_closed(terminal: Terminal, marks: Path) -> None:
    terminal.hang_up()
    assert terminal.wait(reading=False) == 128 + signal.SIGHUP
    assert words(marks) == ["opened", "closing", "closed"]


def test_a_closed_terminal_that_sends_no_signal_ends_it_as_well(marks: Path) -> None:
    terminal = Terminal(*PROGRAM, str(marks), controlling=False)
    try:
        terminal.read_until("repo-summary")
        terminal.hang_up()
        assert terminal.wait(reading=False) == 128 + signal.SIGHUP
        assert words(marks) == ["opened", "closing", "closed"]
    finally:
        terminal.close()


def test_a_signal_is_heard_in_a_flood_of_changes(marks: Path) -> None:
    terminal = Terminal(*PROGRAM, str(marks), "0", "flood")
    try:
        terminal.read_until("repo-summary")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert screen_is_plain(terminal)
        assert words(marks) == ["opened", "closing", "closed"]
    finally:
        terminal.close()


def test_a_terminal_that_is_not_read_cannot_hold_it(terminal: Terminal, marks: Path) -> None:
    # Repainting the whole screen over and over fills the pty, since nobody reads; then its writer hangs.
    for _ in range(60):
        terminal.type(b"36311")
        time.sleep(0.02)
    terminal.signal(signal.SIGTERM)
    assert terminal.wait(reading=False) == 128 + signal.SIGTERM
    assert termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4]
    assert words(marks) == ["opened", "closing", "closed"]


@pytest.mark.parametrize(
    ("hears", "heard"), [("", ["opened", "closing", "cut", "closed"]), ("deaf", ["opened", "closing", "cut"])]
)
def test_a_second_signal_cuts_what_is_draining(marks: Path, hears: str, heard: list[str]) -> None:
    terminal = Terminal(*PROGRAM, str(marks), "60", hears)
    try:
        terminal.read_until("repo-summary")
        terminal.signal(signal.SIGTERM)
        terminal.read_until("ctrl+c cuts them")
        while "closing" not in words(marks):
            terminal.read(0.05)
        terminal.signal(signal.SIGINT)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert screen_is_plain(terminal)
        assert words(marks) == heard
    finally:
        terminal.close()


def test_a_hang_up_that_is_told_twice_is_not_a_second_signal(marks: Path) -> None:
    terminal = Terminal(*PROGRAM, str(marks), "0.5")
    try:
        terminal.read_until("repo-summary")
        terminal.signal(signal.SIGHUP)
        terminal.signal(signal.SIGHUP)
        terminal.hang_up()
        assert terminal.wait(reading=False) == 128 + signal.SIGHUP
        assert words(marks) == ["opened", "closing", "closed"]
    finally:
        terminal.close()


def test_x_and_y_in_one_write_drain_nothing(terminal: Terminal, marks: Path) -> None:
    terminal.type(b"xy")
    terminal.read_until("Drain adapter-result-simplify?")
    terminal.type(b"\x1b")
    terminal.read(0.5)
    assert words(marks) == ["opened"]
