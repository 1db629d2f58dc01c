"""Which manifests, policies and adapters there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.droppings import is_hidden
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import HERE

__all__ = ["MAX_DEPTH", "MAX_FILES", "Discovery", "discover"]

MAX_DEPTH = 8
MAX_FILES = 20_000
_NO_MANIFESTS = ("policies", "adapters", "examples", "extensions")
"""Folders right below a manifest folder that hold other things."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Paths relative to the workspace, sorted. ``problems`` name what could not be searched.

    ``others`` are the files that lie there and are neither: scripts first of all, which define nothing by themselves.
    """

    manifests: tuple[str, ...]
    policies: tuple[str, ...]
    problems: tuple[Diagnostic, ...]
    others: tuple[str, ...] = field(default=(), compare=False)
    adapters: tuple[str, ...] = ()


def discover(tree: Tree, layout: Layout) -> Discovery:
    """Every ``*.yaml`` and ``*.yml`` below the manifest folders, and every one in the folders of policies and adapters.

    At most 8 levels deep and 20,000 files. A folder that is not there holds nothing; one that cannot be read
    is a problem and the rest goes on.
    """
    elsewhere = {*layout.policies, *layout.adapters}
    elsewhere |= {_join(folder, name) for folder in layout.manifests for name in _NO_MANIFESTS}
    manifests = _Search(tree, elsewhere - set(layout.manifests))
    policies = _Search(tree, set())
    adapters = _Search(tree, set())
    found = manifests.below(layout.manifests, MAX_DEPTH), policies.below(layout.policies, 1)
    reached = adapters.below(layout.adapters, 1)
    scripts = _Search(tree, elsewhere | set(layout.manifests))
    scripts.below(layout.scripts, MAX_DEPTH)
    others = {*manifests.others, *(path for path in scripts.others if path.endswith(".lua"))}
    problems = (*manifests.problems, *policies.problems, *adapters.problems)
    return Discovery(*found, problems, tuple(sorted(others)), reached)


class _Search:
    def __init__(self, tree: Tree, elsewhere: set[str]) -> None:
        self.problems: list[Diagnostic] = []
        self.others: list[str] = []
        self._tree = tree
        self._elsewhere = elsewhere
        self._searched: set[str] = set()
        self._found: list[str] = []
        self._files = 0

    def below(self, folders: Iterable[str], depth: int) -> tuple[str, ...]:
        for folder in folders:
            self._folder(folder, depth)
        return tuple(sorted(set(self._found)))

    def _folder(self, folder: str, depth: int) -> None:
        if folder in self._elsewhere:
            return
        try:
            canonical = self._tree.canonical(folder)
            entries = self._shown(folder, self._tree.kinds(folder))
        except FileProblem as problem:
            if problem.kind is not ProblemKind.MISSING:
                self._problem("EVA-116", folder, f"cannot be searched: {problem.detail}")
            return
        if canonical in self._searched:
            return
        self._searched.add(canonical)
        if depth == 0:
            if any(name.endswith((".yaml", ".yml")) for name in entries):
                self._problem("EVA-117", folder, "lies too deep and is not searched")
            return
        self._alike(folder, entries)
        for name, kind in entries.items():
            self._entry(_join(folder, name), name, kind, depth)

    def _alike(self, folder: str, entries: Mapping[str, EntryKind]) -> None:
        """Two names that differ only in case are one file on other machines, and then one of them is lost."""
        names = [name for name, kind in entries.items() if _may_hold(name, kind)]
        if len(names) == len({*map(fold, names)}):
            return
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(fold(name), name)
            if other != name:
                self._problem("EVA-124", _join(folder, name), f"and {clean_line(other, 80)} differ only in case")

    def _shown(self, folder: str, entries: Mapping[str, EntryKind]) -> dict[str, EntryKind]:
        """Without those whose names nobody could be shown; one that might be a manifest, or hold one, is told of."""
        shown: dict[str, EntryKind] = {}
        hidden: list[str] = []
        for name, kind in entries.items():
            if name.isprintable():
                shown[name] = kind
            elif _may_hold(name, kind) and not is_hidden(name):
                hidden.append(clean_line(name, 80))
        if hidden:
            more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
            self._problem("EVA-123", folder, f"holds {hidden[0]}{more}, which is not read")
        return shown

    def _entry(self, path: str, name: str, kind: EntryKind, depth: int) -> None:
        if is_hidden(name):
            if ".y" in name and kind is EntryKind.FILE:
                self.others.append(path)
            return
        kind = self._followed(path) if kind is EntryKind.LINK else kind
        if kind is EntryKind.FOLDER:
            self._folder(path, depth - 1)
        elif name.endswith((".yaml", ".yml")):
            self._files += 1
            if self._files == MAX_FILES + 1:
                self._problem("EVA-117", path, f"and more are not read: there are more than {MAX_FILES:,} files")
            if self._files <= MAX_FILES:
                self._found.append(path)
        elif not name.endswith(".d.lua"):  # types for editors
            self.others.append(path)

    def _followed(self, path: str) -> EntryKind:
        """A link that leads nowhere or outside is told when it is read, as a file."""
        try:
            return self._tree.kind(path)
        except FileProblem:
            return EntryKind.LINK

    def _problem(self, code: str, path: str, message: str) -> None:
        level = Level.WARNING if code == "EVA-124" else Level.ERROR
        self.problems.append(reading_diagnostic(code, f"{clean_line(path, 200)} {message}", Span(path), level=level))


def _may_hold(name: str, kind: EntryKind) -> bool:
    return kind is EntryKind.FOLDER or name.endswith((".yaml", ".yml"))


def _join(folder: str, name: str) -> str:
    return name if folder == HERE else f"{folder}/{name}"
