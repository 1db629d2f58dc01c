"""Looking for plugins, layer by layer. Each is judged by itself: a bad one stops no other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from evatui.extensions.plugins.layers import PluginLayer
from evatui.extensions.plugins.package import PASSED_OVER, Files, PackageProblem, read_files
from evatui.extensions.plugins.plugin import NoPlugin, Plugin, refused, understood, warning
from evatui.extensions.shared.folders import MANIFEST_FILE, SKILL_FILE, below
from evatui.extensions.shared.layers import Layer
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.droppings import is_hidden
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.paths import HERE

__all__ = ["Memory", "PluginSearch"]

_MAX_PLUGINS = 200
_MAX_DEPTH = 5
_MAX_FOLDERS = 2_000


class Memory:
    """What was read at the last look, by where it lay, and at this one."""

    def __init__(self, last: Memory | None = None) -> None:
        self._last: Mapping[str, tuple[Files, Plugin | NoPlugin]] = last._now if last is not None else {}
        self._now: dict[str, tuple[Files, Plugin | NoPlugin]] = {}

    def read(self, tree: Tree, layer: Layer, folder: str, location: str) -> Plugin | NoPlugin:
        known = self._last.get(location)
        try:
            files = read_files(tree, folder, known[0] if known is not None else None)
        except PackageProblem as problem:
            return refused(layer, location, problem)
        same = known is not None and known[0].files == files.files
        found = known[1] if known is not None and same else understood(layer, folder, location, files)
        self._now[location] = files, found
        return found


class PluginSearch:
    """At most 200 plugins; what is left out is told in ``problems``."""

    def __init__(self, memory: Memory) -> None:
        self.problems: list[Diagnostic] = []
        self.found: list[Plugin | NoPlugin] = []
        self._memory = memory
        self._folders = 0
        self._told = False

    def run(self, layers: Sequence[PluginLayer]) -> None:
        for one in layers:
            try:
                tree = Tree(one.layer.root)
            except OSError as error:
                if not isinstance(error, FileNotFoundError):
                    self._problem(one.layer.shown, f"cannot be searched: {os.strerror(error.errno or 0).lower()}")
                continue
            with closing(tree):
                for folder, shown in self._folders_of(tree, one):
                    self._take(tree, one.layer, folder, one.layer.named(shown))

    def _take(self, tree: Tree, layer: Layer, folder: str, location: str) -> None:
        if len(self.found) < _MAX_PLUGINS:
            self.found.append(self._memory.read(tree, layer, folder, location))
        elif not self._told:
            self._told = True
            self._problem(location, f"and more are not looked at: there are over {_MAX_PLUGINS} plugins")

    def _folders_of(self, tree: Tree, one: PluginLayer) -> Iterator[tuple[str, str]]:
        """Each folder with a manifest: where it lies, and that below the layer."""
        if one.skills:
            yield from self._beside_skills(tree, one.layer, HERE, 0)
            return
        for name, kind in self._kinds(tree, one.layer, HERE).items():
            if is_hidden(name) or name in PASSED_OVER or kind not in (EntryKind.FOLDER, EntryKind.LINK):
                continue
            if kind is EntryKind.LINK:
                self._problem(one.layer.named(clean_line(name, 80)), "is a link, and not followed")
            elif MANIFEST_FILE in self._kinds(tree, one.layer, name):
                yield below(one.layer.folder, name), name
            else:
                self._problem(one.layer.named(clean_line(name, 80)), f"holds no {MANIFEST_FILE}")

    def _beside_skills(self, tree: Tree, layer: Layer, inside: str, depth: int) -> Iterator[tuple[str, str]]:
        self._folders += 1
        if depth > _MAX_DEPTH or self._folders > _MAX_FOLDERS:
            return  # the search for skills tells of it
        kinds = self._kinds(tree, layer, inside)
        if kinds.get(SKILL_FILE) is EntryKind.FILE:
            if kinds.get(MANIFEST_FILE) is EntryKind.FILE:
                yield below(layer.folder, inside), inside
            if depth:
                return
        for name, kind in kinds.items():
            if kind is EntryKind.FOLDER and not is_hidden(name) and name not in PASSED_OVER and name.isprintable():
                yield from self._beside_skills(tree, layer, below(inside, name), depth + 1)

    def _kinds(self, tree: Tree, layer: Layer, inside: str) -> Mapping[str, EntryKind]:
        try:
            return tree.kinds(below(layer.folder, inside))
        except FileProblem as problem:
            if problem.kind is not ProblemKind.MISSING:
                self._problem(layer.named(clean_line(inside, 120)), f"cannot be searched: {problem.detail}")
            return {}

    def _problem(self, location: str, message: str) -> None:
        self.problems.append(warning("EVA-841", f"{clean_line(location, 200)} {message}", location))
