"""Looking for ``SKILL.md`` files in one layer, and reading them by descriptor: nothing leads out of allowed roots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evatui.extensions.shared.folders import MANIFEST_FILE, SKILL_FILE, below
from evatui.extensions.shared.layers import Layer, LayerKind
from evatui.extensions.skills.package import Package, read_package
from evatui.extensions.skills.read import read_skill
from evatui.extensions.skills.skill import MAX_BYTES, Refused, Skill
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.droppings import is_hidden
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.paths import HERE

__all__ = ["MAX_DEPTH", "MAX_FOLDERS", "MAX_SKILLS", "Found", "Memory", "Roots", "Search"]

MAX_DEPTH = 5
MAX_FOLDERS = 2_000
MAX_SKILLS = 1_000
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_SECLUDED = frozenset({".git", ".eva"})


class Memory:
    """What was read at the last look, by where it lay and the digest of its bytes, and at this one."""

    def __init__(self, last: Memory | None = None) -> None:
        self._last = last._now if last is not None else {}
        self._now: dict[tuple[str, str], Skill | Refused] = {}

    def read(self, source: SourceFile, location: str, folder: str) -> Skill | Refused:
        key = location, source.digest
        found = self._last.get(key)
        self._now[key] = found if found is not None else read_skill(source.data, location, folder)
        return self._now[key]


@dataclass(frozen=True, slots=True)
class Found:
    """A file at ``location``, and the ``digest`` of what was read; ``package`` where a manifest lies beside it."""

    layer: Layer
    location: str
    skill: Skill | Refused
    digest: str = ""
    package: Package | None = None


class Roots:
    """The roots of all layers, held open for one look. A link may lead from one into another."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._open: dict[Path, Tree] = {}
        self._local = {layer.root for layer in layers if layer.local}
        self.closed: dict[Path, OSError] = {}
        for root in dict.fromkeys(layer.root for layer in layers):
            try:
                self._open[root] = Tree(root)
            except OSError as error:
                self.closed[root] = error
        self._real = {root: os.path.realpath(root) for root in self._open}

    def __enter__(self) -> Roots:
        return self

    def __exit__(self, *failure: object) -> None:
        for tree in self._open.values():
            tree.close()

    def of(self, layer: Layer) -> Tree | None:
        return self._open.get(layer.root)

    def led(self, layer: Layer, path: str) -> tuple[Tree, str] | None:
        """Where a link out of the layer's own root leads, if that is inside of another one.

        What is the user's own gets into no other layer, past what the policy says of it.
        """
        real = os.path.realpath(layer.root / path)
        for root, tree in self._open.items():
            inside = os.path.relpath(real, self._real[root]).replace(os.sep, "/")
            if inside.split("/")[0] != ".." and (layer.local or root not in self._local):
                return tree, inside
        return None


