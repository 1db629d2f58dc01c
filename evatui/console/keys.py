"""From keys to actions: what the terminal app listens for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from textual.binding import Binding, BindingsMap

from evatui.console.view.actions import Actions

__all__ = ["bindings_of"]

_FROM_ANYWHERE = "ctrl+q"


def bindings_of(keymap: Mapping[str, str]) -> BindingsMap:
    """Of all actions, also of those that a read-only console is without: their keys say so.

    They go first, before the widget that has the focus: so each key is done with before the next one is looked at,
    however fast they come.
    """
    return BindingsMap(_bindings(keymap))


def _bindings(keymap: Mapping[str, str]) -> Iterator[Binding]:
    for action in Actions(readonly=False, keymap=keymap).all:
        for key in filter(None, action.key.split(",")):
            does = "leave" if action.id == "leave" and key == _FROM_ANYWHERE else f"act('{action.id}')"
            yield Binding(key, does, action.label, show=False, priority=True, id=action.id)
