"""A manifest and all it names, read as one: never half of a save, never half of the old and half of the new."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from typing import Any

from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, ProblemKind, Signature, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import InvalidPath, normal
from evatui.kernel.workspace.reading import file_diagnostic, read_under
from evatui.kernel.workspace.schema_references import referred_by, referred_in
from evatui.kernel.workspace.settling import PATIENCE_S, Source, quiet_time, settle
from evatui.kernel.workspace.yaml import MAX_BYTES, YamlProblem, place

__all__ = [
    "MAX_SOURCES",
    "MAX_SOURCE_BYTES",
    "Snapshot",
    "kept_file",
    "kept_snapshot",
    "take_snapshot",
    "unread_snapshot",
]

MAX_SOURCE_BYTES = 1 << 20
"""Of a script, a module or a schema."""
MAX_SOURCES = 128

_UNREAD = SourceFile("", b"", hashlib.sha256(b"").hexdigest(), (0, 0, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``files`` and ``missing`` are keyed by the path as the manifest writes it; a `SourceFile` has the real one.

    ``document`` is None, and ``manifest`` empty if it could not be read, where ``problems`` say why. ``digest``
    covers the names and contents of all, and the names of those that could not be read. ``signatures`` is
    what `Tree.signatures` gave for the same paths: while it gives the same again, nothing new is to be read.
    """

    path: str
    manifest: SourceFile
    document: Document | None
    problems: tuple[Diagnostic, ...]
    files: Mapping[str, SourceFile]
    missing: Mapping[str, FileProblem]
    digest: str
    signatures: Mapping[str, Signature | None]


def take_snapshot(tree: Tree, layout: Layout, path: str) -> Snapshot:
    """Blocks for at most about 0.25 s: what was just written must read the same twice, 5 ms apart.

    Raises `FileProblem` MISSING if there is no manifest at ``path`` and none appears within 30 ms. Whatever
    else keeps it from being read is in ``problems``.
    """
    reader = _Reader(tree, layout, path)
    closure, rested = settle(reader.read, reader.settled)
    return reader.snapshot(closure, () if rested else (_still_changing(path),))


def kept_file(path: str, data: bytes) -> SourceFile:
    """A file that is not read from the disk, and so has no signature."""
    return SourceFile(path, data, hashlib.sha256(data).hexdigest(), _UNREAD.signature)


def kept_snapshot(path: str, manifest: SourceFile, files: Mapping[str, SourceFile]) -> Snapshot:
    """The snapshot of these files, as if the disk held them; there is nothing in it to compare with the disk."""
    document, problems = _parsed(manifest.data, path)
    closure = _Closure(path, manifest, files, {}, document, problems, 0)
    return Snapshot(path, manifest, document, problems, files, {}, closure.digest(), {})


def unread_snapshot(path: str) -> Snapshot:
    """The snapshot of a manifest of which nothing is known but where it is."""
    closure = _Closure(path, _UNREAD, {}, {}, None, (), 0)
    return Snapshot(path, _UNREAD, None, (), {}, {}, closure.digest(), {})


@dataclass(slots=True)
class _Closure:
    """What one pass over the files gave. Not frozen, nor is `_Parsed`: that would take five times as long to make."""

    path: str
    manifest: Source
    sources: Mapping[str, Source]
    signatures: Mapping[str, Signature | None]
    document: Document | None
    problems: tuple[Diagnostic, ...]
    read_ns: int

    def fingerprint(self) -> object:
        return self.signatures, self.digest()

    def digest(self) -> str:
        parts = [_listed("manifest", self.path, _content(self.manifest))]
        parts += [_listed("source", path, _content(source)) for path, source in sorted(self.sources.items())]
        return hashlib.sha256(f"[{', '.join(parts)}]".encode()).hexdigest()

    def quiet_time(self) -> float:
        """How long it must stay as it is, in seconds, before it counts."""
        return max(quiet_time(source, self.read_ns) for source in (self.manifest, *self.sources.values()))


@dataclass(slots=True)
class _Parsed:
    """A manifest by its bytes: the schemas as it has them, and the files that it names."""

    digest: str
    document: Document | None
    problems: tuple[Diagnostic, ...] = ()
    schemas: Sequence[Any] = ()
    references: Mapping[str, list[Sequence[str]]] = field(default_factory=dict)