class Search:
    """Of one layer. At most 5 folders deep, 2,000 folders and 1,000 skills; what is left out is told."""

    def __init__(self, layer: Layer, roots: Roots, memory: Memory) -> None:
        self.problems: list[Diagnostic] = []
        self._layer = layer
        self._roots = roots
        self._memory = memory
        self._seen: set[tuple[int, str]] = set()
        self._skills = 0
        self._told: set[str] = set()

    def run(self) -> list[Found]:
        tree = self._roots.of(self._layer)
        if tree is None:
            error = self._roots.closed[self._layer.root]
            if not isinstance(error, FileNotFoundError):
                self._problem("EVA-811", HERE, f"cannot be searched: {os.strerror(error.errno or 0).lower()}")
            return []
        return list(self._folder(tree, self._layer.folder, HERE, 0))

    def _folder(self, tree: Tree, path: str, shown: str, depth: int) -> Iterator[Found]:
        try:
            canonical, kinds = tree.canonical(path), tree.kinds(path)
        except FileProblem as problem:
            if depth or problem.kind is not ProblemKind.MISSING:
                self._problem("EVA-811", shown, f"cannot be searched: {_why(problem)}")
            return
        if (id(tree), canonical) in self._seen or not self._room(shown, depth):
            return
        self._seen.add((id(tree), canonical))
        file = _skill_file(kinds)
        if file is not None:
            yield self._read(tree, below(path, file), below(shown, file), kinds)
        if file is None or depth == 0:
            yield from self._below(tree, path, shown, kinds, depth)

    def _below(self, tree: Tree, path: str, shown: str, kinds: Mapping[str, EntryKind], depth: int) -> Iterator[Found]:
        for name, kind in kinds.items():
            if is_hidden(name) or name in _PASSED_OVER or kind not in (EntryKind.FOLDER, EntryKind.LINK):
                continue
            if not name.isprintable():
                self._problem("EVA-811", below(shown, clean_line(name, 80)), "has a name that cannot be shown")
                continue
            found = list(self._entry(tree, below(path, name), below(shown, name), kind, depth + 1))
            yield from found
            if not found and depth == 0 and kind is EntryKind.FOLDER and not self._holds_plugin(tree, path, name):
                self._problem("EVA-814", below(shown, name), f"holds no {SKILL_FILE}")

    def _entry(self, tree: Tree, path: str, shown: str, kind: EntryKind, depth: int) -> Iterator[Found]:
        if kind is EntryKind.LINK:
            try:
                kind = tree.kind(path)
            except FileProblem as problem:
                led = self._roots.led(self._layer, path) if problem.kind is ProblemKind.OUTSIDE else None
                if led is None:
                    yield self._refused(shown, f"is not followed: {_why(problem)}")
                    return
                tree, path = led
                kind = EntryKind.FOLDER
        if kind is EntryKind.FOLDER:
            yield from self._folder(tree, path, shown, depth)

    def _read(self, tree: Tree, path: str, shown: str, kinds: Mapping[str, EntryKind]) -> Found:
        self._skills += 1
        try:
            source = tree.read(path, MAX_BYTES)
        except FileProblem as problem:
            return self._refused(shown, f"cannot be read: {_why(problem)}")
        parts = source.path.split("/")
        if parts[-1].lower() != SKILL_FILE.lower() or _SECLUDED.intersection(parts):
            return self._refused(shown, "cannot be read: a link leads to another kind of file")
        location = self._layer.named(shown)
        skill = self._memory.read(source, location, self._name(shown))
        packed = kinds.get(MANIFEST_FILE) is EntryKind.FILE and self._layer.kind is not LayerKind.BUILTIN
        package = read_package(tree, _above(path), _above(location)) if packed else None
        return Found(self._layer, location, skill, source.digest, package)

    def _name(self, shown: str) -> str:
        folder = shown.rpartition("/")[0]
        return folder.rpartition("/")[2] or self._layer.root.joinpath(self._layer.folder).name

    def _room(self, shown: str, depth: int) -> bool:
        """Is it within the bounds? The first that is not is told."""
        if depth > MAX_DEPTH:
            return self._enough("deep", shown, f"lies deeper than {MAX_DEPTH} folders and is not searched")
        if len(self._seen) >= MAX_FOLDERS:
            return self._enough("folders", shown, f"and more are not searched: there are over {MAX_FOLDERS:,} folders")
        if self._skills >= MAX_SKILLS:
            return self._enough("skills", shown, f"and more are not searched: there are over {MAX_SKILLS:,} skills")
        return True

    def _enough(self, bound: str, shown: str, message: str) -> bool:
        if bound not in self._told:
            self._told.add(bound)
            self._problem("EVA-811", shown, message)
        return False

    def _holds_plugin(self, tree: Tree, path: str, name: str) -> bool:
        try:
            return MANIFEST_FILE in tree.kinds(below(path, name))
        except FileProblem:
            return True  # that it cannot be searched was told

    def _refused(self, shown: str, message: str) -> Found:
        location = self._layer.named(shown)
        told = diagnose("EVA-801", f"{clean_line(location, 200)} {message}", Span(location))
        name = shown.removesuffix(f"/{SKILL_FILE}").rpartition("/")[2]
        return Found(self._layer, location, Refused(name, (render(told, {}),)))

    def _problem(self, code: str, shown: str, message: str) -> None:
        location = self._layer.named(shown)
        told = diagnose(code, f"{clean_line(location, 200)} {message}", Span(location), level=Level.WARNING)
        self.problems.append(render(told, {}))


def _skill_file(kinds: Mapping[str, EntryKind]) -> str | None:
    """The file itself, or the one that differs from it only in case."""
    names = [
        name for name, kind in kinds.items() if name.lower() == SKILL_FILE.lower() and kind is not EntryKind.FOLDER
    ]
    return SKILL_FILE if SKILL_FILE in names else next(iter(names), None)


def _why(problem: FileProblem) -> str:
    outside = problem.kind is ProblemKind.OUTSIDE
    return "it leads out of the folders that skills may lie in" if outside else problem.detail


def _above(path: str) -> str:
    return path.rpartition("/")[0] or HERE
