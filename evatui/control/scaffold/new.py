"""``eva capability new``: writes a capability that works."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.scaffold.parts import Parts, parts_of_new
from evatui.control.schemas import schema_text
from evatui.kernel.admission.manifest import guess_id
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import CAPABILITY_ID, fold
from evatui.kernel.model.manifest import Kind
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.discover import Discovery, discover
from evatui.kernel.workspace.files import FileProblem, Tree
from evatui.kernel.workspace.yaml import MAX_BYTES

__all__ = ["new_capability"]


def new_capability(root: Path, state_dir: Path | None, kind: str, capability_id: str) -> dict[str, Any]:
    """``{id, kind, name, manifest, script, files, kept}``. No file is ever overwritten.

    Raises `CommandFailed`: ``InvalidInput`` for an id that is none, ``Conflict`` where the id or a file is taken.
    """
    if not CAPABILITY_ID.fullmatch(capability_id):
        raise CommandFailed(
            ErrorKind.INVALID_INPUT,
            f"{clean_line(capability_id, 80)} is no id: letters, digits, _ . and -, beginning with a letter or digit",
        )
    layout = layout_of(root, state_dir)
    tree = Tree(layout.root)
    try:
        found = discover(tree, layout)
        _refuse_taken_id(tree, found, capability_id)
        parts = parts_of_new(Kind(kind), capability_id, layout, schema_text("manifest"))
        kept = _write(layout.root, parts)
    finally:
        tree.close()
    return {
        "id": capability_id,
        "kind": kind,
        "name": parts.name,
        "manifest": parts.manifest,
        "script": parts.script,
        "files": sorted({*parts.own, *parts.shared} - set(kept)),
        "kept": kept,
    }


def _refuse_taken_id(tree: Tree, found: Discovery, capability_id: str) -> None:
    for path in found.manifests:
        try:
            other = guess_id(tree.read(path, MAX_BYTES).data)
        except FileProblem:
            continue
        if other is not None and fold(other) == fold(capability_id):
            message = f"the id {capability_id} is taken by {clean_line(path, 200)}"
            raise CommandFailed(ErrorKind.CONFLICT, message, suggestion="choose another id")


def _write(root: Path, parts: Parts) -> list[str]:
    """Writes what is missing; the shared files that were there already. All of it or nothing."""
    taken = [path for path in parts.own if (root / path).exists() or (root / path).is_symlink()]
    if taken:
        message = f"there is already {', '.join(taken)}; nothing was written"
        raise CommandFailed(ErrorKind.CONFLICT, message, suggestion="choose another id")
    kept = [path for path in parts.shared if (root / path).exists()]
    wanted = {**parts.own, **{path: text for path, text in parts.shared.items() if path not in kept}}
    # the manifest comes last: a runtime that watches finds everything that it names
    order = sorted(wanted, key=lambda path: path == parts.manifest)
    _create(root, {path: wanted[path] for path in order})
    return kept


def _create(root: Path, texts: Mapping[str, str]) -> None:
    made: list[Path] = []
    try:
        for path, text in texts.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8", newline="\n") as file:
                made.append(target)
                file.write(text)
    except BaseException as problem:
        for target in made:
            target.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            message = f"the files cannot be written: {problem.strerror or 'the disk refused'}"
            raise CommandFailed(ErrorKind.INVALID_INPUT, message) from None
        raise
