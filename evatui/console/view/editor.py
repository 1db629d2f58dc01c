"""Which file and line an editor is opened at, and how each kind of editor is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from evatui.control.adapter_rows import AdapterRow
from evatui.control.deciding import HeldRow, IdleRow
from evatui.control.extensions import PluginRow, RefusedRow, SkillRow
from evatui.control.snapshot import CapabilityRow, RejectionRow

__all__ = ["Editable", "editor_argv", "place_of"]

_PLUS = {"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "micro", "joe", "ne", "mg", "jed"}
_GOTO = {"code", "code-insiders", "codium", "cursor"}
_COLON = {"hx", "helix", "subl", "zed"}


def editor_argv(editor: Sequence[str], file: str, line: int) -> list[str]:
    """``editor`` is split already; one that is not known gets the file alone."""
    name = PurePath(editor[0]).name.removesuffix(".exe")
    if name in _PLUS:
        return [*editor, f"+{line}", file]
    if name in _GOTO:
        return [*editor, "--wait", "-g", f"{file}:{line}"]
    if name in _COLON:
        return [*editor, f"{file}:{line}"]
    return [*editor, file]


Editable = CapabilityRow | RejectionRow | HeldRow | IdleRow | AdapterRow | SkillRow | RefusedRow | PluginRow
"""What has a file."""


def place_of(subject: Editable) -> tuple[str, int]:
    """File, relative to the workspace, and line: the first mistake, or the start of the script."""
    if isinstance(subject, CapabilityRow):
        return subject.script or subject.path, 1
    if isinstance(subject, SkillRow):
        return subject.location, 1
    if isinstance(subject, PluginRow):
        return f"{subject.location}/manifest.json", 1
    if isinstance(subject, IdleRow | AdapterRow):
        return subject.path, 1
    for diagnostic in subject.diagnostics:
        if place := diagnostic.primary:
            return place.file, place.line
    return subject.path, 1
