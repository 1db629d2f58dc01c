"""Adapter manifests on their way in: the sound ones, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.adapter_checks import check_transport, names_of
from evatui.kernel.admission.adapter_rules import ADAPTER
from evatui.kernel.admission.adapter_schemas import Schemas, contracts, read_schemas
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.manifest import gate_of
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import ADAPTER_FAULTS, Report
from evatui.kernel.model.adapter import Adapter, AdapterLimits, Breaker
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.model.manifest import SideEffects
from evatui.kernel.model.runtime_gate import RuntimeGate
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.yaml import YamlProblem

__all__ = ["AdaptersResult", "apart", "load_adapters"]

Read = Callable[[Sequence[str]], Sequence[SourceFile | FileProblem]]
"""Schema files by their paths, in this order."""
_Found = list[Diagnostic]


@dataclass(frozen=True, slots=True)
class AdaptersResult:
    """``diagnostics`` are rendered: errors of what is not among ``adapters``, and warnings.

    ``schemas`` are the paths of the files that their schemas are made of.
    """

    adapters: tuple[Adapter, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Draft:
    """A manifest that can be read."""

    file: SourceFile
    report: Report
    raw: dict[str, Any]


def load_adapters(files: Sequence[SourceFile | FileProblem], read: Read) -> AdaptersResult:
    """Each file by itself, but that of several with one id none is taken."""
    found: _Found = []
    drafts = [draft for file in files if (draft := _draft(file, found)) is not None]
    schemas = read_schemas([draft.raw for draft in drafts], read)
    sound: list[tuple[Adapter, Report]] = []
    for draft in drafts:
        adapter = _adapter(draft, schemas, found)
        found += draft.report.found
        if adapter is not None:
            sound.append((adapter, draft.report))
    kept, twice = _unlike(sound)
    texts = {file.path: file.data for file in (*files, *schemas.files.values()) if isinstance(file, SourceFile)}
    return AdaptersResult(kept, render_all([*found, *twice], texts), schemas.paths)


def _draft(file: SourceFile | FileProblem, found: _Found) -> _Draft | None:
    if isinstance(file, FileProblem):
        message = f"the adapter cannot be read: {clean_line(file.detail)}"
        found.append(diagnose("EVA-701", message, Span(file.path)))
        return None
    try:
        report = Report(Document(file.data, file.path), ADAPTER_FAULTS)
    except YamlProblem as problem:
        found += problem.diagnostics
        return None
    raw = ADAPTER.read(report.document.value, (), report)
    if not isinstance(raw, dict):
        found += report.found
        return None
    return _Draft(file, report, raw)


def _adapter(draft: _Draft, schemas: Schemas, found: _Found) -> Adapter | None:
    raw, report = draft.raw, draft.report
    check_transport(raw, report)
    agreed = contracts(raw, schemas, report, found)
    if report.failed or agreed is None:
        return None
    return Adapter(
        raw["id"],
        raw["transport"],
        names_of(raw),
        draft.file.path,
        raw["enabled"],
        name=raw["name"] or raw["id"],
        version=raw["version"],
        priority=raw["priority"],
        side_effects=SideEffects(raw["side_effects"]),
        limits=AdapterLimits(**raw["limits"]),
        breaker=Breaker(**raw["breaker"]),
        block=raw[raw["transport"]],
        gate=gate_of(raw["runtime_gate"]) or RuntimeGate(),
        contracts=agreed,
        digest=draft.file.digest,
    )


def apart(adapters: Sequence[Adapter], ids: Collection[str]) -> tuple[tuple[Adapter, ...], tuple[Diagnostic, ...]]:
    """Those whose id is none of ``ids``, which are folded and stand for capabilities; and what to say of the others."""
    kept = tuple(adapter for adapter in adapters if fold(adapter.id) not in ids)
    return kept, render_all(
        [
            diagnose("EVA-705", f"the id {one.id} is that of a capability; the adapter is not taken", Span(one.path))
            for one in adapters
            if one not in kept
        ],
        {},
    )


def _unlike(sound: Sequence[tuple[Adapter, Report]]) -> tuple[tuple[Adapter, ...], list[Diagnostic]]:
    by_id: dict[str, list[tuple[Adapter, Report]]] = {}
    for entry in sound:
        by_id.setdefault(fold(entry[0].id), []).append(entry)
    kept: list[Adapter] = []
    found: list[Diagnostic] = []
    for group in by_id.values():
        if len(group) > 1:
            found.append(_duplicate(group))
        else:
            kept.append(group[0][0])
    return tuple(kept), found


def _duplicate(group: Sequence[tuple[Adapter, Report]]) -> Diagnostic:
    (first, report), *others = group
    names = ", ".join(clean_line(adapter.path, 200) for adapter, _ in others)
    spans = (report.span(("id",)), *(_second(other) for _, other in others[:5]))
    return diagnose("EVA-705", f"the id {first.id} is also used in {names}; none of them is taken", *spans)


def _second(report: Report) -> Span:
    span = report.span(("id",))
    return Span(span.file, span.line, span.column, span.end_line, span.end_column, "also here", primary=False)
