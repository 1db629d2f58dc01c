"""The settings and places of a workspace, for whoever is to tell a person why they cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

if TYPE_CHECKING:
    from evatui.kernel.model.diagnostic import Diagnostic
    from evatui.kernel.workspace.layout import Layout, WorkspaceError

__all__ = ["layout_of"]


def layout_of(root: Path, state_dir: Path | None) -> Layout:
    """The workspace's settings and places; blocking. Raises `CommandFailed` where they cannot be read."""
    from evatui.kernel.workspace.layout import WorkspaceError, open_layout

    try:
        return open_layout(root, state_dir)
    except WorkspaceError as error:
        raise _unfit(error, root) from None


def _unfit(error: WorkspaceError, root: Path) -> CommandFailed:
    from evatui.kernel.admission.render import render_all

    found = render_all(error.diagnostics, _texts(root, error.diagnostics))
    return CommandFailed(ErrorKind.INVALID_INPUT, str(error), context={"diagnostics": [d.to_json() for d in found]})


def _texts(root: Path, diagnostics: Iterable[Diagnostic]) -> dict[str, bytes]:
    """The settings that the diagnostics point into, as far as they can be read."""
    from evatui.kernel.workspace.files import FileProblem, Tree
    from evatui.kernel.workspace.yaml import MAX_BYTES

    texts: dict[str, bytes] = {}
    with contextlib.suppress(FileProblem, OSError), contextlib.closing(Tree(root)) as tree:
        for path in {span.file for found in diagnostics for span in found.spans}:
            texts[path] = tree.read(path, MAX_BYTES).data
    return texts
