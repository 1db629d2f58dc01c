"""Reading a file that must lie in certain folders, and saying what is wrong where it cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.paths import HERE, normal, under_any

__all__ = ["file_diagnostic", "read_under"]

_MAX_LISTED = 10_000
_CODES = {
    ProblemKind.MISSING: "EVA-113",
    ProblemKind.NOT_REGULAR: "EVA-113",
    ProblemKind.OUTSIDE: "EVA-114",
    ProblemKind.LINK: "EVA-114",
    ProblemKind.TOO_LARGE: "EVA-111",
    ProblemKind.UNREADABLE: "EVA-112",
}


def read_under(tree: Tree, path: str, limit: int, *allowed: Sequence[str]) -> SourceFile:
    """The file at ``path``, which must really lie in one of the folders of each of ``allowed``.

    Raises `FileProblem`, OUTSIDE where it does not.
    """
    try:
        source = tree.read(path, limit)
    except FileProblem as problem:
        if problem.kind is not ProblemKind.MISSING:
            raise
        if not _within(allowed, normal(path)):
            raise _outside(path, allowed) from None
        if other := _other_spelling(tree, normal(path)):
            detail = f"{problem.detail}; {other} differs from it only in case or composition"
            raise FileProblem(path, problem.kind, detail) from None
        raise
    if _within(allowed, source.path):
        return source  # what is canonical has no link in it, so these folders are what their names say
    real = [[_canonical(tree, folder) for folder in folders] for folders in allowed]
    if not _within(real, source.path):
        raise _outside(path, allowed)
    return source


def file_diagnostic(problem: FileProblem, path: str) -> Diagnostic:
    """What is wrong with ``path`` itself (a manifest, a policy, ``eva.yaml``), placed at its start."""
    message = f"{clean_line(path, 200)} cannot be read: {problem.detail}"
    return reading_diagnostic(_CODES[problem.kind], message, Span(path))


def _within(allowed: Sequence[Sequence[str]], path: str) -> bool:
    return all(map(under_any, allowed, repeat(path)))


def _outside(path: str, allowed: Sequence[Sequence[str]]) -> FileProblem:
    wanted = " and in ".join(" or ".join(f"{folder}/" for folder in folders) for folders in allowed)
    return FileProblem(path, ProblemKind.OUTSIDE, f"it must lie in {clean_line(wanted, 200)}")


def _other_spelling(tree: Tree, path: str) -> str | None:
    """The file in the same folder that would be the one asked for, were its name compared without case."""
    folder, _, name = path.rpartition("/")
    try:
        names = [entry.name for entry in tree.list(folder or HERE, _MAX_LISTED)]
    except FileProblem:
        return None
    return next((f"{folder}/{other}" for other in names if fold(other) == fold(name)), None)


def _canonical(tree: Tree, folder: str) -> str:
    try:
        return tree.canonical(folder)
    except FileProblem:
        return folder
