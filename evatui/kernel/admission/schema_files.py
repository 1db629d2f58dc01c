"""A manifest's schemas: from a file or from the manifest itself to a compiled one, with the faults placed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.json_tree import JsonProblem, parse_json, plain_json
from evatui.kernel.admission.report import Pointer, Report
from evatui.kernel.admission.schema_circle import circle
from evatui.kernel.admission.schema_cost import MAX_WAYS, Ways, pointer_steps, refers
from evatui.kernel.admission.schema_empty import dead_end, likely_object, plainly_takes_objects
from evatui.kernel.admission.schema_rules import SchemaFault, schema_faults, unremarkable
from evatui.kernel.admission.schema_shelf import Shelf
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import SourceFile
from evatui.kernel.workspace.yaml import Node, key_place, place

__all__ = ["inline_schema", "schema_file"]


def schema_file(
    file: SourceFile, name: str, shelf: Shelf, for_objects: bool
) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The schema in ``file``; None where the diagnostics hold an error. ``name`` is the path as it is shown.

    ``shelf`` has what it may refer to. ``for_objects``: it must leave room for an object.
    """
    try:
        document = plain_json(file.data, name)
    except JsonProblem as problem:
        return None, [_no_json(problem, name)]
    tree = partial(parse_json, file.data, name)
    if not isinstance(document, dict):
        return None, [diagnose("EVA-303", "the schema is no JSON object", _head(tree()))]
    return _compiled(document, tree, name, shelf, for_objects)


def inline_schema(
    report: Report, at: Pointer, shelf: Shelf, for_objects: bool
) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """The schema that stands in the manifest itself."""
    return _compiled(report.value(at), lambda: report.written(at), "", shelf, for_objects)


_Tree = Callable[[], Node]
"""Reads the schema once more, with positions: only where something in it has to be placed."""


def _compiled(
    own: dict[str, Any], tree: _Tree, base: str, shelf: Shelf, for_objects: bool
) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    shelf.draft = own.get("$schema")
    plain = unremarkable(own)
    found = list(_placed(tree, schema_faults(own, partial(shelf.problem, base=base), plain=plain)))
    reached = shelf.reached(own, base) if (linked := not plain and refers(own)) else {}
    for path, file in reached.items():
        if isinstance(file.document, dict):
            found += _placed(file.node, schema_faults(file.document, partial(shelf.problem, base=path)))
    if any(fault.level is Level.ERROR for fault in found):
        return None, found
    document = shelf.bundled(own, base, reached)
    if linked and (tangle := _tangle(tree, document)) is not None:
        return None, [*found, tangle]
    if plain and (not for_objects or plainly_takes_objects(document)):
        return CompiledSchema(document, sure=True), found
    schema, wrong = _whole(tree, document, for_objects)
    return schema, [*found, *wrong]


def _tangle(tree: _Tree, document: dict[str, Any]) -> Diagnostic | None:
    """What only references can do; without any, no file has parts enough for too many ways."""
    ways = Ways(document)
    if ways.unrolled() > MAX_WAYS:
        message = f"alternatives and references lead to one value in more than {MAX_WAYS:,} ways"
        return diagnose("EVA-307", message, _head(tree()))
    if ways.returns and (at := circle(document)) is not None:
        message = "the reference leads back to itself without a step into the value"
        return diagnose("EVA-308", message, place(tree(), at))
    return None


def _whole(tree: _Tree, document: dict[str, Any], for_objects: bool) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    """With everything in it that is referred to; that is where some things first show."""
    schema, wrong = _by_the_library(tree, document)
    if schema is not None and for_objects and not schema.fits(likely_object(document)):
        end = dead_end(document)
        if end is not None:
            at = tuple(pointer_steps(end.pointer))
            span = place(tree(), at) if at else _head(tree())
            return None, [diagnose("EVA-309", f"no object can fit this schema: {end.message}", span)]
    return schema, wrong


def _by_the_library(tree: _Tree, document: dict[str, Any]) -> tuple[CompiledSchema | None, list[Diagnostic]]:
    try:
        return CompiledSchema(document), []
    except ValueError as error:  # whatever only the library itself finds, while it compiles
        message = clean_line(str(getattr(error, "message", error)), 300)
        return None, [diagnose("EVA-304", message, _head(tree()))]


def _no_json(problem: JsonProblem, name: str) -> Diagnostic:
    code = "EVA-307" if problem.too_large else "EVA-303"
    message = problem.message if problem.too_large else f"the schema is not valid JSON: {problem.message}"
    spans = [problem.place.span(name)]
    if problem.other:
        spans.append(problem.other.span(name, "first given here", primary=False))
    return diagnose(code, message, *spans)


def _placed(tree: _Tree, faults: list[SchemaFault]) -> Iterator[Diagnostic]:
    if not faults:
        return
    node = tree()
    for fault in faults:
        span = (key_place if fault.key else place)(node, fault.at) if fault.at else _head(node)
        level = Level.WARNING if fault.warning else Level.ERROR
        yield diagnose(fault.code, fault.message, span, level=level)


def _head(node: Node) -> Span:
    """The first character: a span over the whole schema would point at nothing."""
    start = node.place
    return Span(node.file, start.line, start.column, start.line, start.column + 1)
