"""A workspace whose one capability says which version of its script it is, at both ends of the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

__all__ = ["CAPABILITY", "WAYS", "Way", "make_workspace", "save_by_rename", "save_in_place", "script"]

Way = Callable[[Path, int], None]
CAPABILITY = "soak.version"
SCRIPT = "capabilities/tools/version.lua"

_MANIFEST = f"""\
id: version
kind: lua_tool
version: 1.0.0
capabilities: [{CAPABILITY}]
lua:
  script: {SCRIPT}
  health_check: health_check
input_schema:
  type: object
  properties: {{n: {{type: integer}}}}
  required: [n]
  additionalProperties: false
output_schema:
  type: object
  properties: {{head: {{type: integer}}, tail: {{type: integer}}, n: {{type: integer}}}}
  required: [head, tail, n]
  additionalProperties: false
limits: {{timeout_ms: 10000, concurrency: 8}}
audit: {{log_input: none, log_output: none}}
"""

# Its first part alone is a sound script that answers with a tail of -1: a torn read would be served,
# not refused, and so be seen. The host call lets an answer span a switch of versions.
_HEAD = """\
local HEAD = {version}
{filling}
function invoke(ctx, request)
  local head = HEAD
  ctx.host.now()
  return {{ok = true, result = {{head = head, tail = TAIL or -1, n = request.payload.n}}}}
end

function health_check()
  return {{ok = true}}
end
"""
_TAIL = "TAIL = {version}\n"
_FILLING = "-- " + "x" * 90 + "\n"


def script(version: int) -> tuple[str, str]:
    """The script of a version in two parts. Its length differs from version to version."""
    return _HEAD.format(version=version, filling=_FILLING * (version % 40)), _TAIL.format(version=version)


def make_workspace(root: Path) -> Path:
    """A workspace at version 0. Returns the path of the script."""
    path = root / SCRIPT
    path.parent.mkdir(parents=True)
    path.write_text("".join(script(0)))
    (root / "capabilities/version.yaml").write_text(_MANIFEST)
    return path


def save_by_rename(path: Path, version: int) -> None:
    """As editors with a safe save do it: a new file takes the place of the old one."""
    other = path.with_name(f".{path.name}.tmp")
    other.write_text("".join(script(version)))
    os.replace(other, path)


def save_in_place(path: Path, version: int) -> None:
    """As a plain save does it: the file is emptied, then written, here in two goes."""
    with path.open("w") as file:
        for part in script(version):
            file.write(part)
            file.flush()


WAYS: tuple[Way, ...] = (save_by_rename, save_in_place)
