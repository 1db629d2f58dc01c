"""A manifest's schemas: from a file or from the manifest itself to a compiled one, with the faults placed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.json_tree import JsonProblem, parse_json
from evatui.kernel.admission.report import Pointer, Report
from evatui.kernel.admission.schema_rules import SchemaFault, schema_faults
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import SourceFile
from evatui.kernel.workspace.yaml import Node, key_place, place, plain

__all__ = ["inline_schema", "schema_file"]


def schema_file(file: SourceFile, name: str) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The schema in ``file``; None where the diagnostics hold an error. ``name`` is the path as it is shown."""
    try:
        node = parse_json(file.data, name)
    except JsonProblem as problem:
        code = "EVA-307" if problem.too_large else "EVA-303"
        spans = [problem.place.span(name)]
        if problem.other:
            spans.append(problem.other.span(name, "first given here", primary=False))
        return None, [diagnose(code, f"the schema is not valid JSON: {problem.message}", *spans)]
    if not isinstance(node.value, dict):
        return None, [diagnose("EVA-303", "the schema is no JSON object", _head(node))]
    return _compiled(node)


def inline_schema(report: Report, at: Pointer) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The schema that stands in the manifest itself."""
    node = report.node(at)
    assert node is not None
    return _compiled(node)


def _compiled(node: Node) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    document: dict[str, Any] = plain(node)
    found = list(_placed(node, schema_faults(node, document)))
    if any(fault.level is Level.ERROR for fault in found):
        return None, found
    try:
        return CompiledSchema(document), found
    except ValueError as error:  # whatever only the library itself finds, while it compiles
        message = clean_line(str(getattr(error, "message", error)), 300)
        return None, [*found, diagnose("EVA-304", message, _head(node))]


def _placed(node: Node, faults: list[SchemaFault]) -> Iterator[Diagnostic]:
    for fault in faults:
        span = (key_place if fault.key else place)(node, fault.at) if fault.at else _head(node)
        level = Level.WARNING if fault.warning else Level.ERROR
        yield diagnose(fault.code, fault.message, span, level=level)


def _head(node: Node) -> Span:
    """The first character: a span over the whole schema would point at nothing."""
    start = node.place
    return Span(node.file, start.line, start.column, start.line, start.column + 1)
