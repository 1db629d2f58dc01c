"""Which capability answers a name, and why none does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import CallerType, CallRequest
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.rollout.cohort import place
from evatui.kernel.registry.table import Table

__all__ = ["absent", "answers", "may_answer", "pick", "route", "unserved"]

_OPERATORS = frozenset({CallerType.USER, CallerType.CLI, CallerType.MCP})
"""They may call an MCP handler by the name of its tool; which ones an MCP client may is decided before."""
_PREFERENCE = (State.DISABLED, State.DRAINING, State.REJECTED, State.UNREGISTERED)


def route(table: Table, request: CallRequest) -> str | None:
    """The id of the provider: the explicit one, else the highest priority, ties by id; None where none serves.

    Where ``request.providers`` says who may answer, nobody else is considered.
    """
    found = table.providers.get(request.capability) or _handlers(table, request)
    if request.provider is None and request.providers is None:
        return found[0] if found else None
    return next((key for key in found if may_answer(key, request)), None)


def pick(table: Table, capability_id: str, request: CallRequest, workspace: str) -> tuple[Generation | None, str]:
    """Which generation of a provider answers, and why; None where none serves any more."""
    active, canary = table.active.get(capability_id), table.canaries.get(capability_id)
    if canary is None or active is None or canary.manifest.reload.canary is None:
        return active, "it serves everybody"
    if not _gives(canary.manifest, request):
        return active, "the canary does not provide that name"
    placed = place(
        canary.manifest.reload.canary,
        capability_id,
        user=request.user,
        tags=request.tags,
        workspace=workspace,
        trace_id=request.trace_id or None,
    )
    return (canary if placed.canary else active), placed.why


def may_answer(key: str, request: CallRequest) -> bool:
    """Is the provider one that the request lets answer?"""
    if request.provider is not None and key != request.provider:
        return False
    return request.providers is None or any(covers_name(pattern, key) for pattern in request.providers)


def answers(generation: Generation, request: CallRequest) -> bool:
    """Does it provide the name, to this caller?"""
    return may_answer(generation.manifest.id, request) and _gives(generation.manifest, request)


def _handlers(table: Table, request: CallRequest) -> tuple[str, ...]:
    if request.caller.type not in _OPERATORS:
        return ()
    if request.provider is not None:
        named = table.active.get(request.provider)
        return (request.provider,) if named and _tool(named.manifest) == request.capability else ()
    return tuple(key for key, active in table.active.items() if _tool(active.manifest) == request.capability)


def _tool(manifest: Manifest) -> str | None:
    return manifest.mcp.tool_name if manifest.mcp else None


def absent(
    capabilities: Iterable[Capability],
    adapters: Iterable[Adapter],
    request: CallRequest,
    why_not: Callable[[Adapter, str], CallFailed],
) -> CallFailed:
    """Why nothing answers: never served, deleted and refused are ``NotFound``; switched off is ``Unavailable``.

    ``why_not`` says it of an adapter that provides the name by its manifest.
    """
    name = clean_line(request.capability, 128)
    once = [c for c in capabilities if _would_provide(c, request)]
    once.sort(key=lambda c: _PREFERENCE.index(c.state) if c.state in _PREFERENCE else len(_PREFERENCE))
    if not once:
        for adapter in adapters:
            if request.capability in adapter.capabilities and may_answer(adapter.id, request):
                return why_not(adapter, name)
        by = f" from {clean_line(request.provider, 128)}" if request.provider else ""
        who = "nothing" if request.providers is None else "no provider that is granted"
        return failure(ErrorKind.NOT_FOUND, f"{who} provides {name}{by}", reason="never_served")
    return unserved(once[0])


def unserved(capability: Capability) -> CallFailed:
    """Why a capability that serves nothing does not; a call that waited in line for it hears the same."""
    if capability.gone:
        return failure(ErrorKind.NOT_FOUND, f"{capability.id} was removed", reason="unregistered")
    if capability.denied:
        message = f"{capability.id} is disabled: the policy denies it"
        return failure(ErrorKind.UNAVAILABLE, message, reason=Reason.POLICY_DENIED.value)
    if capability.state in (State.DISABLED, State.DRAINING):
        hold, word = capability.hold, capability.hold or "disabled"
        return failure(ErrorKind.UNAVAILABLE, f"{capability.id} is {word}", retryable=hold is not None, reason=word)
    if capability.rejection is not None:
        first = capability.rejection.diagnostics[0]
        return failure(
            ErrorKind.NOT_FOUND,
            f"{capability.id} was refused: {first.code} {first.message}",
            reason=first.reason.value,
        )
    if capability.held is not None and capability.held.ruling is not None:
        first = capability.held.ruling.diagnostics[0]
        message = f"{capability.id} waits for a person: {first.code} {first.message}"
        return failure(ErrorKind.NOT_FOUND, message, reason=first.reason.value)
    return failure(ErrorKind.UNAVAILABLE, f"{capability.id} is still loading", retryable=True, reason="loading")


def _would_provide(capability: Capability, request: CallRequest) -> bool:
    manifests = [
        manifest
        for manifest in (
            capability.candidate.manifest if capability.candidate else None,
            capability.rejection.manifest if capability.rejection else None,
        )
        if manifest is not None
    ]
    return may_answer(capability.id, request) and any(_gives(manifest, request) for manifest in manifests)


def _gives(manifest: Manifest, request: CallRequest) -> bool:
    """Would it provide the name to this caller, if it served?"""
    if request.capability in manifest.provides:
        return True
    return request.caller.type in _OPERATORS and _tool(manifest) == request.capability
