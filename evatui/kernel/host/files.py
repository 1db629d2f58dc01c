"""Files for a handler: only what a grant gives, never what is secluded, and nothing written where sources lie."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from evatui.kernel.host.glob import Glob, Matched
from evatui.kernel.host.secluded import Secluded
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_path
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import HERE, InvalidPath, is_under, normal
from evatui.kernel.workspace.writing import Changed, Exists, WriteMode, Writer

__all__ = ["Files", "Place"]

_MAX_SEEN = 20_000
"""Entries that one listing looks at."""
_KINDS = {
    EntryKind.FILE: "file",
    EntryKind.FOLDER: "directory",
    EntryKind.LINK: "link",
    EntryKind.OTHER: "other",
}
_PROBLEMS = {
    ProblemKind.MISSING: ErrorKind.NOT_FOUND,
    ProblemKind.NOT_REGULAR: ErrorKind.INVALID_INPUT,
    ProblemKind.OUTSIDE: ErrorKind.POLICY_DENIED,
    ProblemKind.LINK: ErrorKind.POLICY_DENIED,
    ProblemKind.TOO_LARGE: ErrorKind.INPUT_TOO_LARGE,
    ProblemKind.UNREADABLE: ErrorKind.HOST_ERROR,
    ProblemKind.UNSUPPORTED: ErrorKind.UNAVAILABLE,
}
_LONG_NUMBER = re.compile(rb"[0-9]{19}")


@dataclass(frozen=True, slots=True)
class Place:
    """``path`` below the root named ``root``, as the handler gave it; ``grants`` are its entries of ``right``."""

    root: str
    path: str
    grants: tuple[str, ...]
    right: str = "fs.read"

    @property
    def shown(self) -> str:
        return clean_line(f"{self.root}:{self.path}", 256)


@dataclass(frozen=True, slots=True)
class _Found:
    """``path`` is where it really lies, from the workspace; ``folder`` is where its root does."""

    path: str
    folder: str


class Files:
    """One call's view of the disk. Blocking: for worker threads. Every method raises `CallFailed`.

    ``PolicyDenied`` for what no grant gives or no grant can give, whether it exists or not; ``NotFound``,
    ``InputTooLarge`` (over ``max_bytes``), ``InvalidInput`` (not a file, not a folder), ``HostError`` (unreadable).
    """

    def __init__(self, tree: Tree, writer: Writer, layout: Layout) -> None:
        self._tree = tree
        self._writer = writer
        self._layout = layout
        self._known_secluded: Secluded | None = None

    @property
    def _secluded(self) -> Secluded:
        """Looked up once, at the first use of a file: it takes longer than to read one."""
        if self._known_secluded is None:
            self._known_secluded = Secluded(self._tree, self._layout)
        return self._known_secluded

    def read_text(self, place: Place, max_bytes: int) -> str:
        """UTF-8, with ``HostError`` for anything else."""
        try:
            return self._read(place, max_bytes).decode()
        except UnicodeDecodeError as error:
            raise failure(ErrorKind.HOST_ERROR, f"{place.shown} is not UTF-8 text (byte {error.start})") from None

    def read_json(self, place: Place, max_bytes: int) -> Any:
        """The value; ``HostError`` where it is not JSON, or holds a number that Lua has no room for."""
        data = self._read(place, max_bytes)
        try:
            value = orjson.loads(data)
            if _LONG_NUMBER.search(data):  # such integers come out as floats, silently: look again
                json.loads(data, parse_int=_integer)
        except (ValueError, RecursionError) as error:
            raise failure(ErrorKind.HOST_ERROR, f"{place.shown} is not usable JSON: {clean_line(str(error))}") from None
        return value

    def list_folder(self, place: Place, glob: Glob, limit: int) -> list[dict[str, Any]]:
        """At most ``limit`` entries, by name, each folder before what lies in it.

        ``{path, kind, bytes}``: the path from the root, kind ``file``, ``directory``, ``link`` or ``other``. Links
        are not followed; secluded entries are left out.
        """
        found = self._find(place)
        listing = _Listing(self._tree, found, self._secluded, glob, limit)
        try:
            listing.visit(found.path, glob.start)
        except FileProblem as problem:
            _fail(place, problem)
        return listing.entries

    def check_writing(self, place: Place) -> str:
        """The path from the workspace. Nothing is written yet."""
        below, path = self._asked(place)
        self._allow(place, below, path)
        if self._secluded.guards(path):
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} is refused, whatever the grant")
        return path

    def write_text(self, place: Place, text: str, mode: WriteMode, limit: int) -> int:
        """The size in bytes that the file has then. ``Conflict`` where it is in the way, or changed meanwhile."""
        path = self.check_writing(place)
        try:
            return self._writer.write(path, text.encode(), mode, limit)
        except FileProblem as problem:
            _fail(place, problem)
        except Exists:
            raise failure(ErrorKind.CONFLICT, f"{place.shown} exists already") from None
        except Changed:
            problem_text = f"{place.shown} was written by somebody else meanwhile"
            raise failure(ErrorKind.CONFLICT, problem_text, retryable=True) from None

    def _read(self, place: Place, max_bytes: int) -> bytes:
        found = self._find(place)
        try:
            source = self._tree.read(found.path, max_bytes, max_links=1)
        except FileProblem as problem:
            _fail(place, problem)
        if source.path != found.path:  # a link was put in between the look and the read
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} changed while it was read")
        return source.data

    def _find(self, place: Place) -> _Found:
        """First what was asked for, so that nothing is learnt about what is not granted; then where it leads."""
        below, asked = self._asked(place)
        self._allow(place, below, asked)
        try:
            real, folder = self._tree.canonical(asked), self._tree.canonical(self._layout.roots[place.root])
        except FileProblem as problem:
            _fail(place, problem)
        if not is_under(folder, real):
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} leads out of its root")
        self._allow(place, _below(folder, real), real)
        return _Found(real, folder)

    def _asked(self, place: Place) -> tuple[str, str]:
        """The path from its root and from the workspace, both as they were asked for."""
        if place.root not in self._layout.roots:
            raise failure(ErrorKind.NOT_FOUND, f"there is no root named {clean_line(place.root, 64)}")
        root = self._layout.roots[place.root]
        try:
            below = normal(place.path)
        except InvalidPath as error:
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} is refused: {error}") from None
        return below, below if root == HERE else root if below == HERE else f"{root}/{below}"

    def _allow(self, place: Place, below: str, path: str) -> None:
        entry = place.root if below == HERE else f"{place.root}/{below}"
        if not any(covers_path(grant, entry) for grant in place.grants):
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} is not granted: {place.right} does not cover it")
        if self._secluded.covers(path):
            raise failure(ErrorKind.POLICY_DENIED, f"{place.shown} is refused, whatever the grant")


class _Listing:
    def __init__(self, tree: Tree, found: _Found, secluded: Secluded, glob: Glob, limit: int) -> None:
        self.entries: list[dict[str, Any]] = []
        self._tree = tree
        self._found = found
        self._secluded = secluded
        self._glob = glob
        self._limit = limit
        self._seen = 0

    def visit(self, folder: str, matched: Matched) -> None:
        """Raises `FileProblem` where ``folder`` cannot be listed."""
        for entry in self._tree.list(folder, _MAX_SEEN):
            if len(self.entries) >= self._limit:
                return
            self._count()
            path = entry.name if folder == HERE else f"{folder}/{entry.name}"
            reached = self._glob.step(matched, entry.name)
            if not reached or self._secluded.covers(path):
                continue
            if self._glob.accepts(reached):
                shown = {"path": _below(self._found.folder, path), "kind": _KINDS[entry.kind], "bytes": entry.bytes}
                self.entries.append(shown)
            if entry.kind is EntryKind.FOLDER and self._glob.goes_on(reached):
                self._descend(path, reached)

    def _descend(self, folder: str, matched: Matched) -> None:
        try:
            self.visit(folder, matched)
        except FileProblem:
            return  # gone, or closed to us: it has been listed itself

    def _count(self) -> None:
        self._seen += 1
        if self._seen > _MAX_SEEN:
            raise failure(ErrorKind.HOST_ERROR, f"more than {_MAX_SEEN:,} entries: list a narrower folder or pattern")


def _below(folder: str, path: str) -> str:
    """``path``, which lies in ``folder``, from there."""
    if folder == HERE:
        return path
    return HERE if path == folder else path.removeprefix(folder + "/")


def _fail(place: Place, problem: FileProblem) -> NoReturn:
    raise failure(_PROBLEMS[problem.kind], f"{place.shown}: {problem.detail}") from None


def _integer(text: str) -> int:
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise ValueError("an integer of more than 64 bits")
    return value
