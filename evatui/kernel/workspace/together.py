"""Several files read as one: the policies of a workspace, or its adapters."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evatui.kernel.workspace.files import FileProblem, ProblemKind, Signature, SourceFile, Tree
from evatui.kernel.workspace.reading import read_under
from evatui.kernel.workspace.settling import PATIENCE_S, Source, quiet_time, settle

__all__ = ["read_together"]


@dataclass(frozen=True, slots=True)
class _Look:
    sources: Mapping[str, Source]
    signatures: Mapping[str, Signature | None]
    read_ns: int

    def fingerprint(self) -> object:
        return self.signatures, [
            source.digest if isinstance(source, SourceFile) else source.kind for source in self.sources.values()
        ]


def read_together(tree: Tree, paths: Sequence[str], folders: Sequence[str], limit: int) -> list[Source]:
    """The files at ``paths``, which must lie in ``folders``, in this order, none of them in the middle of a save.

    Blocks for at most about 0.25 s; a file that does not come to rest by then is a `FileProblem` UNREADABLE.
    """

    def read() -> _Look:
        now = time.time_ns()
        sources = {path: _read(tree, path, folders, limit) for path in paths}
        signatures = {
            path: found.signature if isinstance(found, SourceFile) else tree.stat_signature(path)
            for path, found in sources.items()
        }
        return _Look(sources, signatures, now)

    def rests(look: _Look, unchanged_s: float) -> bool:
        quiet_s = max((quiet_time(source, look.read_ns) for source in look.sources.values()), default=0.0)
        return unchanged_s >= quiet_s and tree.signatures(paths) == look.signatures

    look, rested = settle(read, rests)
    return [
        source if rested or not quiet_time(source, look.read_ns) else _still_changing(path)
        for path, source in look.sources.items()
    ]


def _read(tree: Tree, path: str, folders: Sequence[str], limit: int) -> Source:
    try:
        return read_under(tree, path, limit, folders)
    except FileProblem as problem:
        return problem


def _still_changing(path: str) -> FileProblem:
    return FileProblem(path, ProblemKind.UNREADABLE, f"it was still changing after {PATIENCE_S * 1000:.0f} ms")
