"""The pictures that the README shows are what the tour draws by now."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_pictures_here_are_those_that_are_drawn(tmp_path: Path) -> None:
    """To the byte; on a machine that has another Python, another name for its user, another zone of time."""
    command = [sys.executable, "-m", "evatui.demo.pictures", str(tmp_path)]
    env = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "USER": "somebody", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, cwd=ROOT, timeout=250, env=env)
    drawn = {path.name: path.read_bytes() for path in tmp_path.glob("*.svg")}
    here = {path.name: path.read_bytes() for path in (ROOT / "screenshots").glob("*.svg")}
    assert drawn.keys() == here.keys()
    assert [name for name in sorted(here) if drawn[name] != here[name]] == [], "make screenshots draws them again"
