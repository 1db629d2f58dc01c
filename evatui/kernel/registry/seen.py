"""What was read of each manifest last, and which files that was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evatui.kernel.admission.verdict import Verdict
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["Index", "Seen"]


@dataclass(frozen=True, slots=True)
class Seen:
    snapshot: Snapshot
    verdict: Verdict
    epoch: str

    @property
    def names(self) -> frozenset[str]:
        """Of all its files: as the manifest writes them, and where they really lie."""
        return frozenset((*self.snapshot.signatures, *(file.path for file in self.files)))

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """All that could be read of it."""
        files = (self.snapshot.manifest, *self.snapshot.files.values())
        return tuple(file for file in files if file.path)  # a manifest that could not be read has none


class Index:
    """From a file to the manifests that it is part of."""

    def __init__(self, seen: Mapping[str, Seen]) -> None:
        self._manifests: dict[str, set[str]] = defaultdict(set)
        for manifest, entry in seen.items():
            for name in entry.names:
                self._manifests[name].add(manifest)
        self._folders = {folder for name in self._manifests for folder in _above(name)}

    def manifests_of(self, changed: Iterable[str], tree: Tree) -> set[str] | None:
        """Those that the files ``changed`` are part of; None where one of them may be part of anything.

        What is not there any more, and never was part of one, was not for us: a file that an editor put aside.
        """
        found: set[str] = set()
        for path in changed:
            if path in self._manifests:
                found |= self._manifests[path]
            elif path in self._folders or _exists(tree, path):
                return None
        return found


def _above(path: str) -> Iterable[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _exists(tree: Tree, path: str) -> bool:
    try:
        tree.kind(path)
    except FileProblem as problem:
        return problem.kind is not ProblemKind.MISSING
    return True
