"""A new workspace: the samples that the package brings, or an empty one that grants nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.bundled import bundled_workspace

__all__ = ["bundled_workspace", "init_workspace"]

_PARTS = ("capabilities", "schemas")
_TAKEN = (*_PARTS, "eva.yaml", "config/eva.yaml", "config/capabilities")
_SETTINGS = """\
# yaml-language-server: $schema=schemas/evatui.workspace.schema.json
# Every key is optional; what is not written here has its default.
version: 1

# runtime: {hot_reload: true, max_live_generations: 3, shutdown_timeout_ms: 15000}
# watch: {debounce_ms: 50}
# audit: {mode: write}            # durable: records survive a power loss too
"""
_POLICY = """\
# yaml-language-server: $schema=../../schemas/evatui.policy.schema.json
# What the capabilities of this workspace may do. Nothing is allowed that is not granted here:
# a manifest that asks for more is refused, and `eva capability explain-rejected` says what is missing.
version: 1
grants: []

# For example, let every capability whose id starts with "repo-" read the workspace:
#
# grants:
#   - match: {ids: ["repo-*"]}
#     fs: {read: [workspace]}
"""


def init_workspace(directory: Path, *, empty: bool = False) -> dict[str, Any]:
    """Makes a workspace in ``directory``, all of it or nothing; ``{directory, empty, files}``.

    The directory may exist and hold other things. Raises `CommandFailed`: ``Conflict`` where it already is a
    workspace, ``InvalidInput`` where it cannot be written.
    """
    shown = clean_line(str(directory))
    taken = [name for name in _TAKEN if os.path.lexists(directory / name)]
    if taken:
        raise CommandFailed(
            ErrorKind.CONFLICT,
            f"{shown} is a workspace already: it has {', '.join(taken)}",
            suggestion=f"evatui {quote(shown)}",
        )
    try:
        files = _write(directory, _empty_files() if empty else _sample_files())
    except OSError as problem:
        raise CommandFailed(ErrorKind.INVALID_INPUT, f"{shown} cannot be written: {problem.strerror}") from problem
    return {"directory": str(directory), "empty": empty, "files": files}


def _sample_files() -> dict[str, bytes]:
    root = bundled_workspace()
    paths = sorted(path for part in _PARTS for path in (root / part).rglob("*") if path.is_file())
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return found | {"eva.yaml": _SETTINGS.encode()}


def _empty_files() -> dict[str, bytes]:
    """With the schemas that editors check its files with."""
    schemas = (bundled_workspace() / "schemas").glob("evatui.*.schema.json")
    return {
        "capabilities/policies/default.yaml": _POLICY.encode(),
        **{f"schemas/{path.name}": path.read_bytes() for path in schemas},
        "eva.yaml": _SETTINGS.encode(),
    }


def _write(directory: Path, files: Mapping[str, bytes]) -> list[str]:
    """Prepares everything in a hidden folder inside ``directory``, then moves it into place by renames."""
    made = _make(directory)
    moved: list[Path] = []
    try:
        with tempfile.TemporaryDirectory(dir=directory, prefix=".eva-init-", ignore_cleanup_errors=True) as folder:
            stage = Path(folder)
            for name, data in files.items():
                target = stage / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            for part in sorted(stage.iterdir()):
                place = directory / part.name
                part.rename(place)
                moved.append(place)
    except BaseException:
        for place in moved:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        for folder_made in made:
            folder_made.rmdir()
        raise
    return sorted(files)


def _make(directory: Path) -> list[Path]:
    """Makes ``directory`` and its parents; those that were not there before, innermost first."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    return missing
