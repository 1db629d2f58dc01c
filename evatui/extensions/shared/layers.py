"""Where skills lie, and who beats whom: one list, highest first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import HERE

__all__ = ["BUILTIN", "Layer", "LayerKind", "extra_folders", "layers_of"]

BUILTIN = "<builtin>"
_EXTRA = ("EVA_SKILLS_PATH", "OCTOS_SKILLS_PATH")


class LayerKind(StrEnum):
    """USER and PARENT are the operator's own, for every workspace; EXTRA ones are named when a runtime starts."""

    USER = "user"
    PARENT = "parent"
    PROJECT = "project"
    EXTRA = "extra"
    BUILTIN = "builtin"


@dataclass(frozen=True, slots=True)
class Layer:
    """``folder`` lies in ``root``, which nothing that is read leads out of; it need not exist.

    ``shown`` stands for the folder wherever it is named, and tells no place outside of the workspace.
    """

    name: str
    kind: LayerKind
    root: Path
    folder: str
    shown: str

    @property
    def local(self) -> bool:
        """Is it one of the user's own, which the policy may keep from use?"""
        return self.kind in (LayerKind.USER, LayerKind.PARENT)

    def named(self, path: str) -> str:
        """How ``path``, relative to ``folder``, is shown."""
        return self.shown if path == HERE else f"{self.shown}/{path}"


def layers_of(layout: Layout, home: OperatorHome | None, builtin: Path) -> tuple[Layer, ...]:
    """The user's own, those of the workspace in the order of its settings, the extra ones, and what is built in.

    A folder that lies in the list twice counts where it stands first.
    """
    found = [Layer(folder, LayerKind.PROJECT, layout.root, folder, folder) for folder in layout.skills]
    if home is not None:
        found = [*_own(home), *found, *_extra(home)]
    found.append(Layer("builtin", LayerKind.BUILTIN, builtin, HERE, BUILTIN))
    return tuple(_once(found))


def extra_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders of ``EVA_SKILLS_PATH``, then those of ``OCTOS_SKILLS_PATH``; the first one is the highest."""
    given = [part for name in _EXTRA for part in environment.get(name, "").split(os.pathsep) if part]
    return tuple(Path(part).expanduser().absolute() for part in given)


def _own(home: OperatorHome) -> Iterable[Layer]:
    if home.data is not None:
        yield Layer("user", LayerKind.USER, home.data / "skills", HERE, "<user data>/skills")
    if home.parent is not None:
        yield Layer("parent", LayerKind.PARENT, home.parent / "skills", HERE, "<parent profile>/skills")


def _extra(home: OperatorHome) -> Iterable[Layer]:
    for number, folder in enumerate(home.skills, 1):
        yield Layer(f"extra-{number}", LayerKind.EXTRA, folder, HERE, f"<EVA_SKILLS_PATH {number}>")


def _once(layers: Iterable[Layer]) -> Iterable[Layer]:
    seen: set[str] = set()
    for layer in layers:
        real = os.path.realpath(layer.root / layer.folder)
        if real not in seen:
            seen.add(real)
            yield layer
