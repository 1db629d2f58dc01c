"""What an action needs of the thing under the cursor: each check gives the reason why not, or None.

The rows that it may be about are imported when one is asked for: the first frame has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.console.view.devices import DeviceRow
    from evatui.console.view.extensions import Extension
    from evatui.console.view.older import Older
    from evatui.console.view.timeline import Reload
    from evatui.control.deciding import HeldRow, IdleRow
    from evatui.control.snapshot import AuditRow, CallRow, CapabilityRow, ConsoleSnapshot, RejectionRow

    Subject = (
        CapabilityRow
        | Reload
        | RejectionRow
        | HeldRow
        | IdleRow
        | DeviceRow
        | CallRow
        | AuditRow
        | Older
        | Extension
        | None
    )
    """The thing under the cursor."""

    Enabled = Callable[[ConsoleSnapshot | None, Subject], str | None]

__all__ = [
    "always",
    "anything",
    "approvable",
    "capability",
    "comparable",
    "described",
    "distrustable",
    "editable",
    "fixable",
    "freezable",
    "held",
    "held_of",
    "is_callable",
    "is_disablable",
    "is_drainable",
    "is_enablable",
    "is_forcible",
    "is_in_flight",
    "is_on_a_generation",
    "is_pausable",
    "is_restorable",
    "is_resumable",
    "is_retriable",
    "is_tried_out",
    "reloadable",
    "restartable",
    "revocable",
    "selected",
    "started",
    "thawable",
    "told",
    "trustable",
]


def always(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    return None


def started(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    return "the runtime is still starting" if snapshot is None else None


def selected(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return "the runtime is still starting"
    return None if subject is not None else "nothing is selected"


def reloadable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    from evatui.control.snapshot import AuditRow

    if isinstance(subject, AuditRow):
        return "a record cannot be reloaded; select its capability in the registry (1)"
    return selected(snapshot, subject)


def capability(check: Callable[[CapabilityRow], str | None]) -> Enabled:
    def enabled(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
        if missing := selected(snapshot, subject):
            return missing
        from evatui.control.snapshot import CapabilityRow

        if not isinstance(subject, CapabilityRow):
            return "select a capability in the registry (1)"
        return check(subject)

    return enabled


def fixable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    edits = [edit for found in getattr(subject, "diagnostics", ()) for edit in getattr(found, "edits", ())]
    return None if edits else "its repair needs thought; e opens the editor at the line"


def is_in_flight(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    from evatui.control.extensions import PluginTaskRow

    if isinstance(subject, PluginTaskRow):
        return "it has ended" if subject.ended else None
    return None if getattr(subject, "request_id", None) else "it is no call, nor a tool in the background"


def is_on_a_generation(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := is_in_flight(snapshot, subject):
        return missing
    if getattr(subject, "number", None):
        return None
    waits = getattr(subject, "queued", False)
    return "it waits for a slot, and so is on no generation yet" if waits else "an adapter has no generations"


def comparable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    if not getattr(subject, "id", None):
        return "it has no id, so there is nothing to hold it against"
    from evatui.control.snapshot import CapabilityRow

    alone = isinstance(subject, CapabilityRow) and len(subject.generations) < 2 and subject.on_disk == "same"
    return "there is one version of it, and the disk holds the same" if alone else None


def is_restorable(row: CapabilityRow) -> str | None:
    earlier = [item for item in row.generations if item.restorable and item.number != row.number]
    return None if earlier else "no earlier generation of it can be restored"


def is_drainable(row: CapabilityRow) -> str | None:
    return None if row.state is State.ACTIVE else f"nothing of it takes calls: it is {row.state}"


def is_forcible(row: CapabilityRow) -> str | None:
    drains = any(item.what == "draining" for item in row.beside)
    return None if drains else is_drainable(row)


def is_disablable(row: CapabilityRow) -> str | None:
    if row.state is State.UNREGISTERED:
        return "it is gone: its manifest was deleted"
    return "it is disabled already" if row.state is State.DISABLED else None


def is_enablable(row: CapabilityRow) -> str | None:
    return None if row.state is State.DISABLED or "demoted" in row.marks else "it is neither disabled nor demoted"


def is_retriable(row: CapabilityRow) -> str | None:
    return "it is gone: its manifest was deleted" if row.state is State.UNREGISTERED else None


def anything(row: CapabilityRow) -> str | None:
    return None


def _phase(row: CapabilityRow) -> str:
    """Of the version that is tried out; empty where there is none."""
    return next((item.canary.phase for item in row.beside if item.canary is not None), "")


def is_tried_out(row: CapabilityRow) -> str | None:
    return None if _phase(row) else "no version of it is tried out"


def is_pausable(row: CapabilityRow) -> str | None:
    return None if _phase(row) == "running" else is_tried_out(row) or "its time stands still already"


def is_resumable(row: CapabilityRow) -> str | None:
    return is_tried_out(row) or ("its time is running" if _phase(row) == "running" else None)


def held_of(snapshot: ConsoleSnapshot | None, subject: Subject) -> HeldRow | None:
    """The version that waits of the capability that ``subject`` is about."""
    known = getattr(subject, "id", None)
    return next((row for row in snapshot.held if row.id == known), None) if snapshot and known else None


def held(check: Callable[[HeldRow], str | None]) -> Enabled:
    def enabled(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
        if missing := selected(snapshot, subject):
            return missing
        row = held_of(snapshot, subject)
        return "no version of it waits for approval" if row is None else check(row)

    return enabled


def approvable(row: HeldRow) -> str | None:
    return (
        "it is approved, and takes effect with a restart of the runtime (a, restart)"
        if row.waits_for == "restart"
        else None
    )


def revocable(row: HeldRow) -> str | None:
    return None if row.waits_for == "restart" else "it is not approved"


def trustable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    return None if snapshot.trust.waiting else "nothing here waits for trust"


def distrustable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    if snapshot.trust.vouched:
        return "whoever opened it vouches for this workspace"
    return None if snapshot.trust.trusted else "nothing here is trusted"


def restartable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    return "it restarts already" if snapshot.standing.word == "restarting" else None


def freezable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    return f"it is frozen {snapshot.runtime.frozen}" if snapshot.runtime.frozen else None


def thawable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if snapshot is None:
        return selected(snapshot, subject)
    return None if snapshot.runtime.frozen else "it is not frozen"


def is_callable(row: CapabilityRow) -> str | None:
    return None if row.generation is not None else f"nothing of it answers: it is {row.state}"


def editable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    known = getattr(subject, "path", "") or getattr(subject, "location", "")
    if known.startswith("<"):
        return "it came with evatui"
    return None if known else "it has no file of its own; o goes to its capability"


def told(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    known = (getattr(subject, name, None) for name in ("request_id", "id", "capability_id"))
    return None if any(known) else "it belongs to no capability and to no request"


def described(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    known = getattr(subject, "capability_id", None) or getattr(subject, "id", None)
    return None if known else "it belongs to no capability"
