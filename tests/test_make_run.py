"""``make run`` as somebody types it who has just cloned the project, in a home in which nothing is yet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.console.terminal import Terminal

ROOT = Path(__file__).parent.parent
NOT_CLONED = (".git", ".venv", ".eva", "__pycache__", ".*_cache", ".hypothesis", ".conformance", "dist", "build")
ITS_OWN = {Path(".config/evatui"), Path(".local/state/evatui"), Path(".cache/evatui")}
"""The folders that the platform has for settings, state and caches."""
BEGIN = """
import os, sys
folder, *env = sys.argv[1:]
os.chdir(folder)
os.execvpe("make", ["make", "run"], dict(one.split("=", 1) for one in env))
"""
CONSOLE = "#!{python}\nimport sys\nfrom evatui.__main__ import main\nsys.exit(main())\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """With the packages in place, as the first ``make run`` leaves them: fetching them is pip's part."""
    clone = tmp_path / "evatui"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*NOT_CLONED))
    venv.create(clone / ".venv")
    python = clone / ".venv/bin/python"
    site = clone / f".venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    (site / "here.pth").write_text(f"{clone}\n{sysconfig.get_path('purelib')}\n")
    for name in ("pip", "evatui"):
        (clone / ".venv/bin" / name).write_text(CONSOLE.format(python=python))
        (clone / ".venv/bin" / name).chmod(0o755)
    reading = ["sh", "-c", "cat pyproject.toml constraints.txt .ci/venv | cksum"]
    stamp = subprocess.run(reading, cwd=clone, capture_output=True, check=True)
    (clone / ".venv/.holds-run").write_bytes(stamp.stdout)
    return clone


def files(folder: Path) -> set[Path]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return {path for path in found if "__pycache__" not in path.parts}


def test_it_opens_the_console_without_a_question_and_leaves_nothing_elsewhere(clone: Path, tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    before = files(clone)
    env = {"HOME": home, "TMPDIR": temporary, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    terminal = Terminal("-c", BEGIN, str(clone), *(f"{name}={value}" for name, value in env.items()))
    try:
        terminal.read_until("topic-normalize")
        terminal.type(b"q")
        while terminal.process.poll() is None:
            terminal.read(0.1)
        assert terminal.wait() == 0
    finally:
        terminal.close()
    assert {path.parts[0] for path in files(clone) - before} == {".eva"}
    assert {path for path in files(home) if not any(path.is_relative_to(own) for own in ITS_OWN)} == set()
    assert files(temporary) == set()
