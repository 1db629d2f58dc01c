"""The files that a manifest names: are they there, in their folders, and the ones that were meant?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.kernel.admission.report import Pointer, Report
from evatui.kernel.admission.schema_files import inline_schema, schema_file
from evatui.kernel.admission.schema_shelf import Shelf
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile
from evatui.kernel.workspace.paths import InvalidPath, normal
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["check_integrity", "check_schema", "check_scripts", "schema_at", "shelf_of"]

_OUTSIDE = (ProblemKind.OUTSIDE, ProblemKind.LINK)
_FIXES = {
    ProblemKind.UNREADABLE: "Give the user that runs evatui the right to read it.",
    ProblemKind.TOO_LARGE: "Split the file or move data out of it.",
}
"""Of a file that is there: another one need not be made."""


def check_scripts(raw: Mapping[str, Any], snapshot: Snapshot, report: Report) -> None:
    """The script and the modules must be readable."""
    for path, at in _code_paths(raw.get("lua", {})):
        problem = snapshot.missing.get(path)
        if problem is not None:
            _missing("EVA-501", path, problem, at, report)


def shelf_of(raw: Mapping[str, Any], snapshot: Snapshot) -> Shelf:
    """What the schemas of a manifest may refer to."""
    scripts = {path for path, _ in _code_paths(raw.get("lua", {}))}
    schemas = {_normal(path): file for path, file in snapshot.files.items() if path not in scripts}
    return Shelf(schemas, snapshot.missing)


def check_schema(
    raw: Mapping[str, Any], name: str, snapshot: Snapshot, shelf: Shelf, report: Report
) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The schema under ``name``, and what is wrong in its own file; what is wrong with the path goes to ``report``."""
    schema = raw.get(name)
    if schema is None:
        return None, []
    return schema_at(schema, (name,), snapshot.files, snapshot.missing, shelf, report, name == "input_schema")


def schema_at(
    schema: str | Mapping[str, Any],
    at: Pointer,
    files: Mapping[str, SourceFile],
    missing: Mapping[str, FileProblem],
    shelf: Shelf,
    report: Report,
    for_objects: bool,
) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The same for a schema, or the path of one, that stands at ``at``; ``for_objects``: it must leave room for one."""
    if not isinstance(schema, str):
        return inline_schema(report, at, shelf, for_objects)
    problem = missing.get(schema)
    if problem is not None:
        code = "EVA-307" if problem.kind is ProblemKind.TOO_LARGE else "EVA-302"
        _missing(code, schema, problem, at, report)
        return None, []
    return schema_file(files[schema], normal(schema), shelf, for_objects)


def check_integrity(raw: Mapping[str, Any], snapshot: Snapshot, report: Report) -> None:
    """Each digest under ``integrity`` must be that of a file of this capability."""
    if not raw.get("integrity"):
        return
    by_path = {_normal(path): file for path, file in snapshot.files.items()}
    absent = {_normal(path) for path in snapshot.missing}
    for path, digest in raw["integrity"].items():
        at = ("integrity", path)
        file: SourceFile | None = by_path.get(_normal(path))
        if _normal(path) in absent:
            continue  # told where the file is named
        if file is None:
            message = f"{clean_line(path, 200)} is not among the files that could be read for this capability"
            report.add("EVA-214", message, report.span(at, key=True))
        elif file.digest != digest.lower():
            message = f"{clean_line(path, 200)} is not the file that the manifest names"
            report.add("EVA-214", message, report.span(at), notes=(f"its SHA-256 is {file.digest}",))


def _code_paths(lua: Mapping[str, Any]) -> Iterator[tuple[str, Pointer]]:
    if "script" in lua:
        yield lua["script"], ("lua", "script")
    for name, path in lua.get("modules", {}).items():
        yield path, ("lua", "modules", name)


def _missing(code: str, path: str, problem: FileProblem, at: Pointer, report: Report) -> None:
    shown = clean_line(path, 200)
    if problem.kind in _OUTSIDE:
        report.add("EVA-210", f"{shown} is not allowed here: {clean_line(problem.detail)}", report.span(at))
    else:
        fix = _FIXES.get(problem.kind)
        report.add(code, f"{shown} cannot be read: {clean_line(problem.detail)}", report.span(at), fix=fix)


def _normal(path: str) -> str:
    try:
        return normal(path)
    except InvalidPath:
        return path
