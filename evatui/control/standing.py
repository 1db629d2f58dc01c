"""How a capability stands, in the words that queries and console share."""

from __future__ import annotations

from evatui.control.isolation import isolation_marks
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.capability import Capability
from evatui.kernel.storage.history import ABSENT

__all__ = ["disk_code", "disk_status", "marks", "reason_of"]


def disk_status(capability: Capability) -> str:
    """How the disk stands to what serves: ``same, changed, rejected, held, quarantined, missing``."""
    brought_back = capability.disk_digest == ABSENT and ABSENT in capability.quarantined
    if capability.gone or brought_back:  # and may serve all the same
        return "missing"
    if capability.rejection is not None:
        return "rejected"
    if capability.held is not None:
        return "held"
    if capability.unapplied:
        return capability.unapplied
    if capability.active is not None and capability.active.digest == capability.disk_digest:
        return "same"
    if capability.disk_digest in capability.quarantined:
        return "quarantined"
    return "same" if capability.active is None else "changed"


def disk_code(capability: Capability) -> str | None:
    """The code of why the disk holds something else than what serves, where there is one."""
    match disk_status(capability):
        case "rejected" if capability.rejection is not None:
            return capability.rejection.diagnostics[0].code
        case "held" if capability.held is not None and capability.held.ruling is not None:
            return next((found.code for found in capability.held.ruling.diagnostics), None)
        case "quarantined":
            return "EVA-605" if capability.disk_digest in capability.deadly else "EVA-604"
    return None


def marks(capability: Capability) -> tuple[str, ...]:
    """What stands out about a capability whatever its state."""
    held = ("held",) if capability.held is not None else ()
    quarantined = ("quarantined",) if disk_status(capability) == "quarantined" else ()
    canary = ("canary",) if capability.rollout is not None else ()
    unwell = ("unwell",) if capability.active is not None and capability.active.ailment is not None else ()
    return (*canary, *unwell, *held, *quarantined, *isolation_marks(capability))


def reason_of(capability: Capability) -> str | None:
    """Why a capability does not serve what the disk holds, None where it does."""
    if capability.gone:
        return "removed"
    if capability.denied:
        return Reason.POLICY_DENIED.value
    if capability.rejection is not None:
        return capability.rejection.diagnostics[0].reason.value
    if capability.held is not None and capability.held.ruling is not None and capability.held.ruling.reason:
        return capability.held.ruling.reason.value
    if capability.active is None and capability.state in (State.DISABLED, State.DRAINING):
        return capability.hold or "disabled_by_manifest"
    if disk_status(capability) != "quarantined":
        return None
    return (Reason.QUARANTINED if capability.disk_digest in capability.deadly else Reason.ROLLED_BACK).value
