from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.harness import ROOT, Serving


@pytest.fixture(scope="session")
def bundled() -> Iterator[Serving]:
    """The bundled workspace."""
    serving = Serving(ROOT)
    yield serving
    serving.close()


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    """The bundled capabilities in a workspace of their own, and the one folder in it that they may read."""
    root = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT / "capabilities", root / "capabilities")
    shutil.copytree(ROOT / "schemas", root / "schemas")
    (root / "eva.yaml").write_text("version: 1\nroots: {workspace: folder}\n")
    (root / "folder").mkdir()
    serving = Serving(root)
    yield serving, root / "folder"
    serving.close()


@pytest.fixture
def folder(apart: tuple[Serving, Path]) -> Path:
    """An empty folder, which is all that `look` shows to a capability."""
    _, folder = apart
    shutil.rmtree(folder)
    folder.mkdir()
    return folder


@pytest.fixture
def look(apart: tuple[Serving, Path], folder: Path) -> Callable[..., dict[str, Any]]:
    """Calls a bundled capability on `folder`: ``look("repo.summary", max_files=3)`` is its result."""
    serving, _ = apart

    def look(capability: str, **payload: Any) -> dict[str, Any]:
        answer = serving.call(capability, payload)
        assert answer["ok"], answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    return look
