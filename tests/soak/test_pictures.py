"""The pictures of the tour are the same bytes each time, whoever draws them and however busy the machine is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from evatui.demo.steps import STEPS

ROOT = Path(__file__).parents[2]
NAMES = {step.picture for step in STEPS} - {""}


def drawn(folder: Path, **env: str) -> dict[str, bytes]:
    subprocess.run(
        [sys.executable, "-m", "evatui.demo.pictures", str(folder)],
        check=True,
        cwd=ROOT,
        timeout=600,
        env={**os.environ, **env},
    )
    return {path.stem: path.read_bytes() for path in folder.glob("*.svg")}


def test_pictures_drawn_twice_are_the_same(tmp_path: Path) -> None:
    first = drawn(tmp_path / "first", TERM="xterm-256color")
    second = drawn(
        tmp_path / "second", TERM="dumb", NO_COLOR="1", TEXTUAL_THEME="nord", USER="somebody", TZ="Asia/Tokyo"
    )
    assert set(first) == NAMES
    assert [name for name in NAMES if first[name] != second[name]] == []
    if shutil.which("rsvg-convert") or shutil.which("chromium"):
        assert {path.stem for path in (tmp_path / "first").glob("*.png")} == NAMES
