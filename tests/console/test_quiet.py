"""What a terminal at the end of a slow line gets: nothing where nothing happens, and little where very much does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.terminal import Terminal
from tests.support.painted import bytes_a_second, until_quiet, written

_MOST = 40 * 1024
"""Bytes a second, at 120x36."""


@pytest.fixture
def remembered(tmp_path: Path) -> dict[str, str]:
    return {"EVA_CONFIG_DIR": str(tmp_path), "COLORTERM": "truecolor"}


def test_where_nothing_happens_nothing_is_written(tmp_path: Path, remembered: dict[str, str]) -> None:
    terminal = Terminal("-m", "tests.console.small_console", str(tmp_path / "marks"), "0", "quiet", env=remembered)
    try:
        terminal.read_until("repo-summary")
        until_quiet(terminal, 2.5)  # it may still be painting, but not for ever
    finally:
        terminal.close()


def test_where_all_of_it_changes_all_the_time_little_is_written(remembered: dict[str, str]) -> None:
    terminal = Terminal("-m", "tests.console.churning", "registry", env=remembered)
    try:
        terminal.read_until("repo-summary")
        written(terminal, 1.0)
        for key, shows in ((b"1", "CAPABILITY"), (b"6", "ERROR")):
            terminal.type(key)
            terminal.read_until(shows)
            written(terminal, 0.5)
            rate = bytes_a_second(terminal, 2.0)
            assert rate <= _MOST, (key, rate)
    finally:
        terminal.close()
