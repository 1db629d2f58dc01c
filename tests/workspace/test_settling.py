"""When what was read counts."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import SourceFile, Tree
from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.snapshot import take_snapshot


def test_a_machine_that_is_too_busy_to_look_twice_in_time_says_nothing_of_changes(
    tree: Tree, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second goes by whenever a file is read."""
    passed, clock, plain = 0.0, time.monotonic, tree.read

    def slow(path: str, limit: int, *, max_links: int | None = None) -> SourceFile:
        nonlocal passed
        passed += 1.0
        return plain(path, limit, max_links=max_links)

    monkeypatch.setattr(tree, "read", slow)
    monkeypatch.setattr("evatui.kernel.workspace.settling.time.monotonic", lambda: clock() + passed)
    assert take_snapshot(tree, open_layout(workspace), "capabilities/greet.yaml").problems == ()
