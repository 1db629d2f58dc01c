"""The places that no grant opens: secrets, the kernel's own state, and what decides over grants."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from evatui.kernel.model.ids import fold
from evatui.kernel.workspace.files import FileProblem, Tree
from evatui.kernel.workspace.layout import SETTINGS_FILES, Layout
from evatui.kernel.workspace.paths import is_under

__all__ = ["Secluded"]

_NAMES = (".eva", ".git", "skill.md")
_STARTS = (".env", "id_")
_ENDS = (".pem", ".key")


class Secluded:
    """As they lie when this is made; links to the folders of the layout are resolved."""

    def __init__(self, tree: Tree, layout: Layout) -> None:
        folders = [*layout.policies, *layout.adapters]
        state = PurePath(layout.state_dir)
        if state.is_relative_to(layout.root):
            folders.append(state.relative_to(layout.root).as_posix())
        self._folders = _real(tree, folders)
        layouts = (layout.manifests, layout.scripts, layout.schemas, layout.skills, layout.plugins)
        self._sources = _real(tree, [*SETTINGS_FILES, *(folder for folders in layouts for folder in folders)])

    def covers(self, path: str) -> bool:
        """``path`` is relative to the workspace and normal. Case makes no difference, nor does a part further up."""
        folded = fold(path)
        return any(is_under(folder, folded) for folder in self._folders) or any(map(_is_secret, folded.split("/")))

    def guards(self, path: str) -> bool:
        """May ``path`` not be written either, whatever the grant: what the workspace consists of, or is secluded?"""
        folded = fold(path)
        return self.covers(path) or any(is_under(folder, folded) for folder in self._sources)


def _is_secret(part: str) -> bool:
    # Windows opens ".env.", ".env " and ".env::$DATA" as .env
    name = part.split(":")[0].rstrip(". ")
    return name in _NAMES or name.startswith(_STARTS) or name.endswith(_ENDS)


def _real(tree: Tree, folders: Iterable[str]) -> tuple[str, ...]:
    """Each as it is written and as it really lies, folded."""
    return tuple({fold(place) for folder in folders for place in (folder, _canonical(tree, folder))})


def _canonical(tree: Tree, folder: str) -> str:
    try:
        return tree.canonical(folder)
    except FileProblem:
        return folder
