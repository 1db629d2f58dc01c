"""The actions on a device; each with the command that it comes to, and what it needs of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.action import Action, View
from evatui.control.commands import Danger

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["ON_DEVICES"]

_HERE = frozenset({View.DEVICES})
_USABLE = frozenset({"authorized", "online", "degraded"})


def _is_claimable(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    from evatui.console.view.devices import DeviceRow

    if not isinstance(subject, DeviceRow):
        return "no device is selected"
    if subject.state not in _USABLE:
        return f"it is {subject.state}".replace("_", " ")
    return f"{subject.owner} has it" if subject.claimed else None


def _is_there(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    from evatui.console.view.devices import DeviceRow

    if not isinstance(subject, DeviceRow):
        return "no device is selected"
    return "it is not plugged in" if subject.state == "absent" else None


def _is_claimed(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    from evatui.console.view.devices import DeviceRow

    if not isinstance(subject, DeviceRow):
        return "no device is selected"
    return None if subject.claimed else "nobody has claimed it"


ON_DEVICES: tuple[Action, ...] = (
    Action(
        id="claim", label="claim", help="Open the device and have it to yourself, until it is released; y confirms",
        group="Changing", command="hardware.claim", views=_HERE, enabled=_is_claimable, in_menu=True,
    ),
    Action(
        id="release", label="release", help="Let go of a device that you have claimed; y confirms",
        group="Changing", command="hardware.release", views=_HERE, enabled=_is_claimed, in_menu=True,
    ),
    Action(
        id="release.force", label="release!", help="Take a device from whoever has claimed it: type its name",
        group="Changing", command="hardware.release", level=Danger.TYPED, views=_HERE, enabled=_is_claimed,
        in_menu=True,
    ),
    Action(
        id="bind", label="bind", help="Say which name means this device; y confirms",
        group="Changing", command="hardware.bind", views=_HERE, enabled=_is_there, in_menu=True,
    ),
    Action(
        id="rescan", label="rescan", help="Look for devices now",
        group="Reading", command="hardware.rescan", views=_HERE, in_menu=True,
    ),
)  # fmt: skip
