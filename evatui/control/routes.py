"""Who would answer a call, on which generation, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.router import absent, pick, route
from evatui.kernel.registry.table import Table
from evatui.runtime import Runtime

__all__ = ["routed"]


def routed(runtime: Runtime, request: CallRequest) -> dict[str, Any]:
    """``{name, provider, generation, number, canary, why: [of the provider, of the generation], behind: [ids]}``.

    Nothing is called. Raises `CallFailed` where nobody would answer, and says why, as a call does.
    """
    registry, table = runtime.registry, runtime.table
    found = route(table, request)
    if found is None:
        raise absent(registry.capabilities.values(), registry.adapters, request)
    in_general = replace(request, trace_id="")  # it asks about calls in general, which have no trace in common
    generation, placed = pick(table, found, in_general, runtime.layout.name)
    assert generation is not None  # it is in the table
    behind = [key for key in table.providers.get(request.capability, ()) if key != found]
    return {
        "name": clean_line(request.capability, 128),
        "provider": found,
        "generation": generation.name.id,
        "number": generation.name.short,
        "canary": generation is table.canaries.get(found),
        "why": [_chosen(table, found, behind, request), placed],
        "behind": behind,
    }


def _chosen(table: Table, found: str, behind: list[str], request: CallRequest) -> str:
    if request.provider is not None:
        return f"{found} was asked for"
    if not behind:
        return f"{found} is the only one that provides it"
    priority = table.active[found].manifest.priority
    next_one = table.active[behind[0]].manifest.priority
    how = "the higher priority" if priority > next_one else "the same priority, and its id comes first"
    return f"{found} answers before {', '.join(behind)}: {how} ({priority}, {next_one})"
