"""The one table of actions: keys, footer, the menu of a thing, ``?``, ``:`` and the palette are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from evatui.console.view.action import VIEWS, Action, Takes, View
from evatui.console.view.changing_actions import CHANGING
from evatui.console.view.device_actions import ON_DEVICES
from evatui.console.view.key_names import key_sign
from evatui.console.view.looking_actions import LOOKING
from evatui.console.view.outside_actions import OUTSIDE

__all__ = ["ACTIONS", "GROUPS", "VIEWS", "Action", "Actions", "Takes", "View", "rekeyed"]

GROUPS = ("Views", "Moving", "Selected", "Changing", "Reading", "Finding", "Console")
"""In the order of the list of keys, and of the footer."""

ACTIONS: tuple[Action, ...] = tuple(
    action for group in GROUPS for action in (*LOOKING, *CHANGING, *OUTSIDE, *ON_DEVICES) if action.group == group
)


class Actions:
    """The actions that this console has at all, with the keys that its user gave them (``keymap``: id to keys)."""

    def __init__(self, *, readonly: bool, keymap: Mapping[str, str] = MappingProxyType({})) -> None:
        self.keymap = keymap
        self.all = tuple(rekeyed(action, keymap) for action in ACTIONS if not (readonly and action.changes))
        self._by_id = {action.id: action for action in self.all}

    def find(self, action_id: str) -> Action | None:
        return self._by_id.get(action_id)

    def footer(self, view: View) -> tuple[Action, ...]:
        return tuple(action for action in self.all if action.in_footer and view in action.views)

    def menu(self) -> tuple[Action, ...]:
        """What can be done to a thing."""
        return tuple(action for action in self.all if action.in_menu)


def rekeyed(action: Action, keymap: Mapping[str, str]) -> Action:
    """The action with its keys in ``keymap``, if it has any there."""
    keys = keymap.get(action.id)
    return action if keys is None else replace(action, key=keys, shown_key=key_sign(keys.partition(",")[0]))
