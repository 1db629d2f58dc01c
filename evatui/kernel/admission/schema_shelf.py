"""The schemas of the workspace that one schema may refer to, by the path from its own file.

No other reference leads out of a document. What is referred to is copied under ``$defs``, so that a compiled schema
stands alone and nothing is ever looked up while it is at work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from evatui.kernel.admission.json_tree import JsonProblem, parse_json, plain_json
from evatui.kernel.admission.schema_cost import resolve_pointer
from evatui.kernel.admission.schema_parts import pointer_to
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.schema_references import referred_path
from evatui.kernel.workspace.yaml import Node

__all__ = ["Shelf", "ShelfFile"]

_LINKS = frozenset({"$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor"})


@dataclass(frozen=True, slots=True)
class ShelfFile:
    """A schema file as a plain document; as a tree, where something in it has to be placed."""

    path: str
    data: bytes
    document: Any

    def node(self) -> Node:
        return parse_json(self.data, self.path)


@dataclass(slots=True)
class Shelf:
    """``files`` and ``missing`` are those of a snapshot."""

    files: Mapping[str, SourceFile]
    missing: Mapping[str, FileProblem]
    draft: Any = None
    _read: dict[str, ShelfFile | JsonProblem] = field(default_factory=dict)

    def file(self, path: str) -> ShelfFile:
        """Raises `JsonProblem` for what is no JSON, `KeyError` for what could not be read."""
        if path not in self._read:
            try:
                data = self.files[path].data
                self._read[path] = ShelfFile(path, data, plain_json(data, path))
            except JsonProblem as problem:
                self._read[path] = problem
        found = self._read[path]
        if isinstance(found, JsonProblem):
            raise found
        return found

    def problem(self, target: str, base: str) -> tuple[str, str] | None:
        """What is wrong with the reference ``target`` in the file ``base``, as `schema_rules.Registry` says it."""
        path = referred_path(target, base)
        if path is None:
            return "EVA-305", 'leads out of the workspace\'s schemas; only paths to them and "#/…" are followed'
        if path not in self.files:
            missing = self.missing.get(path)
            return "EVA-302", f"cannot be read: {clean_line(missing.detail if missing else 'it was not found')}"
        try:
            document = self.file(path).document
        except JsonProblem as problem:
            return "EVA-303", f"leads to {clean_line(path, 200)}, which is not valid JSON: {problem.message}"
        if not isinstance(document, Mapping):
            return "EVA-303", f"leads to {clean_line(path, 200)}, which is no JSON object"
        fragment = unquote(target.partition("#")[2])
        if fragment and not fragment.startswith("/"):
            return "EVA-305", "names an anchor in another file; write the path to the place, as in common.json#/$defs/x"
        if resolve_pointer(document, fragment) is None:
            return "EVA-308", f"leads nowhere in {clean_line(path, 200)}"
        if document.get("$schema", self.draft) != self.draft:
            return "EVA-305", "leads to a schema of another draft"
        return ("EVA-305", "leads to a schema with anchors of its own") if _links(document) else None

    def reached(self, document: Any, base: str) -> dict[str, ShelfFile]:
        """Every file that ``document`` leads to, in however many steps. All references must be without a problem."""
        found: dict[str, ShelfFile] = {}
        waiting = [(document, base)]
        while waiting:
            here, path = waiting.pop()
            for target in _targets(here):
                other = referred_path(target, path)
                if other is not None and other in self.files and other not in found:
                    try:
                        found[other] = self.file(other)
                    except JsonProblem:
                        continue
                    waiting.append((found[other].document, other))
        return found

    def bundled(self, document: Mapping[str, Any], base: str, reached: Mapping[str, ShelfFile]) -> dict[str, Any]:
        """One document with all that it refers to."""
        if not reached:
            return dict(document)
        whole: dict[str, Any] = _rewritten(document, base, "")
        copies = {path: _rewritten(_bare(file.document), path, path) for path, file in reached.items()}
        return {**whole, "$defs": {**whole.get("$defs", {}), **copies}}


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in ("$schema", "$id", "id")}


def _rewritten(value: Any, base: str, home: str) -> Any:
    """``value`` from the file ``base`` with its references made to lead into the bundle; ``home``: its place there."""
    if isinstance(value, Mapping):
        return {
            name: _moved(child, base, home)
            if name == "$ref" and isinstance(child, str)
            else _rewritten(child, base, home)
            for name, child in value.items()
        }
    return [_rewritten(child, base, home) for child in value] if isinstance(value, list) else value


def _moved(target: str, base: str, home: str) -> str:
    if target.startswith("#"):
        return f"#{pointer_to('$defs', home)}{target[1:]}" if home else target
    return f"#{pointer_to('$defs', referred_path(target, base) or '')}{target.partition('#')[2]}"


def _targets(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) and not value["$ref"].startswith("#") else []
        return own + [target for child in value.values() for target in _targets(child)]
    return [target for child in value for target in _targets(child)] if isinstance(value, list) else []


def _links(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not _LINKS.isdisjoint(value) or any(map(_links, value.values()))
    return isinstance(value, list) and any(map(_links, value))
