"""The stable words of an audit record: what happened (`Code`) and how it came out (`Outcome`)."""

from __future__ import annotations

from enum import StrEnum

from evatui.kernel.model.errors import CallError, ErrorKind, Origin

__all__ = ["Code", "Outcome", "call_ending"]


class Code(StrEnum):
    """A code is never renamed nor reused; success, failure and denial have codes of their own."""

    CALL_OK = "call.ok"
    CALL_ERROR = "call.error"
    CALL_DENIED = "call.denied"
    CALL_UNKNOWN = "call.unknown"
    """Found at start: effects were announced, and nobody wrote down how the call ended."""
    CALL_CANCELLED = "call.cancelled"
    """An operator ended a call in flight; its own record says how it ended."""
    EFFECT_INTENT = "effect.intent"
    """A host call with an effect is about to happen."""

    CAPABILITY_PUBLISHED = "capability.published"
    CAPABILITY_REJECTED = "capability.rejected"
    CAPABILITY_DRAINED = "capability.drained"
    CAPABILITY_UNREGISTERED = "capability.unregistered"
    CAPABILITY_ENABLED = "capability.enabled"
    CAPABILITY_DISABLED = "capability.disabled"
    CAPABILITY_ROLLED_BACK = "capability.rolled_back"
    CAPABILITY_RETRIED = "capability.retried"
    """The quarantine of what the disk holds was lifted."""
    CAPABILITY_QUARANTINED = "capability.quarantined"
    """The runtime died twice in a row while this version was new in service: it does not serve again by itself."""
    CAPABILITY_FELL_BACK = "capability.fell_back"
    """At the start the version that served last came back, since what the disk holds cannot serve."""
    CAPABILITY_UNWELL = "capability.unwell"
    """The health check of what serves fails by now; it goes on, behind others that provide the same."""
    CAPABILITY_WELL = "capability.well"
    CAPABILITY_DEMOTED = "capability.demoted"
    """Its code had to be stopped too often, and runs in a process of its own from now on."""
    CAPABILITY_DEMOTION_FAILED = "capability.demotion_failed"
    """It should run in a process of its own, and there is none to be had: it stays where it is."""
    CAPABILITY_ROLLBACK_FAILED = "capability.rollback_failed"
    """It failed too often to go on serving, and there was nothing that could take its place."""
    STATE_MIGRATED = "state.migrated"
    """State was carried over to a new schema; what it was made of stays as it was."""
    STATE_DELETED = "state.deleted"
    DEVICE_BOUND = "device.bound"
    """An operator said which device a logical name means."""
    DEVICE_UNBOUND = "device.unbound"
    DEVICE_CLAIMED = "device.claimed"
    """An operator has it until they release it, it goes away, or somebody takes it from them."""
    DEVICE_RELEASED = "device.released"
    DEVICE_REVOKED = "device.revoked"
    """A claim ended without its owner: the device went away, the policy changed, or another operator forced it."""
    DEVICE_EXPIRED = "device.expired"
    """A device that was to be claimed again did not come back, or not as one that may be used."""
    DEVICE_ORPHANED = "device.orphaned"
    """Found at start: the last runtime died while an operator had a device."""
    DEVICE_LOGGED = "device.logged"
    """An operator has what is said to a device and by it written to a file, or no more."""
    DEVICE_SIMULATED = "device.simulated"
    """An operator scripted what a simulated device does."""
    CANARY_STARTED = "canary.started"
    CANARY_PROMOTED = "canary.promoted"
    CANARY_ABORTED = "canary.aborted"
    """It ended before it served everybody: it failed, somebody ended it, or something else took its place."""
    CANARY_PAUSED = "canary.paused"
    CANARY_RESUMED = "canary.resumed"
    CANARY_HELD = "canary.held"
    """Its time passed without a verdict, and a person is to decide."""
    CAPABILITY_HELD = "capability.held"
    """A sound version waits for approval, for trust in the workspace, or for the next start."""
    CAPABILITY_APPROVED = "capability.approved"
    CAPABILITY_APPROVAL_REFUSED = "capability.approval_refused"
    CAPABILITY_APPROVAL_REVOKED = "capability.approval_revoked"
    WORKSPACE_TRUSTED = "workspace.trusted"
    WORKSPACE_DISTRUSTED = "workspace.distrusted"
    ADAPTER_LOADED = "adapter.loaded"
    ADAPTER_UNREGISTERED = "adapter.unregistered"
    ADAPTER_HELD = "adapter.held"
    """A sound adapter waits for trust in the workspace, or for the next start."""
    MCP_APPROVED = "mcp.approved"
    """Tools of an MCP server may be called as they are by now."""
    MCP_REVOKED = "mcp.revoked"
    MCP_QUARANTINED = "mcp.quarantined"
    """Tools of an MCP server are new, or are not what was approved, and are not called."""
    PLUGIN_DONE = "plugin.done"
    """A tool of a plugin that ran in the background has ended well; the call that began it was answered long before."""
    PLUGIN_FAILED = "plugin.failed"
    POLICY_CHANGED = "policy.changed"
    POLICY_REJECTED = "policy.rejected"
    """A broken policy file; the last valid policy stays in force."""

    RUNTIME_STARTED = "runtime.started"
    RUNTIME_STOPPED = "runtime.stopped"
    RUNTIME_RESTARTED = "runtime.restarted"
    """By order, in the same process; says which versions had waited for it, and how many calls were cut."""
    RUNTIME_FROZEN = "runtime.frozen"
    """By order: what changes by itself waits until it is thawed."""
    RUNTIME_THAWED = "runtime.thawed"
    RUNTIME_DAMAGED = "runtime.damaged"
    """The lock or the state database was deleted or replaced from outside, under the running runtime."""

    AUDIT_ROTATED = "audit.rotated"
    """First record of a file that follows a full one; names the calls whose effects were announced before it."""
    AUDIT_PRUNED = "audit.pruned"
    """The oldest file is removed; gives its range and the hash of its last record."""
    AUDIT_TORN_TAIL = "audit.torn_tail"
    """A line that was cut off by a crash, and so never acknowledged, was removed at start."""
    AUDIT_REOPENED = "audit.reopened"
    """The file was deleted, replaced or altered from outside; the chain runs on in a new one."""
    AUDIT_RECOVERED = "audit.recovered"
    """Writing works again after it failed."""
    AUDIT_FULL = "audit.full"
    """The disk is full, and no call runs; written into space that was kept for it."""
    AUDIT_UNSEALED = "audit.unsealed"
    """The last run did not end well; its records behind the last signed head were taken over as they are."""
    AUDIT_STARTED_OVER = "audit.started_over"
    """A log of which the operator has signed a head is gone, and that head with it; this one begins anew."""
    AUDIT_DAMAGED = "audit.damaged"
    """At the start the log was not what its signed head vouches for; the chain runs on behind this record."""


class Outcome(StrEnum):
    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    INTENT = "intent"
    UNKNOWN = "unknown"


_WELL = (Code.CALL_OK, Outcome.OK)


def call_ending(error: CallError | None) -> tuple[Code, Outcome]:
    """How a call that ended in ``error`` (or well) is written down. Only the kernel denies: a handler errs."""
    if error is None:
        return _WELL
    if error.kind is ErrorKind.POLICY_DENIED and error.origin is Origin.KERNEL:
        return Code.CALL_DENIED, Outcome.DENIED
    return Code.CALL_ERROR, Outcome.ERROR
