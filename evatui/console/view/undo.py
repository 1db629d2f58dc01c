"""What takes back what was done, if anything does: the action, and the thing that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evatui.console.view.answer import plan_changes
from evatui.console.view.sent import Sent

__all__ = ["Undo", "undo_of"]

_OF_ONE = frozenset(
    f"capability.{word}"
    for word in ("drain", "disable", "enable", "rollback", "retry", "promote", "abort", "pause", "resume")
)
_OF_ALL: Mapping[str, tuple[str, str]] = {
    "runtime.freeze": ("thaw", "thaws"),
    "runtime.thaw": ("freeze", "freezes again"),
    "trust.give": ("distrust", "takes it back"),
    "trust.revoke": ("trust", "trusts again"),
}


@dataclass(frozen=True, slots=True)
class Undo:
    """``action`` of the table, on ``thing``, the id of a capability; empty where it is about the workspace."""

    words: str
    action: str
    thing: str = ""


def undo_of(sent: Sent) -> Undo | None:
    """None for what failed, and for what cannot be taken back."""
    if sent.failed is not None:
        return None
    data, key = sent.data or {}, str(sent.params.get("id") or "")
    if sent.command in _OF_ALL:
        action, words = _OF_ALL[sent.command]
        return Undo(words, action)
    if sent.command in _OF_ONE:
        return Undo("undo", "undo", key)
    if sent.command == "capability.approve":  # what has taken effect is undone as any new version is
        return Undo("rolls back", "rollback", key) if data.get("to") else Undo("takes it back", "revoke", key)
    if sent.command == "capability.reload":
        return _of_reload(data)
    return None


def _of_reload(data: Mapping[str, Any]) -> Undo | None:
    """Of one capability that another version served before."""
    changes = plan_changes(data)
    if len(changes) == 1 and changes[0].get("action") == "update":
        return Undo("rolls back", "rollback", str(changes[0].get("id")))
    return None
