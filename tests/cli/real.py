"""``eva`` in this process, on a real workspace, with or without a runtime that holds it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from evatui.control.kernel import Kernel
from evatui.control.layouts import layout_of
from evatui.control.opening import operator_home, start_kernel

__all__ = ["Eva", "holding"]


class Eva:
    """Every method checks the exit code."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def text(self, *line: str, code: int = 0) -> tuple[str, str]:
        """What it says on standard output, and on standard error."""
        assert run([*line, "-w", str(self.root)]) == code
        said = self._capsys.readouterr()
        return said.out, said.err

    def json(self, *line: str, code: int = 0) -> dict[str, Any]:
        assert run([*line, "-w", str(self.root), "-o", "json"]) == code, line
        said = json.loads(self._capsys.readouterr().out)
        assert (said["exit_code"], said["ok"]) == (code, code == 0)
        return said

    def data(self, *line: str) -> Any:
        return self.json(*line)["data"]


@contextmanager
def holding(root: Path) -> Iterator[Kernel]:
    """A runtime of this process that others can attach to."""
    kernel = start_kernel(layout_of(root, None), writes=True, listens=True, home=operator_home())
    try:
        yield kernel
    finally:
        kernel.stop()
