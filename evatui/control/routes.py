"""Who would answer a call, on which generation, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.providers.dispatch import Choice
from evatui.kernel.registry.router import pick, route
from evatui.runtime import Runtime

__all__ = ["routed"]


def routed(runtime: Runtime, request: CallRequest) -> dict[str, Any]:
    """``{name, provider, transport, generation, number, canary, why: [of the provider, of the generation], behind}``.

    ``behind`` are the ids that are asked after it, in this order, if at all. ``number`` is null, and ``generation`` the
    id with the version, of what is no capability. Nothing is called. Raises `CallFailed` where nobody would answer, and
    says why, as a call does.
    """
    choices = runtime.dispatch.choices(request)
    behind = [choice.id for choice in choices[1:]]
    if choices and choices[0].provider is not None:
        adapter = choices[0].provider.adapter
        served = {"transport": adapter.transport, "generation": adapter.title, "number": None, "canary": False}
        return _told(request, choices[0].id, served, [_chosen(choices, request), _state(choices[0])], behind)
    found = choices[0].id if choices else route(runtime.table, request)
    if found is None:
        raise runtime.registry.absent(request)
    in_general = replace(request, trace_id="")  # it asks about calls in general, which have no trace in common
    generation, placed = pick(runtime.table, found, in_general, runtime.layout.name)
    assert generation is not None  # it is in the table
    served = {
        "transport": "lua_capability",
        "generation": generation.name.id,
        "number": generation.name.short,
        "canary": generation is runtime.table.canaries.get(found),
    }
    why = _chosen(choices, request) if choices else _alone(found, request)
    return _told(request, found, served, [why, placed], behind)


def _told(
    request: CallRequest, provider: str, served: dict[str, Any], why: list[str], behind: list[str]
) -> dict[str, Any]:
    return {
        "name": clean_line(request.capability, 128),
        "provider": provider,
        **served,
        "why": why,
        "behind": behind,
    }


def _alone(found: str, request: CallRequest) -> str:
    return f"{found} was asked for" if request.provider is not None else f"{found} is the only one that provides it"


def _chosen(choices: list[Choice], request: CallRequest) -> str:
    first, *others = choices
    if request.provider is not None or not others:
        return _alone(first.id, request)
    next_one = others[0]
    if first.well and not next_one.well:
        how = f"{next_one.id} is not well"
    elif first.priority > next_one.priority:
        how = f"the higher priority ({first.priority}, {next_one.priority})"
    else:
        how = f"the same priority, and its id comes first ({first.priority}, {next_one.priority})"
    return f"{first.id} answers before {', '.join(choice.id for choice in others)}: {how}"


def _state(choice: Choice) -> str:
    assert choice.provider is not None  # who asks knows that it is an adapter
    state = choice.provider.state
    return f"it is {state.word}{f': {state.detail}' if state.detail else ''}"
