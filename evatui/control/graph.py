"""Who calls whom, and what uses which module: what a reload touches, and what a deletion would break."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evatui.kernel.admission.dependencies import Edge, graph_of
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.registry.capability import Capability
from evatui.runtime import Runtime

__all__ = ["graphed"]


def graphed(runtime: Runtime) -> dict[str, Any]:
    """``{nodes: [{id, state, modules, dependents}], edges: [{from, to, name}], order, cycles, missing, modules}``.

    Of what serves, and of what the disk holds where nothing does. ``dependents`` call it, over others too;
    ``modules`` maps each module to the ids that use it. Adapters are nodes with a ``transport``; they call nobody.
    """
    known = {key: one for key, one in runtime.registry.capabilities.items() if not one.gone}
    manifests = {key: found for key, one in known.items() if (found := _manifest(one)) is not None}
    graph = graph_of(manifests.values(), {name for one in runtime.registry.adapters for name in one.capabilities})
    edges = (*graph.edges, *_outward(manifests.values(), runtime.registry.adapters))
    modules: dict[str, list[str]] = defaultdict(list)
    for key in graph.nodes:
        for path in sorted(set(manifests[key].lua.modules.values())):
            modules[path].append(key)
    return {
        "nodes": [
            {
                "id": key,
                "state": known[key].state.value,
                "modules": sorted(set(manifests[key].lua.modules.values())),
                "dependents": _dependents(key, edges),
            }
            for key in graph.nodes
        ]
        + [
            {
                "id": one.id,
                "state": runtime.providers.standing(one)[0],
                "modules": [],
                "dependents": _dependents(one.id, edges),
                "transport": one.transport,
            }
            for one in sorted(runtime.registry.adapters, key=lambda one: one.id)
        ],
        "edges": [{"from": edge.source, "to": edge.target, "name": edge.name} for edge in sorted(edges)],
        "order": list(graph.order),
        "cycles": [list(cycle) for cycle in graph.cycles],
        "missing": _lists(graph.missing),
        "modules": _lists(modules),
    }


def _outward(manifests: Iterable[Manifest], adapters: Iterable[Adapter]) -> Iterator[Edge]:
    """Who calls which adapter, by names that are no patterns and providers that the manifest asks for."""
    known = tuple(adapters)
    for manifest in manifests:
        asked = manifest.permissions.adapters
        for one in known:
            if any(covers_name(entry, one.id) for entry in asked.providers):
                yield from (Edge(manifest.id, name, one.id) for name in one.capabilities if name in asked.capabilities)


def _manifest(capability: Capability) -> Manifest | None:
    if capability.active is not None:
        return capability.active.manifest
    if capability.rejection is not None and capability.rejection.manifest is not None:
        return capability.rejection.manifest
    return capability.candidate.manifest if capability.candidate is not None else None


def _dependents(key: str, edges: Iterable[Edge]) -> list[str]:
    """Directly or over others."""
    callers: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        callers[edge.target].add(edge.source)
    found: set[str] = set()
    waiting = [key]
    while waiting:
        new = callers[waiting.pop()] - found
        found |= new
        waiting += new
    return sorted(found - {key})


def _lists(mapping: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    return {key: list(values) for key, values in sorted(mapping.items())}