class _Reader:
    def __init__(self, tree: Tree, layout: Layout, path: str) -> None:
        self._tree = tree
        self._layout = layout
        self._path = path
        self._parsed: _Parsed | None = None

    def read(self) -> _Closure:
        now = time.time_ns()
        manifest = self._source(self._path, MAX_BYTES, [self._layout.manifests])
        parsed = self._parse(manifest)
        sources = {path: self._source(path, MAX_SOURCE_BYTES, allowed) for path, allowed in parsed.references.items()}
        self._follow_schemas(parsed.schemas, sources)
        looked_at = {**sources, self._path: manifest}
        signatures = {
            path: source.signature if isinstance(source, SourceFile) else self._tree.stat_signature(path)
            for path, source in looked_at.items()
        }
        return _Closure(self._path, manifest, sources, signatures, parsed.document, parsed.problems, now)

    def _follow_schemas(self, schemas: Sequence[Any], sources: dict[str, Source]) -> None:
        """Adds what the schemas refer to, as far as there is room; what is left out is told where it is referred to."""
        waiting = [path for schema in schemas if isinstance(schema, dict) for path in referred_by(schema)]
        for path in _texts(*schemas):
            waiting += _referred(path, sources[path])
        while waiting and len(sources) < MAX_SOURCES:
            path = waiting.pop()
            if path not in sources:
                sources[path] = self._source(path, MAX_SOURCE_BYTES, [self._layout.schemas])
                waiting += _referred(path, sources[path])

    def settled(self, closure: _Closure, unchanged_s: float) -> bool:
        return unchanged_s >= closure.quiet_time() and self._tree.signatures(closure.signatures) == closure.signatures

    def snapshot(self, closure: _Closure, problems: tuple[Diagnostic, ...] = ()) -> Snapshot:
        manifest = closure.manifest
        if isinstance(manifest, FileProblem) and manifest.kind is ProblemKind.MISSING:
            raise manifest
        return Snapshot(
            path=self._path,
            manifest=manifest if isinstance(manifest, SourceFile) else _UNREAD,
            document=None if problems else closure.document,
            problems=(*problems, *closure.problems),
            files={path: found for path, found in closure.sources.items() if isinstance(found, SourceFile)},
            missing={path: found for path, found in closure.sources.items() if isinstance(found, FileProblem)},
            digest=closure.digest(),
            signatures=closure.signatures,
        )

    def _source(self, path: str, limit: int, allowed: Sequence[Sequence[str]]) -> Source:
        try:
            return read_under(self._tree, path, limit, *allowed)
        except FileProblem as problem:
            return problem

    def _parse(self, manifest: Source) -> _Parsed:
        """What the last pass read is kept while the bytes are the same."""
        if isinstance(manifest, FileProblem):
            return _Parsed("", None, (file_diagnostic(manifest, self._path),))
        if self._parsed is None or self._parsed.digest != manifest.digest:
            self._parsed = self._parse_bytes(manifest)
        return self._parsed

    def _parse_bytes(self, manifest: SourceFile) -> _Parsed:
        document, problems = _parsed(manifest.data, self._path)
        written = document.value if document is not None else None
        if document is None or not isinstance(written, dict):
            return _Parsed(manifest.digest, document, problems)
        schemas = written.get("input_schema"), written.get("output_schema")
        references = self._references(written, schemas)
        if len(references) > MAX_SOURCES:
            message = f"the manifest names {len(references):,} files; at most {MAX_SOURCES} are read"
            told = reading_diagnostic("EVA-118", message, place(document.tree, ["lua", "modules"]))
            return _Parsed(manifest.digest, None, (told,))
        return _Parsed(manifest.digest, document, (), schemas, references)

    def _references(self, written: Mapping[str, Any], schemas: Sequence[Any]) -> dict[str, list[Sequence[str]]]:
        """Path to the folders that it must lie in: one list for each way in which it is used."""
        found: dict[str, list[Sequence[str]]] = {}
        lua = written.get("lua")
        if isinstance(lua, dict):
            modules = lua.get("modules")
            for path in _texts(lua.get("script"), *(modules.values() if isinstance(modules, dict) else ())):
                found.setdefault(path, []).append(self._layout.scripts)
        for path in _texts(*schemas):
            found.setdefault(path, []).append(self._layout.schemas)
        return found


def _parsed(data: bytes, path: str) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    try:
        return Document(data, path), ()
    except YamlProblem as problem:
        return None, problem.diagnostics


def _referred(path: str, source: Source) -> list[str]:
    try:
        return referred_in(source.data, normal(path)) if isinstance(source, SourceFile) else []
    except InvalidPath:
        return []


def _texts(*values: Any) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))


def _content(source: Source) -> str:
    return source.digest if isinstance(source, SourceFile) else f"not read: {source.kind}"


def _listed(kind: str, path: str, content: str) -> str:
    return f'["{kind}", {encode_basestring_ascii(path)}, "{content}"]'


def _still_changing(path: str) -> Diagnostic:
    message = f"{clean_line(path, 200)}, or a file that it names, was still changing after {PATIENCE_S * 1000:.0f} ms"
    return reading_diagnostic("EVA-115", message, Span(path))
