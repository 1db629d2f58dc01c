"""A manifest as it is understood: every default filled in, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.kernel.admission.manifest import read_manifest
from evatui.kernel.admission.redact import veiled
from evatui.kernel.admission.report import Report
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.reading import file_diagnostic, read_under
from evatui.kernel.workspace.yaml import MAX_BYTES, YamlProblem

__all__ = ["rendered_manifest"]


def rendered_manifest(layout: Layout, path: str) -> dict[str, Any]:
    """What the file at ``path`` says now; blocking. ``{path, manifest, values, problems}``.

    ``values`` has an entry for each single value: ``{pointer, value, origin}``, where the origin is
    ``{"file", "line", "column"}`` or ``"default"``. Where the file is not understood, ``problems`` say why, and what
    is wrong in it shows its default.
    """
    tree = Tree(layout.root)
    try:
        document = Document(read_under(tree, path, MAX_BYTES, layout.manifests).data, path)
    except FileProblem as problem:
        return _nothing(path, [file_diagnostic(problem, path).message])
    except YamlProblem as problem:
        return _nothing(path, [found.message for found in problem.diagnostics])
    finally:
        tree.close()
    reading = read_manifest(document)
    manifest = veiled(dict(reading.raw))
    return {
        "path": path,
        "manifest": manifest,
        "values": [_entry(at, value, reading.report) for at, value in _leaves(manifest, ())],
        "problems": [f"{found.code} {found.message}" for found in reading.report.found],
    }


def _nothing(path: str, problems: list[str]) -> dict[str, Any]:
    return {"path": path, "manifest": None, "values": [], "problems": problems}


def _leaves(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Lists of single values count as one."""
    if isinstance(value, Mapping) and value:
        for name, child in value.items():
            yield from _leaves(child, (*at, name))
    elif isinstance(value, list) and any(isinstance(child, Mapping | list) for child in value):
        for index, child in enumerate(value):
            yield from _leaves(child, (*at, index))
    else:
        yield at, value


def _entry(at: tuple[str | int, ...], value: Any, report: Report) -> dict[str, Any]:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in at)
    origin: Any = "default"
    if report.node(at) is not None:
        span = report.span(at, key=isinstance(at[-1], str))
        origin = {"file": span.file, "line": span.line, "column": span.column}
    return {"pointer": clean_line("".join(f"/{step}" for step in steps), 400), "value": value, "origin": origin}
