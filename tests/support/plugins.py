"""Small plugins on a real disk: a manifest and a program in Python or a shell."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

__all__ = ["plugin", "program"]


def plugin(
    root: Path, name: str, source: str, *tools: dict[str, Any] | str, layer: str = "plugins", **more: Any
) -> Path:
    """``<layer>/<name>`` below ``root``, with a shell script as its program; without ``tools`` it has one, ``go``."""
    folder = root / layer / name
    folder.mkdir(parents=True, exist_ok=True)
    listed = [{"name": tool} if isinstance(tool, str) else tool for tool in tools or ("go",)]
    (folder / "manifest.json").write_text(json.dumps({"name": name, "version": "1.0.0", "tools": listed, **more}))
    if source:
        program(folder / name, source)
    return folder


def program(path: Path, source: str) -> None:
    """In place of what was there, as a save that replaces it."""
    beside = path.parent.with_name(f".{path.name}.new")
    beside.write_text(source if source.startswith("#!") else f"#!/bin/sh\n{source}\n")
    beside.chmod(0o755)
    os.replace(beside, path)
