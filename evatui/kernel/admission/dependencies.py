"""Who calls whom: the names in ``permissions.adapters.capabilities``, and the ids that provide them.

A pattern names nobody in particular, so it is no dependency; neither is a capability's own name.
"""

from __future__ import annotations

import graphlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.admission.report import MANIFEST_FAULTS, Report
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.manifest import Manifest

__all__ = ["Edge", "Graph", "graph_of", "linked"]

_AT = ("permissions", "adapters", "capabilities")


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """``source`` calls ``name``, which ``target`` provides."""

    source: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Graph:
    """``order``: whoever is called comes before who calls. ``cycles`` are ids, each once, the least one first.

    ``missing`` are the names that nobody provides, by the id that calls them.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    order: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]
    missing: Mapping[str, tuple[str, ...]]


def graph_of(manifests: Iterable[Manifest], elsewhere: Collection[str] = ()) -> Graph:
    """``elsewhere`` are names that adapters provide."""
    known = sorted(manifests, key=lambda manifest: manifest.id)
    providers: dict[str, list[str]] = defaultdict(list)
    for manifest in known:
        for name in manifest.provides:
            providers[name].append(manifest.id)
    edges: list[Edge] = []
    missing: dict[str, tuple[str, ...]] = {}
    for manifest in known:
        names = [name for name in manifest.permissions.adapters.capabilities if "*" not in name]
        edges += [
            Edge(manifest.id, name, target) for name in names for target in providers[name] if target != manifest.id
        ]
        if absent := tuple(name for name in names if not providers[name] and name not in elsewhere):
            missing[manifest.id] = absent
    nodes = tuple(manifest.id for manifest in known)
    order, cycles = _sorted(nodes, edges)
    return Graph(nodes, tuple(sorted(edges)), order, cycles, missing)


def _sorted(nodes: Iterable[str], edges: Iterable[Edge]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Each circle that is found is opened by leaving its edges out, until there is none."""
    calls = {node: set[str]() for node in nodes}
    for edge in edges:
        calls[edge.source].add(edge.target)
    cycles: list[tuple[str, ...]] = []
    while True:
        try:
            return tuple(graphlib.TopologicalSorter(calls).static_order()), tuple(sorted(cycles))
        except graphlib.CycleError as error:
            circle = list(reversed(error.args[1][1:]))
            for source, target in zip(circle, [*circle[1:], circle[0]], strict=True):
                calls[source].discard(target)
            first = circle.index(min(circle))
            cycles.append((*circle[first:], *circle[:first]))


def linked(
    verdicts: Mapping[str, Verdict], serving: Mapping[str, str], elsewhere: Collection[str]
) -> dict[str, Verdict]:
    """The verdicts by id, with circles refused and a warning where nobody provides what is called.

    ``serving`` has the digests of what serves: of a circle only those are refused that would close it. At a start
    these are all of it.
    """
    candidates = {key: verdict for key, verdict in verdicts.items() if isinstance(verdict, Candidate)}
    graph = graph_of((candidate.manifest for candidate in candidates.values()), elsewhere)
    changed: dict[str, Verdict] = {}
    for key, names in graph.missing.items():
        changed[key] = _warned(candidates[key], names)
    for cycle in graph.cycles:
        for position, key in enumerate(cycle):
            if serving.get(key) != candidates[key].digest:
                circle = (*cycle[position:], *cycle[:position], key)
                changed[key] = _refused(candidates, circle, graph.edges)
    return {**verdicts, **changed}


def _warned(candidate: Candidate, names: tuple[str, ...]) -> Candidate:
    found = [
        _found("EVA-217", candidate, f"{candidate.id} calls {name}, which nobody provides", name, Level.WARNING)
        for name in names
    ]
    return replace(candidate, warnings=(*candidate.warnings, *found))


def _refused(candidates: Mapping[str, Candidate], circle: tuple[str, ...], edges: Iterable[Edge]) -> Rejection:
    candidate = candidates[circle[0]]
    name = next(edge.name for edge in edges if (edge.source, edge.target) == circle[:2])
    found = _found("EVA-216", candidate, f"calls go round in a circle: {' → '.join(circle)}", name, Level.ERROR)
    snapshot = candidate.snapshot
    return Rejection(candidate.id, snapshot.path, snapshot.digest, (found,), snapshot, candidate.manifest)


def _found(code: str, candidate: Candidate, message: str, name: str, level: Level) -> Diagnostic:
    document = candidate.snapshot.document
    report = Report(document, MANIFEST_FAULTS) if document is not None else None
    span = report.span(report.item(_AT, name)) if report else Span(candidate.path)
    return render(diagnose(code, message, span, level=level), {candidate.path: candidate.snapshot.manifest.data})
