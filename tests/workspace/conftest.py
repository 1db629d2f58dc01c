"""A workspace with one capability, and the ways in which the world changes it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import Tree

MANIFEST = """\
id: greet
kind: lua_tool
version: 1.0.0
capabilities: [text.greet]
lua:
  script: capabilities/tools/greet.lua
  modules: {kit: capabilities/modules/kit.lua}
input_schema: schemas/greet.input.json
output_schema: {type: object}
"""

Put = Callable[[str, str | bytes], Path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def put(root: Path) -> Put:
    """Writes a file below the workspace, its folders included."""

    def write(path: str, content: str | bytes = "") -> Path:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    return write


@pytest.fixture
def workspace(root: Path, put: Put) -> Path:
    put("capabilities/greet.yaml", MANIFEST)
    put("capabilities/tools/greet.lua", "function invoke() end\n")
    put("capabilities/modules/kit.lua", "return {}\n")
    put("schemas/greet.input.json", "{}")
    return root


@pytest.fixture
def tree(root: Path) -> Iterator[Tree]:
    opened = Tree(root)
    yield opened
    opened.close()


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A workspace that any user may enter, with a folder inside that only root may: ``capabilities/locked``."""
    folder = Path(tempfile.mkdtemp(prefix="eva-"))
    folder.chmod(0o755)
    locked = folder / "capabilities" / "locked"
    locked.mkdir(parents=True)
    (locked / "hidden.yaml").write_text("id: hidden\n")
    (locked.parent / "a.yaml").write_text("id: a\n")
    locked.chmod(0)
    yield folder
    locked.chmod(0o700)
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody(open_to_all: Path) -> Iterator[None]:
    """Root reads everything; so tests that run as root are somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
