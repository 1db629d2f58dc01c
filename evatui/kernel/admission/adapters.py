"""Adapter manifests on their way in: the sound ones, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.adapter_rules import ADAPTER, TRANSPORTS
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import ADAPTER_FAULTS, Fault, Report
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.yaml import YamlProblem

__all__ = ["AdaptersResult", "load_adapters"]


@dataclass(frozen=True, slots=True)
class AdaptersResult:
    """``diagnostics`` are rendered: errors of what is not among ``adapters``, and warnings."""

    adapters: tuple[Adapter, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def load_adapters(files: Sequence[SourceFile | FileProblem]) -> AdaptersResult:
    """Each file by itself, but that of several with one id none is taken."""
    found: list[Diagnostic] = []
    read: list[tuple[Adapter, Report]] = []
    for file in files:
        if isinstance(file, FileProblem):
            message = f"the adapter cannot be read: {clean_line(file.detail)}"
            found.append(diagnose("EVA-701", message, Span(file.path)))
            continue
        try:
            report = Report(Document(file.data, file.path), ADAPTER_FAULTS)
        except YamlProblem as problem:
            found += problem.diagnostics
            continue
        adapter = _read(file.path, report)
        found += report.found
        if adapter is not None:
            read.append((adapter, report))
    by_id: dict[str, list[tuple[Adapter, Report]]] = {}
    for entry in read:
        by_id.setdefault(fold(entry[0].id), []).append(entry)
    found += [_duplicate(group) for group in by_id.values() if len(group) > 1]
    texts = {file.path: file.data for file in files if isinstance(file, SourceFile)}
    return AdaptersResult(tuple(group[0][0] for group in by_id.values() if len(group) == 1), render_all(found, texts))


def _read(path: str, report: Report) -> Adapter | None:
    raw = ADAPTER.read(report.document.value, (), report)
    if not isinstance(raw, dict):
        return None
    _check_block(raw, report)
    _check_schemas(raw, report)
    if report.failed:
        return None
    if raw["enabled"]:
        message = f"{raw['id']} answers nothing: the transport {raw['transport']} is not supported by this version"
        report.add("EVA-706", message, report.span(("transport",)), level=Level.WARNING)
    return Adapter(raw["id"], raw["transport"], tuple(raw["capabilities"]), path, raw["enabled"])


def _check_block(raw: Mapping[str, Any], report: Report) -> None:
    """Exactly the block that is named as the transport."""
    transport = raw.get("transport")
    if transport is None:
        return
    if raw.get(transport) is None and report.node((transport,)) is None:
        report.add("EVA-704", f"the transport {transport} needs a block {transport}", report.span(("transport",)))
    for other in TRANSPORTS:
        if other != transport and raw.get(other) is not None:
            message = f"the block {other} is not for the transport {transport}"
            report.add("EVA-704", message, report.span((other,), key=True))


def _check_schemas(raw: Mapping[str, Any], report: Report) -> None:
    for name in raw.get("schemas", {}):
        if name not in raw.get("capabilities", ()):
            message = f"schemas: {name} is none of its capabilities"
            report.fault(Fault.MISPLACED, message, ("schemas", name), key=True)


def _duplicate(group: Sequence[tuple[Adapter, Report]]) -> Diagnostic:
    (first, report), *others = group
    names = ", ".join(clean_line(adapter.path, 200) for adapter, _ in others)
    spans = (report.span(("id",)), *(_second(other) for _, other in others[:5]))
    return diagnose("EVA-705", f"the id {first.id} is also used in {names}; none of them is taken", *spans)


def _second(report: Report) -> Span:
    span = report.span(("id",))
    return Span(span.file, span.line, span.column, span.end_line, span.end_column, "also here", primary=False)
