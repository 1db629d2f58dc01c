"""Which capability answers a name, and why none does."""

from __future__ import annotations

from collections.abc import Iterable

from evatui.kernel.model.call import CallerType, CallRequest
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.table import Table

__all__ = ["absent", "route", "unserved"]

_OPERATORS = frozenset({CallerType.USER, CallerType.CLI})
_PREFERENCE = (State.DISABLED, State.DRAINING, State.REJECTED, State.UNREGISTERED)


def route(table: Table, request: CallRequest) -> str | None:
    """The id of the provider: the explicit one, else the highest priority, ties by id; None where none serves."""
    found = table.providers.get(request.capability) or _handlers(table, request)
    if request.provider is None:
        return found[0] if found else None
    return request.provider if request.provider in found else None


def _handlers(table: Table, request: CallRequest) -> tuple[str, ...]:
    """An operator may call an MCP handler by the name of its tool."""
    if request.caller.type not in _OPERATORS:
        return ()
    return tuple(key for key, active in table.active.items() if _tool(active.manifest) == request.capability)


def _tool(manifest: Manifest) -> str | None:
    return manifest.mcp.tool_name if manifest.mcp else None


def absent(capabilities: Iterable[Capability], request: CallRequest) -> CallFailed:
    """Why nothing answers: never served, deleted and refused are ``NotFound``; switched off is ``Unavailable``."""
    name = clean_line(request.capability, 128)
    once = [c for c in capabilities if _would_provide(c, request)]
    once.sort(key=lambda c: _PREFERENCE.index(c.state) if c.state in _PREFERENCE else len(_PREFERENCE))
    if not once:
        by = f" from {clean_line(request.provider, 128)}" if request.provider else ""
        return failure(ErrorKind.NOT_FOUND, f"nothing provides {name}{by}", reason="never_served")
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
    if request.provider is not None and capability.id != request.provider:
        return False
    return any(request.capability in (*manifest.capabilities, _tool(manifest)) for manifest in manifests)
